package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/qosrtc/qos/storage/internal/join"
)

// deleteRows is about how many rows one transaction deletes: some milliseconds.
const deleteRows = 500

// DeleteBefore deletes the conferences that ended before a time, with all that belongs to
// them, and returns their number. Unattached annotations about an earlier time go too. It works in small transactions between those of other
// writers; if it stops half-way the next call goes on. The space is used again for new
// records; the file does not shrink.
func (s *Store) DeleteBefore(ctx context.Context, before time.Time) (n int, err error) {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return n, s.wrap("delete", err)
		}
		var deleted int
		// A step is short, and is waited for: what it deleted is counted when it is stopped, too.
		if deleted, more, err = s.deleteStep(context.WithoutCancel(ctx), before); err != nil {
			return n, s.wrap("delete", err)
		}
		n += deleted
	}
	return n, nil
}

func (s *Store) deleteStep(ctx context.Context, before time.Time) (deleted int, more bool, err error) {
	s.sweep.Lock()
	defer s.sweep.Unlock()
	err = s.writer.do(ctx, job{run: func(t *tx) (err error) {
		deleted, more, err = t.deleteSome(before.UnixMilli())
		return err
	}})
	return deleted, more, err
}

// deleteSome deletes conferences until its budget of rows is spent.
func (t *tx) deleteSome(before int64) (deleted int, more bool, err error) {
	for budget := int64(deleteRows); budget > 0; budget-- {
		c, place, err := t.oldest(before)
		if errors.Is(err, sql.ErrNoRows) {
			n, err := t.deleteUnattached(before, budget)
			return deleted, n == budget, err
		}
		if err != nil {
			return deleted, false, err
		}
		rows, err := t.deleteFrames(c, place, budget)
		if err != nil {
			return deleted, false, err
		}
		if budget -= rows; budget <= 0 {
			break
		}
		if err := t.deleteConference(c.Key, place); err != nil {
			return deleted, false, err
		}
		deleted++
	}
	return deleted, true, nil
}

// oldest returns the conference that ended first, if it ended before a time.
func (t *tx) oldest(before int64) (c join.Row, place int64, err error) {
	err = t.row(`SELECT key, place, start_ms, end_ms FROM conference WHERE end_ms < ? ORDER BY end_ms LIMIT 1`, before).
		Scan(&c.Key, &place, &c.Span.Start, &c.Span.End)
	return c, place, err
}

// deleteFrames deletes at most limit frames of a conference, or some more: a chunk goes as
// a whole.
func (t *tx) deleteFrames(c join.Row, place, limit int64) (int64, error) {
	packed, err := t.deleteChunks(c, place, limit)
	if err != nil || packed >= limit {
		return packed, err
	}
	loose, err := t.deleteLoose(c, place, limit-packed)
	return packed + loose, err
}

// deleteChunks deletes chunks of a conference until about limit rows are gone.
func (t *tx) deleteChunks(c join.Row, place, limit int64) (rows int64, err error) {
	for rows < limit {
		var key int64
		err := t.row(`SELECT key FROM chunk WHERE place = ? AND from_ms BETWEEN ? AND ? LIMIT 1`, place, c.Span.Start, c.Span.End).Scan(&key)
		if errors.Is(err, sql.ErrNoRows) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		ranges, err := t.count(`DELETE FROM packed WHERE chunk = ?`, key)
		if err != nil {
			return rows, err
		}
		if err := t.exec(`DELETE FROM chunk WHERE key = ?`, key); err != nil {
			return rows, err
		}
		rows += ranges + 1
	}
	return rows, nil
}

func (t *tx) deleteLoose(c join.Row, place, limit int64) (int64, error) {
	rows, err := table{t, place}.Around(join.Beside(c.Span))
	if err != nil {
		return 0, err
	}
	first, err := t.count(`DELETE FROM frame WHERE rowid IN (SELECT rowid FROM frame
		WHERE activity = 1 AND place = ? AND at BETWEEN ? AND ? LIMIT ?)`, place, c.Span.Start, c.Span.End, limit)
	if err != nil {
		return 0, err
	}
	own := join.Own(c, rows)
	second, err := t.count(`DELETE FROM frame WHERE rowid IN (SELECT rowid FROM frame
		WHERE NOT activity AND place = ? AND conference_at BETWEEN ? AND ? LIMIT ?)`, place, own.Start, own.End, limit-first)
	return first + second, err
}

// deleteConference deletes a conference without frames, and the sessions and the place
// that nothing else refers to.
func (t *tx) deleteConference(key, place int64) error {
	var sessions []int64
	err := t.each(func(row scanner) error {
		var session int64
		err := row.Scan(&session)
		sessions = append(sessions, session)
		return err
	}, `SELECT session FROM participant WHERE conference = ?`, key)
	if err != nil {
		return err
	}
	if err := t.exec(`DELETE FROM conference WHERE key = ?`, key); err != nil {
		return err
	}
	return t.deleteUnused(sessions, place)
}

// deleteUnused deletes those of sessions, and the place, that nothing refers to any more.
func (t *tx) deleteUnused(sessions []int64, place int64) error {
	for _, session := range sessions {
		err := t.exec(`DELETE FROM session WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM participant WHERE session = ?1)
			AND NOT EXISTS (SELECT 1 FROM frame WHERE session = ?1) AND NOT EXISTS (SELECT 1 FROM packed WHERE session = ?1)`, session)
		if err != nil {
			return err
		}
	}
	t.forget()
	return t.exec(`DELETE FROM place WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM conference WHERE place = ?1)
		AND NOT EXISTS (SELECT 1 FROM unattached WHERE place = ?1)`, place)
}
