package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// deleteRows is about how many rows one transaction deletes: some milliseconds.
const deleteRows = 500

// DeleteBefore implements storage.Remover, in small transactions between those of other writers.
// The space is used again for new records; the file does not shrink.
func (s *Store) DeleteBefore(ctx context.Context, before time.Time) (n int, err error) {
	return s.delete(ctx, old{beforeMs: before.UnixMilli()})
}

// DeleteAppBefore implements storage.Remover.
func (s *Store) DeleteAppBefore(ctx context.Context, appID string, before time.Time) (n int, err error) {
	return s.delete(ctx, old{beforeMs: before.UnixMilli(), ofApp: true, appID: appID})
}

// old selects what is deleted: what ended before a time, of all apps or of one.
type old struct {
	beforeMs int64
	ofApp    bool
	appID    string
}

// conference is the condition of a conference, in the order of an index.
func (o old) conference() (where string, args []any) {
	if o.ofApp {
		return `app_id = ? AND start_ms < ? AND end_ms < ? ORDER BY start_ms`, []any{o.appID, o.beforeMs, o.beforeMs}
	}
	return `end_ms < ? ORDER BY end_ms`, []any{o.beforeMs}
}

// unattached is the condition of unattached annotations.
func (o old) unattached() (where string, args []any) {
	if o.ofApp {
		return `app_id = ? AND conference_at < ?`, []any{o.appID, o.beforeMs}
	}
	return `conference_at < ?`, []any{o.beforeMs}
}

func (s *Store) delete(ctx context.Context, o old) (n int, err error) {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return n, s.wrap("delete", err)
		}
		var deleted int
		// A step is short, and is waited for: what it deleted is counted when it is stopped, too.
		if deleted, more, err = s.deleteStep(context.WithoutCancel(ctx), o); err != nil {
			return n, s.wrap("delete", err)
		}
		n += deleted
	}
	return n, nil
}

func (s *Store) deleteStep(ctx context.Context, o old) (deleted int, more bool, err error) {
	s.sweep.Lock()
	defer s.sweep.Unlock()
	err = s.writer.do(ctx, job{run: func(t *tx) (err error) {
		deleted, more, err = t.deleteSome(o)
		return err
	}})
	return deleted, more, err
}

// deleteSome deletes conferences until its budget of rows is spent.
func (t *tx) deleteSome(o old) (deleted int, more bool, err error) {
	for budget := int64(deleteRows); budget > 0; budget-- {
		c, err := t.oldest(o)
		if errors.Is(err, sql.ErrNoRows) {
			n, err := t.deleteUnattached(o, budget)
			if err != nil || n == budget {
				return deleted, true, err
			}
			n, err = sqlstore.DeletePreCalls(t.asked(), o.beforeMs, o.ofApp, o.appID, budget)
			return deleted, n == budget, err
		}
		if err != nil {
			return deleted, false, err
		}
		rows, err := sqlstore.DeleteFrames(t.asked(), c, nil, budget)
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

// oldest returns the first conference that is old.
func (t *tx) oldest(o old) (c sqlstore.Located, err error) {
	where, args := o.conference()
	err = t.row(`SELECT key, place, start_ms, end_ms FROM conference WHERE `+where+` LIMIT 1`, args...).
		Scan(&c.Key, &c.Place, &c.Span.Start, &c.Span.End)
	if err == nil {
		c.Own, err = sqlstore.OwnTimes(t.asked(), c.Place, c.Row)
	}
	return c, err
}

// deleteConference deletes a conference without frames, and the sessions and the place
// that nothing else refers to.
func (t *tx) deleteConference(c sqlstore.Located) error {
	sessions, err := table{t, c.Place}.rows().Delete(c.Key)
	if err != nil {
		return err
	}
	return t.deleteUnused(sessions, c.Place)
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
	return sqlstore.DeleteUnusedPlace(t.asked(), place)
}
