package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
)

// Detach implements join.Table.
func (p table) Detach(session, at int64) error {
	p.t.listing(p.place, true)
	return p.t.exec(`INSERT OR IGNORE INTO unattached (place, app_id, conference_at, session)
		SELECT key, app_id, ?, ? FROM place WHERE key = ?`, at, session, p.place)
}

// listing remembers whether a place may have unattached annotations.
func (t *tx) listing(place int64, some bool) {
	if len(t.unattached) >= maxCached {
		clear(t.unattached)
	}
	t.unattached[place] = some
}

// Attach implements join.Table. Nearly no place has unattached annotations, and every frame of
// a live call asks.
func (p table) Attach(span instance.Span) (sessions []int64, err error) {
	some, known := p.t.unattached[p.place]
	if !known {
		if err := p.t.row(`SELECT EXISTS (SELECT 1 FROM unattached WHERE place = ?)`, p.place).Scan(&some); err != nil {
			return nil, err
		}
		p.t.listing(p.place, some)
	}
	if !some {
		return nil, nil
	}
	err = p.t.each(func(row scanner) error {
		var session int64
		err := row.Scan(&session)
		sessions = append(sessions, session)
		return err
	}, `DELETE FROM unattached WHERE place = ? AND conference_at BETWEEN ? AND ? RETURNING session`, p.place, span.Start, span.End)
	return sessions, err
}

// Unattached implements storage.Reader.
func (s *Store) Unattached(ctx context.Context, q storage.UnattachedQuery) (page storage.UnattachedPage, err error) {
	var damage frames.Damage
	err = s.view(ctx, func(tx *sql.Tx) error {
		found, err := listUnattached(ctx, tx, q)
		if err != nil {
			return err
		}
		found, page.Next = join.CutUnattached(found, q)
		for i := range found {
			rows, err := readRows(ctx, tx, unattachedPage, found[i].Place, instance.At(found[i].At.UnixMilli()), found[i].From(), join.UnattachedRows, found[i].SessionKey)
			if err != nil {
				return err
			}
			page.Unattached = append(page.Unattached, found[i].Read(rows, &damage))
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
const unattachedPage = pageColumns + ` FROM frame f INDEXED BY frame_other CROSS JOIN session s ON s.key = f.session
	WHERE f.activity = 0 AND f.place = ?1 AND f.conference_at BETWEEN ?2 AND ?3 AND f.session = ?9` + pageOrder

const unattachedColumns = `SELECT u.key, u.place, p.conference_id, u.conference_at, s.key, s.id, s.app_id, s.user_id, s.user_alias, s.details
	FROM unattached u CROSS JOIN place p ON p.key = u.place CROSS JOIN session s ON s.key = u.session `

// listUnattached runs a query whose text after FROM is made of constants; values are arguments.
func listUnattached(ctx context.Context, tx *sql.Tx, q storage.UnattachedQuery) (out []join.Unattached, err error) {
	where, args := join.UnattachedWhere(q, func(s string) any { return s })
	rows, err := tx.QueryContext(ctx, unattachedColumns+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var u join.Unattached
		var at int64
		var id, details []byte
		err := rows.Scan(&u.Key, &u.Place, &u.ConferenceID, &at, &u.SessionKey, &id, &u.Session.AppID, &u.Session.UserID, &u.Session.UserAlias, &details)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(details, &u.Session.Details); err != nil {
			return nil, fmt.Errorf("details of session %x: %w", id, err)
		}
		u.AppID, u.At, u.Session.ID = u.Session.AppID, frames.FromMs(at), uuid.UUID(id).String()
		out = append(out, u)
	}
	return out, rows.Err()
}

// deleteUnattached deletes unattached annotations about times before a time, of at most limit
// sessions and times. It returns of how many.
func (t *tx) deleteUnattached(before, limit int64) (deleted int64, err error) {
	type row struct{ key, place, at, session int64 }
	var old []row
	err = t.each(func(s scanner) error {
		var r row
		err := s.Scan(&r.key, &r.place, &r.at, &r.session)
		old = append(old, r)
		return err
	}, `SELECT key, place, conference_at, session FROM unattached WHERE conference_at < ? ORDER BY conference_at LIMIT ?`, before, limit)
	if err != nil {
		return 0, err
	}
	for _, r := range old {
		err := t.exec(`DELETE FROM frame WHERE activity = 0 AND place = ? AND conference_at = ? AND session = ?`, r.place, r.at, r.session)
		if err != nil {
			return deleted, err
		}
		if err := t.exec(`DELETE FROM unattached WHERE key = ?`, r.key); err != nil {
			return deleted, err
		}
		if err := t.deleteUnused([]int64{r.session}, r.place); err != nil {
			return deleted, err
		}
		deleted++
	}
	return deleted, nil
}
