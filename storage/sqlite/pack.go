package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// Pack packs the records of activity of conferences that ended before a time into chunks,
// one short transaction a chunk, between those of other writers. If it stops half-way, or
// ctx ends, the next call goes on. Rows that are damaged, or too long for any chunk, stay
// as they are; after all others it returns an error that wraps storage.ErrDamaged and
// names the damaged ones, once: they are not tried again before more activity arrives.
func (s *Store) Pack(ctx context.Context, before time.Time) (storage.Packed, error) {
	p := &packer{store: s, builder: &chunk.Builder{}}
	err := p.all(ctx, before.UnixMilli())
	if err != nil {
		return p.done, s.wrap("pack", err)
	}
	return p.done, nil
}

// packer is one Pack. It holds one page of rows and one chunk.
type packer struct {
	store   *Store
	builder *chunk.Builder
	done    storage.Packed
	damage  frames.Damage
}

// looseConference is one that has loose activity.
type looseConference struct{ key, place, start int64 }

func (p *packer) all(ctx context.Context, before int64) error {
	c := looseConference{start: math.MinInt64}
	for {
		err := p.store.read.QueryRowContext(ctx, nextLoose, before, c.start, c.key).Scan(&c.key, &c.place, &c.start)
		if errors.Is(err, sql.ErrNoRows) {
			return p.damage.Err()
		}
		if err != nil {
			return err
		}
		if err := p.conference(ctx, c); err != nil {
			return err
		}
	}
}

const nextLoose = `SELECT key, place, start_ms FROM conference INDEXED BY conference_loose
	WHERE packed = 0 AND end_ms < ? AND (start_ms, key) > (?, ?) ORDER BY start_ms, key LIMIT 1`

// conference packs one conference, chunk by chunk.
func (p *packer) conference(ctx context.Context, c looseConference) error {
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
	looseConference
	chunk.Walk
}

// step makes one chunk. Nobody else takes rows away meanwhile.
func (p *packer) step(ctx context.Context, w *walk) error {
	p.store.sweep.Lock()
	defer p.store.sweep.Unlock()
	rows, damaged, err := w.Gather(p.builder, func(from frames.Position, limit int) ([]frames.ReadRow, error) {
		return p.store.looseRows(ctx, w.looseConference, from, limit)
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
	// It does not stop half-way: nobody would know whether the chunk is there.
	err = p.store.writer.do(context.WithoutCancel(ctx), job{run: func(t *tx) error { return t.insertChunk(w.place, &c, rows) }})
	if err != nil {
		return err
	}
	p.done.Records += c.Records
	p.done.Bytes += int64(len(c.Body))
	return nil
}

// looseRows reads the next rows of a conference as it is now; none when it was deleted.
func (s *Store) looseRows(ctx context.Context, c looseConference, from frames.Position, limit int) (rows []frames.ReadRow, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		var span instance.Span
		err := tx.QueryRowContext(ctx, `SELECT start_ms, end_ms FROM conference WHERE key = ? AND place = ?`, c.key, c.place).
			Scan(&span.Start, &span.End)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		rows, err = readRows(ctx, tx, activityPage, c.place, span, from, limit)
		return err
	})
	return rows, err
}

var errRowsMoved = errors.New("rows that were to be packed are not there any more")

// insertChunk writes a chunk in place of the rows that it was made of.
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

// finish says that a conference is packed, unless activity came meanwhile.
func (p *packer) finish(w *walk) error {
	var packed int64
	err := p.store.writer.do(context.Background(), job{run: func(t *tx) (err error) {
		packed, err = t.count(`UPDATE conference SET packed = 1 WHERE key = ?1 AND place = ?2
			AND ?3 = (SELECT count(*) FROM (SELECT 1 FROM frame INDEXED BY frame_activity
				WHERE activity = 1 AND place = ?2 AND at BETWEEN start_ms AND end_ms LIMIT ?3 + 1))`, w.key, w.place, w.Left)
		return err
	}})
	if err == nil && packed == 1 && w.Left == 0 {
		p.done.Conferences++
	}
	return err
}
