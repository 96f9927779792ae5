package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
)

// Notices implements storage.Notices.
type Notices struct{ db DB }

// NewNotices returns the Notices of a store.
func NewNotices(db DB) *Notices { return &Notices{db} }

var _ storage.Notices = (*Notices)(nil)

// The statements of points and notices.
const (
	PointStored = `SELECT key FROM {table point} WHERE identity = ? AND start_ms <= ? AND end_ms >= ? LIMIT 1`
	PointsAfter = `SELECT key, app_id, conference_id, id, start_ms, end_ms, recorded_at, body FROM {table point}
		WHERE key > ? AND recorded_at >= ? ORDER BY key LIMIT ?`
	// NoticesNext steps from the first notice of a webhook to that of the next one, without reading the others.
	NoticesNext = `WITH RECURSIVE first(at, step) AS (
		SELECT (SELECT key FROM {table notice} WHERE state = 0 AND (app_id, hook) > (?, ?) ORDER BY app_id, hook, due_at, key LIMIT 1), 1
		UNION ALL
		SELECT coalesce(
			(SELECT m.key FROM {table notice} m WHERE m.state = 0 AND m.app_id = n.app_id AND m.hook > n.hook ORDER BY m.hook, m.due_at, m.key LIMIT 1),
			(SELECT m.key FROM {table notice} m WHERE m.state = 0 AND m.app_id > n.app_id ORDER BY m.app_id, m.hook, m.due_at, m.key LIMIT 1)), step + 1
		FROM first JOIN {table notice} n ON n.key = first.at WHERE step < ?)
		SELECT key, id, app_id, hook, state, created_at, due_at, attempts, attempted_at, latency_ms, status, error, NULL
		FROM first JOIN {table notice} ON key = first.at ORDER BY app_id, hook`
	NoticesPending = `SELECT count(*) FROM {table notice} WHERE state = 0 AND app_id = ? AND hook = ?`

	addPoint = `INSERT INTO {table point} (identity, app_id, conference_id, id, start_ms, end_ms, recorded_at, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	selectNotices = `SELECT key, id, app_id, hook, state, created_at, due_at, attempts, attempted_at, latency_ms, status, error, body
		FROM {table notice}`
	addNotice = `INSERT INTO {table notice} (id, app_id, hook, state, created_at, due_at, attempts, attempted_at, latency_ms, status, error, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateNotice = `UPDATE {table notice} SET state = ?, due_at = ?, attempts = ?, attempted_at = ?, latency_ms = ?, status = ?, error = ?
		WHERE id = ?`
)

// identity returns a key of fixed length for the ids of a point.
func identity(p *storage.Point) []byte {
	h := sha256.New()
	for _, id := range []string{p.AppID, p.ConferenceID, p.ID} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(id)))) // at most MaxIDBytes
		h.Write([]byte(id))
	}
	return h.Sum(nil)
}

// AddPoints implements storage.Notices.
func (s *Notices) AddPoints(ctx context.Context, points []storage.Point) (int, error) {
	for i := range points {
		if err := points[i].Check(); err != nil {
			return 0, s.db.Wrap("add points", err)
		}
	}
	var added int
	err := s.db.Change(ctx, func(tx Tx) error {
		added = 0
		for i := range points {
			n, err := putPoint(tx, &points[i])
			if err != nil {
				return err
			}
			added += n
		}
		return nil
	})
	if err != nil {
		return 0, s.db.Wrap("add points", err)
	}
	return added, nil
}

// putPoint returns the number of points that it wrote.
func putPoint(tx Tx, p *storage.Point) (int, error) {
	start, end, id := p.Start.UnixMilli(), p.End.UnixMilli(), identity(p)
	var key int64
	stored, err := One(tx, []any{&key}, PointStored, id, end+instance.Gap, start-instance.Gap)
	if err != nil || stored {
		return 0, err
	}
	_, err = tx.Exec(addPoint, id, Text(p.AppID), Text(p.ConferenceID), Text(p.ID), start, end, p.RecordedAt.UnixMilli(), p.Body)
	return 1, err
}

// Points implements storage.Notices.
func (s *Notices) Points(ctx context.Context, after int64, recorded time.Time, limit int) (points []storage.Point, err error) {
	err = s.db.Read(ctx, func(tx Tx) (err error) {
		points, err = All(tx, scanPoint, PointsAfter, after, recorded.UnixMilli(), limit)
		return err
	})
	if err != nil {
		return nil, s.db.Wrap("read points", err)
	}
	return points, nil
}

func scanPoint(row Row) (p storage.Point, err error) {
	var app, conference, id []byte
	var start, end, recorded int64
	err = row.Scan(&p.Key, &app, &conference, &id, &start, &end, &recorded, &p.Body)
	p.AppID, p.ConferenceID, p.ID = string(app), string(conference), string(id)
	p.Start, p.End, p.RecordedAt = utc(start), utc(end), utc(recorded)
	return p, err
}

func utc(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// AddNotices implements storage.Notices.
func (s *Notices) AddNotices(ctx context.Context, notices []storage.Notice, most int) (storage.Added, error) {
	for i := range notices {
		if err := notices[i].Check(); err != nil {
			return storage.Added{}, s.db.Wrap("add notices", err)
		}
	}
	var done storage.Added
	err := s.db.Change(ctx, func(tx Tx) error {
		done = storage.Added{}
		for i := range notices {
			if err := putNotice(tx, &notices[i], most, &done); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return storage.Added{}, s.db.Wrap("add notices", err)
	}
	return done, nil
}

func putNotice(tx Tx, n *storage.Notice, most int, done *storage.Added) error {
	var pending int
	var key int64
	stored, err := One(tx, []any{&key}, `SELECT key FROM {table notice} WHERE id = ?`, Text(n.ID))
	if err != nil {
		return err
	}
	if stored {
		done.Duplicates++
		return nil
	}
	if _, err := One(tx, []any{&pending}, NoticesPending, Text(n.AppID), Text(n.Hook)); err != nil {
		return err
	}
	if pending >= most {
		done.Dropped++
		return nil
	}
	done.New++
	_, err = tx.Exec(addNotice, Text(n.ID), Text(n.AppID), Text(n.Hook), int64(n.State), n.CreatedAt.UnixMilli(), n.DueAt.UnixMilli(),
		n.Attempts, attemptedMs(n), n.Latency.Milliseconds(), n.Status, Text(n.Error), n.Body)
	return err
}

// attemptedMs returns the time of the last attempt in ms; 0 without one.
func attemptedMs(n *storage.Notice) int64 {
	if n.AttemptedAt.IsZero() {
		return 0
	}
	return n.AttemptedAt.UnixMilli()
}

// NextNotices implements storage.Notices.
func (s *Notices) NextNotices(ctx context.Context, app, hook string, limit int) ([]storage.Notice, error) {
	return s.notices(ctx, NoticesNext, Text(app), Text(hook), limit)
}

func (s *Notices) notices(ctx context.Context, statement string, values ...any) (notices []storage.Notice, err error) {
	err = s.db.Read(ctx, func(tx Tx) (err error) {
		notices, err = All(tx, scanNotice, statement, values...)
		return err
	})
	if err != nil {
		return nil, s.db.Wrap("read notices", err)
	}
	return notices, nil
}

func scanNotice(row Row) (n storage.Notice, err error) {
	var id, app, hook, failure []byte
	var state, created, due, attempted, latency int64
	err = row.Scan(&n.Key, &id, &app, &hook, &state, &created, &due, &n.Attempts, &attempted, &latency, &n.Status, &failure, &n.Body)
	n.ID, n.AppID, n.Hook, n.Error = string(id), string(app), string(hook), string(failure)
	n.State, n.CreatedAt, n.DueAt = storage.NoticeState(state), utc(created), utc(due)
	n.Latency = time.Duration(latency) * time.Millisecond
	if attempted != 0 {
		n.AttemptedAt = utc(attempted)
	}
	return n, err
}

// UpdateNotice implements storage.Notices.
func (s *Notices) UpdateNotice(ctx context.Context, n storage.Notice, from storage.NoticeState) error {
	err := n.Check()
	if err == nil {
		err = s.db.Change(ctx, func(tx Tx) error {
			var state int64
			found, err := One(tx, []any{&state}, `SELECT state FROM {table notice} WHERE id = ?`, Text(n.ID))
			switch {
			case err != nil:
				return err
			case !found:
				return storage.ErrNoNotice
			case state != int64(from):
				return storage.ErrConflict
			}
			_, err = tx.Exec(updateNotice, int64(n.State), n.DueAt.UnixMilli(), n.Attempts, attemptedMs(&n), n.Latency.Milliseconds(), n.Status, Text(n.Error), Text(n.ID))
			return err
		})
	}
	if err != nil {
		return s.db.Wrap("update notice", err)
	}
	return nil
}

// Notice implements storage.Notices.
func (s *Notices) Notice(ctx context.Context, id string) (storage.Notice, error) {
	found, err := s.notices(ctx, selectNotices+` WHERE id = ?`, Text(id))
	if err != nil {
		return storage.Notice{}, err
	}
	if len(found) == 0 {
		return storage.Notice{}, s.db.Wrap("read notice", storage.ErrNoNotice)
	}
	return found[0], nil
}

// NoticesPage implements storage.Notices.
func (s *Notices) NoticesPage(ctx context.Context, q storage.NoticeQuery) ([]storage.Notice, error) {
	statement, values := selectNotices+` WHERE app_id = ?`, []any{Text(q.AppID)}
	if q.Hook != "" {
		statement, values = statement+` AND hook = ?`, append(values, Text(q.Hook))
	}
	if q.State != nil {
		statement, values = statement+` AND state = ?`, append(values, int64(*q.State))
	}
	if q.Before > 0 {
		statement, values = statement+` AND key < ?`, append(values, q.Before)
	}
	if q.Limit <= 0 || q.Limit > storage.MaxNoticesPage {
		q.Limit = storage.MaxNoticesPage
	}
	return s.notices(ctx, statement+` ORDER BY key DESC LIMIT ?`, append(values, q.Limit)...)
}

// ForgetNotices implements storage.Notices.
func (s *Notices) ForgetNotices(ctx context.Context, points, notices time.Time) error {
	err := s.db.Change(ctx, func(tx Tx) error {
		if _, err := tx.Exec(`DELETE FROM {table point} WHERE recorded_at < ?`, points.UnixMilli()); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM {table notice} WHERE created_at < ? AND state <> 0`, notices.UnixMilli())
		return err
	})
	if err != nil {
		return s.db.Wrap("forget notices", err)
	}
	return nil
}
