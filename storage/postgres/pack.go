package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// Pack moves the records of activity of conferences that ended before a time into chunks,
// one transaction a chunk. Collectors that pack at the same time share the conferences. If it
// is interrupted, the next call continues. Rows that are damaged, or too long for any
// chunk, remain loose. After all other rows it returns an error that wraps
// storage.ErrDamaged and names the damaged ones. Each is named once: a conference is not packed
// again before it has new activity.
func (s *Store) Pack(ctx context.Context, before time.Time) (storage.Packed, error) {
	p := &packer{store: s}
	err := sqlstore.EachLoose(ctx, s.database(), before.UnixMilli(), func(ctx context.Context, c sqlstore.Loose) error {
		err := p.conference(ctx, c)
		if err != nil && retryable(err) && ctx.Err() == nil { // another collector deleted rows; the next call continues
			err = nil
		}
		return err
	})
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
	store  *Store
	done   storage.Packed
	damage frames.Damage
}

func (p *packer) with(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	return p.store.withReadConn(ctx, f)
}

// conference packs one conference, day by day and chunk by chunk.
func (p *packer) conference(ctx context.Context, c sqlstore.Loose) error {
	days, err := p.days(ctx, c)
	if err != nil {
		return err
	}
	left := 0
	for _, day := range days {
		w := walk{Loose: c, day: day, Walk: chunk.NewWalk()}
		for !w.Ended {
			if err := p.step(ctx, &w); err != nil || w.busy {
				return err
			}
		}
		left += w.Left
	}
	return p.finish(ctx, c, left)
}

// days returns the days of a conference's sessions, and creates the partitions that a store
// of the first schema lacks.
func (p *packer) days(ctx context.Context, c sqlstore.Loose) (days sqlstore.Days, err error) {
	err = p.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		span, found, err := c.Span(querier{ctx, conn})
		if err != nil || !found {
			return err
		}
		if days, err = (querier{ctx, conn}).Days(c.Place, span); err != nil {
			return err
		}
		for _, day := range days {
			if err := makePartitions(ctx, conn, day); err != nil {
				return err
			}
		}
		return nil
	})
	return days, err
}

// walk is the packing of one day of a conference.
type walk struct {
	sqlstore.Loose
	chunk.Walk
	day  int32
	busy bool // another collector packs the conference
}

// step makes one chunk, in one transaction.
func (p *packer) step(ctx context.Context, w *walk) error {
	var m *chunkMaker
	err := p.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		m = &chunkMaker{walk: *w, store: p.store}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return m.run(ctx, tx) })
	})
	if err != nil {
		return err
	}
	*w = m.walk
	for _, err := range m.damaged {
		p.damage.Add(err)
	}
	p.done.Records += m.chunk.Records
	p.done.Bytes += int64(len(m.chunk.Body))
	return nil
}

// chunkMaker makes one chunk.
type chunkMaker struct {
	walk
	store   *Store
	rows    []frames.ReadRow // rows in the chunk, without bodies
	damaged []error
	chunk   chunk.Chunk
}

func (m *chunkMaker) run(ctx context.Context, tx pgx.Tx) error {
	if err := m.begin(ctx, tx); err != nil || m.busy {
		return err
	}
	span, found, err := m.Span(querier{ctx, tx})
	if err != nil || !found {
		m.Ended = !found
		return err
	}
	builder := &chunk.Builder{}
	m.rows, m.damaged, err = m.Gather(builder, func(from frames.Position, limit int) ([]frames.ReadRow, error) {
		return sqlstore.LooseRows(querier{ctx, tx}, m.Place, span, sqlstore.Days{m.day}, from, limit)
	})
	if err != nil || len(m.rows) == 0 {
		return err
	}
	if m.chunk, err = builder.Build(); err != nil {
		return err
	}
	return m.insert(ctx, tx)
}

// begin locks the day, so that it is not dropped, and the conference against other packers.
func (m *chunkMaker) begin(ctx context.Context, tx pgx.Tx) error {
	b := &pgx.Batch{}
	b.Queue(`SELECT set_config(name, 'off', true) FROM unnest($1::text[]) name`, indexOnly)
	b.Queue(`SELECT pg_advisory_xact_lock_shared($1, $2)`, lockDay, m.day)
	b.Queue(`SELECT NOT pg_try_advisory_xact_lock($1, ($2::bigint % 2147483647)::int)`, lockPack, m.Place).QueryRow(func(row pgx.Row) error {
		return row.Scan(&m.busy)
	})
	return tx.SendBatch(ctx, b).Close()
}

// insert replaces the rows by the chunk. It locks the row of qos_place, so that a concurrent deletion
// sees either the rows or the chunk.
func (m *chunkMaker) insert(ctx context.Context, tx pgx.Tx) error {
	var key int64
	err := tx.QueryRow(ctx, `SELECT nextval('qos_chunk_key') FROM (SELECT FROM qos_place WHERE key = $1 FOR UPDATE) p`, m.Place).Scan(&key)
	if errors.Is(err, pgx.ErrNoRows) {
		return errStale
	}
	if err != nil {
		return err
	}
	var moved int64
	b := &pgx.Batch{}
	m.queueDelete(b, &moved)
	b.Queue(`INSERT INTO `+partition(chunkTable, m.day)+` (key, place, from_ms, to_ms, day, records, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		key, m.Place, m.chunk.From, m.chunk.To, m.day, m.chunk.Records, m.chunk.Body)
	m.queueRanges(b, key)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if moved != int64(len(m.rows)) { // rows were deleted since they were read
		return errStale
	}
	return nil
}

func (m *chunkMaker) queueDelete(b *pgx.Batch, deleted *int64) {
	var sessions, seqs []int64
	var idx, n []int32
	for i := range m.rows {
		r := &m.rows[i]
		sessions, seqs = append(sessions, r.SessionKey), append(seqs, r.Seq)
		idx, n = append(idx, int32(r.Idx)), append(n, int32(r.N))
	}
	b.Queue(`WITH gone AS (DELETE FROM `+partition(frameTable, m.day)+` f USING unnest($1::bigint[], $2::bigint[], $3::int[], $4::int[]) q (session, seq, idx, n)
		WHERE f.session = q.session AND f.seq = q.seq AND f.idx = q.idx AND f.n = q.n AND f.place = $5 AND f.activity RETURNING 1)
		SELECT count(*) FROM gone`, sessions, seqs, idx, n, m.Place).QueryRow(func(row pgx.Row) error { return row.Scan(deleted) })
}

func (m *chunkMaker) queueRanges(b *pgx.Batch, key int64) {
	var sessions, firsts, lasts []int64
	var idx, n []int32
	for _, r := range m.chunk.Ranges {
		sessions, firsts, lasts = append(sessions, r.Session), append(firsts, r.First), append(lasts, r.Last)
		idx, n = append(idx, int32(r.Idx)), append(n, int32(r.N))
	}
	b.Queue(`INSERT INTO `+partition(packedTable, m.day)+` (day, chunk, place, session, first, last, idx, n)
		SELECT $1, $2, $3, * FROM unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::int[], $8::int[])`,
		m.day, key, m.Place, sessions, firsts, lasts, idx, n)
}

// finish marks a conference as packed, unless activity has been added meanwhile.
func (p *packer) finish(ctx context.Context, c sqlstore.Loose, left int) error {
	packed := false
	err := p.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT FROM qos_place WHERE key = $1 FOR UPDATE`, c.Place); err != nil {
				return err
			}
			var err error
			packed, err = c.SetPacked(querier{ctx, tx}, left)
			return err
		})
	})
	if err == nil && packed && left == 0 {
		p.done.Conferences++
	}
	return err
}
