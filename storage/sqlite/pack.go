package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// Pack moves the records of activity of conferences that ended before a time into chunks,
// one short transaction a chunk, between those of other writers. If it is interrupted,
// the next call continues. Rows that are damaged, or too long for any chunk, remain
// loose. After all other rows it returns an error that wraps storage.ErrDamaged and
// names the damaged ones. Each is named once: a conference is not packed again before it has new activity.
func (s *Store) Pack(ctx context.Context, before time.Time) (storage.Packed, error) {
	p := &packer{store: s, builder: &chunk.Builder{}}
	err := sqlstore.EachLoose(ctx, s.database(), before.UnixMilli(), p.conference)
	if err == nil {
		err = p.damage.Err()
	}
	if err != nil {
		return p.done, s.wrap("pack", err)
	}
	return p.done, nil
}

// packer is the state of one Pack. It holds one page of rows and one chunk in memory.
type packer struct {
	store   *Store
	builder *chunk.Builder
	done    storage.Packed
	damage  frames.Damage
}

// conference packs one conference, chunk by chunk.
func (p *packer) conference(ctx context.Context, c sqlstore.Loose) error {
	w := &walk{c, chunk.NewWalk()}
	for !w.Ended {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.step(ctx, w); err != nil {
			return err
		}
	}
	return p.finish(w)
}

// walk is the packing of a conference.
type walk struct {
	sqlstore.Loose
	chunk.Walk
}

// step makes one chunk. The lock keeps others from deleting rows meanwhile.
func (p *packer) step(ctx context.Context, w *walk) error {
	p.store.sweep.Lock()
	defer p.store.sweep.Unlock()
	rows, damaged, err := w.Gather(p.builder, func(from frames.Position, limit int) ([]frames.ReadRow, error) {
		return p.store.looseRows(ctx, w.Loose, from, limit)
	})
	for _, err := range damaged {
		p.damage.Add(err)
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	c, err := p.builder.Build()
	if err != nil {
		return err
	}
	// It is not cancelled: after that it would be unknown whether the chunk is stored.
	err = p.store.writer.do(context.WithoutCancel(ctx), job{run: func(t *tx) error { return t.insertChunk(w.Place, &c, rows) }})
	if err != nil {
		return err
	}
	p.done.Records += c.Records
	p.done.Bytes += int64(len(c.Body))
	return nil
}

// looseRows reads the next rows of a conference in its current span; none if it was deleted.
func (s *Store) looseRows(ctx context.Context, c sqlstore.Loose, from frames.Position, limit int) (rows []frames.ReadRow, err error) {
	err = s.database().View(ctx, func(tx sqlstore.Tx) error {
		span, found, err := c.Span(tx)
		if err == nil && found {
			rows, err = sqlstore.LooseRows(tx, c.Place, span, nil, from, limit)
		}
		return err
	})
	return rows, err
}

var errRowsMoved = errors.New("rows that were to be packed are not there any more")

// insertChunk replaces rows by their chunk.
func (t *tx) insertChunk(place int64, c *chunk.Chunk, rows []frames.ReadRow) error {
	var key int64
	err := t.row(`INSERT INTO chunk (place, from_ms, to_ms, records, body) VALUES (?, ?, ?, ?, ?) RETURNING key`,
		place, c.From, c.To, c.Records, c.Body).Scan(&key)
	if err != nil {
		return err
	}
	for _, r := range c.Ranges {
		err := t.exec(`INSERT INTO packed (session, first, idx, last, n, chunk) VALUES (?, ?, ?, ?, ?, ?)`,
			r.Session, r.First, r.Idx, r.Last, r.N, key)
		if err != nil {
			return err
		}
	}
	for i := range rows {
		r := &rows[i]
		n, err := t.count(`DELETE FROM frame WHERE session = ? AND seq = ? AND idx = ? AND n = ? AND place = ?`,
			r.SessionKey, r.Seq, r.Idx, r.N, place)
		if err != nil {
			return err
		}
		if n != 1 {
			return errRowsMoved
		}
	}
	return nil
}

// finish marks a conference as packed, unless activity has been added meanwhile.
func (p *packer) finish(w *walk) error {
	packed := false
	err := p.store.writer.do(context.Background(), job{run: func(t *tx) (err error) {
		delete(t.newest, w.Place)
		packed, err = w.SetPacked(t.querier(), w.Left)
		return err
	}})
	if err == nil && packed && w.Left == 0 {
		p.done.Conferences++
	}
	return err
}
