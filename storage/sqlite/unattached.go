package sqlite

import (
	"github.com/qosrtc/qos/internal/call/instance"
)

// Detach implements join.Table.
func (p table) Detach(session, at int64) error {
	p.t.cacheUnattached(p.place, true)
	return p.sqlRows().Detach(session, at)
}

// cacheUnattached caches whether unattached annotations under a conferenceID may exist.
func (t *tx) cacheUnattached(place int64, exist bool) {
	if len(t.unattached) >= maxCached {
		clear(t.unattached)
	}
	t.unattached[place] = exist
}

// Attach implements join.Table. The cache avoids a query for every frame of a live call: unattached
// annotations are rare.
func (p table) Attach(span instance.Span) (sessions []int64, err error) {
	exist, known := p.t.unattached[p.place]
	if !known {
		if err := p.t.row(`SELECT EXISTS (SELECT 1 FROM unattached WHERE place = ?)`, p.place).Scan(&exist); err != nil {
			return nil, err
		}
		p.t.cacheUnattached(p.place, exist)
	}
	if !exist {
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

// deleteUnattached deletes at most limit old entries of the table unattached with their annotations, and
// returns their number.
func (t *tx) deleteUnattached(d deletion, limit int64) (deleted int64, err error) {
	type row struct{ key, place, at, session int64 }
	var found []row
	where, args := d.unattached()
	err = t.each(func(s scanner) error {
		var r row
		err := s.Scan(&r.key, &r.place, &r.at, &r.session)
		found = append(found, r)
		return err
	}, `SELECT key, place, conference_at, session FROM unattached WHERE `+where+` ORDER BY conference_at LIMIT ?`, append(args, limit)...)
	if err != nil {
		return 0, err
	}
	for _, r := range found {
		err := t.exec(`DELETE FROM frame WHERE NOT activity AND place = ? AND conference_at = ? AND session = ?`, r.place, r.at, r.session)
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
