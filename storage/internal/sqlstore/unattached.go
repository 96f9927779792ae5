package sqlstore

import (
	"context"
	"strings"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// unattached is an entry of the list of unattached annotations, with the engine's keys.
type unattached struct {
	storage.Unattached
	key, place, session int64
}

// cursor returns the position of the entry in the list.
func (u *unattached) cursor() storage.Cursor { return storage.Cursor{Start: u.At, Key: u.key} }

// Unattached implements storage.Reader.
func (l Lists) Unattached(ctx context.Context, q storage.UnattachedQuery) (page storage.UnattachedPage, err error) {
	var damage frames.Damage
	err = l.db.View(ctx, func(tx Tx) error {
		found, err := listUnattached(tx, q)
		if limit := pageLimit(q.Limit); err == nil && len(found) > limit {
			found, page.Next = found[:limit], found[limit-1].cursor()
		}
		for i, bytes := 0, 0; i < len(found) && err == nil; i++ {
			err = found[i].read(tx, &damage)
			if bytes += found[i].TextBytes(); i > 0 && bytes > storage.MaxUnattachedBytes {
				page.Next = found[i-1].cursor()
				break
			}
			page.Unattached, page.Cursors = append(page.Unattached, found[i].Unattached), append(page.Cursors, found[i].cursor())
		}
		return err
	})
	if err == nil {
		err = damage.Err()
	}
	if err != nil {
		return page, l.db.Wrap("list unattached annotations", err)
	}
	return page, nil
}

// listUnattached returns the entries of a page, and one more if there are more.
func listUnattached(tx Tx, q storage.UnattachedQuery) ([]unattached, error) {
	var c condition
	if q.AppID != "" {
		c.add("u.app_id = ?", Text(q.AppID))
	}
	if q.ConferenceID != "" {
		c.add("p.conference_id = ?", Text(q.ConferenceID))
	}
	if !q.From.IsZero() {
		c.add("u.conference_at >= ?", frames.CeilMs(q.From))
	}
	if !q.To.IsZero() {
		c.add("u.conference_at < ?", frames.CeilMs(q.To))
	}
	if q.Before != (storage.Cursor{}) {
		c.add("(u.conference_at, u.key) < (?, ?)", q.Before.Start.UnixMilli(), q.Before.Key)
	}
	where := ""
	if len(c.terms) > 0 {
		where = "WHERE " + strings.Join(c.terms, " AND ")
	}
	return All(tx, scanUnattached, `SELECT u.key, u.place, p.conference_id, u.conference_at, s.key, s.id, s.app_id, s.user_id, s.user_alias, s.details
		FROM {table unattached} u {join} {table place} p ON p.key = u.place {join} {table session} s ON s.key = u.session `+where+
		` ORDER BY u.conference_at DESC, u.key DESC LIMIT ?`, append(c.args, pageLimit(q.Limit)+1)...)
}

func scanUnattached(row Row) (u unattached, err error) {
	var at int64
	var conference, id, app, user, alias, details []byte
	if err := row.Scan(&u.key, &u.place, &conference, &at, &u.session, &id, &app, &user, &alias, &details); err != nil {
		return u, err
	}
	u.AppID, u.ConferenceID, u.At = string(app), string(conference), frames.FromMs(at)
	u.Session, err = Session(id, app, user, alias, details)
	return u, err
}

const unattachedRows = `SELECT ` + frameColumns + `
	FROM {table session} s {join} {table frame} f {by frame_other} ON f.session = s.key {sameday f s}
	WHERE NOT f.activity AND f.place = ? AND f.conference_at = ? AND s.key = ? ORDER BY f.at, f.seq, f.idx LIMIT ?`

// read reads the first records of the entry. Damaged rows are left out and added to damage.
func (u *unattached) read(tx Tx, damage *frames.Damage) error {
	rows, err := All(tx, ScanFrame, unattachedRows, u.place, u.At.UnixMilli(), u.session, storage.MaxUnattachedRecords+1)
	if err != nil {
		return err
	}
	frames.Records(u.ConferenceID, rows, damage, func(_ string, r storage.Record) bool {
		if u.More = len(u.Records) == storage.MaxUnattachedRecords; !u.More {
			u.Records = append(u.Records, r)
		}
		return !u.More
	})
	return nil
}

// frameColumns are the columns of a frame f of a session s.
const frameColumns = `f.at, s.key, s.id, f.seq, f.idx, f.n, f.activity, f.conference_at, f.observed_at, f.fabric, f.body`

// ScanFrame scans frameColumns.
func ScanFrame(row Row) (r frames.ReadRow, err error) {
	err = row.Scan(&r.At, &r.SessionKey, &r.Session, &r.Seq, &r.Idx, &r.N, &r.Activity, &r.ConferenceAt, &r.ObservedAt, &r.Fabric, &r.Body)
	return r, err
}
