package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
)

// Detach implements join.Table.
func (p *table) Detach(session, at int64) error {
	p.unattached = true
	return p.t.exec(`INSERT INTO qos_unattached (place, app_id, conference_at, session)
		SELECT key, app_id, $1, $2 FROM qos_place WHERE key = $3 ON CONFLICT DO NOTHING`, at, session, p.place)
}

// Attach implements join.Table. Nearly no place has unattached annotations, and every frame of
// a live call asks.
func (p *table) Attach(span instance.Span) (sessions []int64, err error) {
	if !p.unattached {
		return nil, nil
	}
	if err := p.t.flush(); err != nil {
		return nil, err
	}
	rows, err := p.t.w.conn.Query(p.t.ctx, `DELETE FROM qos_unattached u USING qos_session s
		WHERE u.place = $1 AND u.conference_at BETWEEN $2 AND $3 AND s.key = u.session RETURNING s.key, s.day`, p.place, span.Start, span.End)
	if err != nil {
		return nil, err
	}
	var key int64
	var day int32
	_, err = pgx.ForEachRow(rows, []any{&key, &day}, func() error {
		sessions = append(sessions, key)
		if p.days != nil {
			p.days[day] = true
		}
		return nil
	})
	return sessions, err
}

// Unattached implements storage.Reader.
func (s *Store) Unattached(ctx context.Context, q storage.UnattachedQuery) (page storage.UnattachedPage, err error) {
	var damage frames.Damage
	err = s.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		found, days, err := listUnattached(ctx, tx, q)
		if err != nil {
			return err
		}
		found, page.Next = join.CutUnattached(found, q)
		rows := make([][]frames.ReadRow, len(found))
		b := &pgx.Batch{}
		for i := range found {
			u := &found[i]
			at := located{place: u.Place, days: days[i : i+1]}
			queuePage(b, unattachedPage, at, instance.At(u.At.UnixMilli()), u.From(), join.UnattachedRows, &rows[i], u.SessionKey)
		}
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		for i := range found {
			page.Unattached = append(page.Unattached, found[i].Read(rows[i], &damage))
		}
		return nil
	})
	if err == nil {
		err = damage.Err()
	}
	if err != nil {
		return page, s.wrap("list unattached annotations", err)
	}
	return page, nil
}

// unattachedPage reads the rows of one session about one time.
const unattachedPage = pageColumns + ` AND NOT f.activity AND f.conference_at BETWEEN $2 AND $3 AND f.session = $10` + pageFrom

func listUnattached(ctx context.Context, tx pgx.Tx, q storage.UnattachedQuery) (out []join.Unattached, days []int32, err error) {
	where, args := join.UnattachedWhere(q, func(s string) any { return []byte(s) })
	rows, err := tx.Query(ctx, numbered(`SELECT u.key, u.place, p.conference_id, u.conference_at, s.key, s.day, s.id, s.app_id, s.user_id, s.user_alias, s.details
		FROM qos_unattached u JOIN qos_place p ON p.key = u.place JOIN qos_session s ON s.key = u.session `+where), args...)
	if err != nil {
		return nil, nil, err
	}
	var u join.Unattached
	var at int64
	var day int32
	var conference, id, app, user, alias, details []byte
	_, err = pgx.ForEachRow(rows, []any{&u.Key, &u.Place, &conference, &at, &u.SessionKey, &day, &id, &app, &user, &alias, &details}, func() error {
		u.AppID, u.ConferenceID, u.At = string(app), string(conference), frames.FromMs(at)
		u.Session = storage.Session{ID: uuid.UUID(id).String(), AppID: u.AppID, UserID: string(user), UserAlias: string(alias)}
		if err := json.Unmarshal(details, &u.Session.Details); err != nil {
			return fmt.Errorf("details of session %s: %w", u.Session.ID, err)
		}
		out, days = append(out, u), append(days, day)
		return nil
	})
	return out, days, err
}

// deleteUnattached deletes some unattached annotations about times before a time, and returns
// of how many sessions and times.
func deleteUnattached(ctx context.Context, conn *pgx.Conn, before int64) (deleted int, err error) {
	var sessions []int64
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		places, err := collect[int64](tx.Query(ctx, `SELECT place FROM qos_unattached WHERE conference_at < $1 ORDER BY conference_at LIMIT $2`, before, deleteConferences))
		if err != nil {
			return err
		}
		if places, err = collect[int64](tx.Query(ctx, `SELECT key FROM qos_place WHERE key = ANY ($1) ORDER BY key FOR UPDATE`, places)); err != nil {
			return err
		}
		sessions, err = collect[int64](tx.Query(ctx, `WITH old AS (
				SELECT u.place, u.conference_at, u.session, s.day FROM qos_unattached u JOIN qos_session s ON s.key = u.session
				WHERE u.place = ANY ($1) AND u.conference_at < $2 ORDER BY u.conference_at LIMIT $3),
			frames AS (DELETE FROM qos_frame f USING old WHERE f.day = old.day AND f.place = old.place AND f.conference_at = old.conference_at
				AND f.session = old.session AND NOT f.activity),
			gone AS (DELETE FROM qos_unattached u USING old WHERE u.place = old.place AND u.conference_at = old.conference_at AND u.session = old.session
				RETURNING u.session)
			SELECT session FROM gone`, places, before, deleteConferences))
		if err != nil {
			return err
		}
		return deleteUnusedPlaces(ctx, tx, places)
	})
	if err != nil {
		return 0, err
	}
	return len(sessions), deleteSessions(ctx, conn, `key = ANY ($1::bigint[])`, sessions)
}

// deleteUnusedPlaces deletes those of places, which are locked, that have nothing.
func deleteUnusedPlaces(ctx context.Context, tx pgx.Tx, places []int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM qos_place p WHERE key = ANY ($1)
		AND NOT EXISTS (SELECT 1 FROM qos_conference c WHERE c.place = p.key)
		AND NOT EXISTS (SELECT 1 FROM qos_unattached u WHERE u.place = p.key)`, places)
	return err
}
