package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// deleteRows is the approximate number of rows that one transaction deletes in some milliseconds.
const deleteRows = 500

// DeleteBefore implements storage.Remover, in small transactions between those of other writers.
// SQLite reuses the space for new records; the file does not shrink.
func (s *Store) DeleteBefore(ctx context.Context, before time.Time) (n int, err error) {
	return s.delete(ctx, deletion{beforeMs: before.UnixMilli()})
}

// DeleteAppBefore implements storage.Remover.
func (s *Store) DeleteAppBefore(ctx context.Context, appID string, before time.Time) (n int, err error) {
	return s.delete(ctx, deletion{beforeMs: before.UnixMilli(), ofApp: true, appID: appID})
}

// deletion selects what is deleted: whatever ended before a time, of one app or of all.
type deletion struct {
	beforeMs int64
	ofApp    bool
	appID    string
}

// conference returns the condition on a conference, in the order of an index.
func (d deletion) conference() (where string, args []any) {
	if d.ofApp {
		return `app_id = ? AND start_ms < ? AND end_ms < ? ORDER BY start_ms`, []any{d.appID, d.beforeMs, d.beforeMs}
	}
	return `end_ms < ? ORDER BY end_ms`, []any{d.beforeMs}
}

// unattached returns the condition on unattached annotations.
func (d deletion) unattached() (where string, args []any) {
	if d.ofApp {
		return `app_id = ? AND conference_at < ?`, []any{d.appID, d.beforeMs}
	}
	return `conference_at < ?`, []any{d.beforeMs}
}

func (s *Store) delete(ctx context.Context, d deletion) (n int, err error) {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return n, s.wrap("delete", err)
		}
		var deleted int
		// The step is not cancelled, so that its deletions are counted.
		if deleted, more, err = s.deleteStep(context.WithoutCancel(ctx), d); err != nil {
			return n, s.wrap("delete", err)
		}
		n += deleted
	}
	return n, nil
}

func (s *Store) deleteStep(ctx context.Context, d deletion) (deleted int, more bool, err error) {
	s.sweep.Lock()
	defer s.sweep.Unlock()
	err = s.writer.do(ctx, job{run: func(t *tx) (err error) {
		deleted, more, err = t.deleteSome(d)
		return err
	}})
	return deleted, more, err
}

// deleteSome deletes up to deleteRows rows, and reports whether there may be more.
func (t *tx) deleteSome(d deletion) (deleted int, more bool, err error) {
	for budget := int64(deleteRows); budget > 0; budget-- {
		c, err := t.oldest(d)
		if errors.Is(err, sql.ErrNoRows) {
			n, err := t.deleteUnattached(d, budget)
			if err != nil || n == budget {
				return deleted, true, err
			}
			n, err = sqlstore.DeletePreCalls(t.querier(), d.beforeMs, d.ofApp, d.appID, budget)
			return deleted, n == budget, err
		}
		if err != nil {
			return deleted, false, err
		}
		rows, err := sqlstore.DeleteFrames(t.querier(), c, nil, budget)
		if err != nil {
			return deleted, false, err
		}
		if budget -= rows; budget <= 0 {
			break
		}
		if err := t.deleteConference(c); err != nil {
			return deleted, false, err
		}
		deleted++
	}
	return deleted, true, nil
}

// oldest returns the first conference that d selects.
func (t *tx) oldest(d deletion) (c sqlstore.Located, err error) {
	where, args := d.conference()
	err = t.row(`SELECT key, place, start_ms, end_ms FROM conference WHERE `+where+` LIMIT 1`, args...).
		Scan(&c.Key, &c.Place, &c.Span.Start, &c.Span.End)
	if err == nil {
		c.Own, err = sqlstore.OwnTimes(t.querier(), c.Place, c.Row)
	}
	return c, err
}

// deleteConference deletes a conference without frames, and the rows of its sessions and its
// conferenceID if nothing else refers to them.
func (t *tx) deleteConference(c sqlstore.Located) error {
	sessions, err := table{t, c.Place}.sqlRows().Delete(c.Key)
	if err != nil {
		return err
	}
	return t.deleteUnused(sessions, c.Place)
}

// deleteUnused deletes those of sessions, and the row of the conferenceID, that nothing refers to.
func (t *tx) deleteUnused(sessions []int64, place int64) error {
	for _, session := range sessions {
		err := t.exec(`DELETE FROM session WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM participant WHERE session = ?1)
			AND NOT EXISTS (SELECT 1 FROM frame WHERE session = ?1) AND NOT EXISTS (SELECT 1 FROM packed WHERE session = ?1)`, session)
		if err != nil {
			return err
		}
	}
	t.clearCaches()
	return sqlstore.DeleteUnusedPlace(t.querier(), place)
}
