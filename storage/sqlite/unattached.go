package sqlite

import (
	"github.com/qosrtc/qos/internal/instance"
)

// Detach implements join.Table.
func (p table) Detach(session, at int64) error {
	p.t.listing(p.place, true)
	return p.rows().Detach(session, at)
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

// deleteUnattached deletes old unattached annotations, of at most limit sessions and times. It
// returns of how many.
func (t *tx) deleteUnattached(o old, limit int64) (deleted int64, err error) {
	type row struct{ key, place, at, session int64 }
	var found []row
	where, args := o.unattached()
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
