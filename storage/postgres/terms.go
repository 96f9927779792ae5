package postgres

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/term"
)

// conferenceTerm is a term that a record of activity added to a conference. It stays for good, and
// keys of conferences are never used again: what was committed once need not be again.
type conferenceTerm struct {
	conference int64
	term       term.Term
}

// Participate implements join.Table.
func (p *table) Participate(key, session int64) error {
	who := participant{key, session}
	if !p.t.known[who] || p.t.changed[session] {
		p.t.participants[who], p.t.known[who] = true, true
	}
	return nil
}

// AddTerms implements join.Table.
func (p *table) AddTerms(key int64, terms []term.Term) error {
	for _, one := range terms {
		if t := (conferenceTerm{key, one}); !p.t.w.written[t] && !p.t.writing[t] {
			p.t.writing[t], p.t.recorded[key] = true, append(p.t.recorded[key], one)
		}
	}
	return nil
}

// queueKnown reads which of the jobs' sessions take part in the conferences around the times
// that are written to, so that they are not written again.
func (t *tx) queueKnown(b *pgx.Batch, want *wanted) {
	var places, sessions, froms, tos []int64
	for visit := range want.visits {
		span := t.tables[visit.place].loaded
		places, sessions = append(places, visit.place), append(sessions, visit.session)
		froms, tos = append(froms, span.Start), append(tos, span.End)
	}
	b.Queue(`SELECT p.conference, p.session FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) q (place, session, a, b)
		JOIN qos_conference c ON `+startsAround+`
		JOIN qos_participant p ON p.place = c.place AND p.conference = c.key AND p.session = q.session`, places, sessions, froms, tos).Query(func(rows pgx.Rows) error {
		var who participant
		_, err := pgx.ForEachRow(rows, []any{&who.conference, &who.session}, func() error { t.known[who] = true; return nil })
		return err
	})
}

// newTerms returns the search terms to write, those of new participants and those from records, and
// how many each conference has no room for. It reads the conferences' terms in a round trip of its
// own: both are rare.
func (t *tx) newTerms() (writes map[conferenceTerm]bool, left map[int64]int, err error) {
	if len(t.participants)+len(t.recorded) == 0 {
		return nil, nil, nil
	}
	have, sessions, err := t.readTerms()
	if err != nil {
		return nil, nil, err
	}
	add := additions{have, map[conferenceTerm]bool{}, map[int64]int{}}
	for who := range t.participants {
		add.terms(who.conference, sessions[who.session], false)
	}
	for key, terms := range t.recorded {
		add.terms(key, terms, true)
	}
	return add.writes, add.left, nil
}

// additions are terms added to those that conferences have: the terms to write, and how many there
// is no room for.
type additions struct {
	have   map[int64]term.Kept
	writes map[conferenceTerm]bool
	left   map[int64]int
}

func (a additions) terms(key int64, terms []term.Term, recorded bool) {
	if a.have[key] == nil {
		a.have[key] = term.Kept{}
	}
	write, over := a.have[key].Add(terms, recorded)
	for _, one := range write {
		a.writes[conferenceTerm{key, one}] = recorded
	}
	if over > 0 {
		a.left[key] += over
	}
}

// readTerms reads the terms of the conferences with additions, and the terms of the sessions that
// are new participants.
func (t *tx) readTerms() (have map[int64]term.Kept, sessions map[int64][]term.Term, err error) {
	have, sessions = map[int64]term.Kept{}, map[int64][]term.Term{}
	for key := range t.recorded {
		have[key] = term.Kept{}
	}
	var missing []int64
	for who := range t.participants {
		have[who.conference] = term.Kept{}
		if _, ok := sessions[who.session]; ok {
			continue
		}
		row, ok := t.rows[who.session]
		if !ok {
			missing = append(missing, who.session)
			continue
		}
		if sessions[who.session], err = sessionTerms(t.apps[who.session], []byte(row.UserID), []byte(row.UserAlias), []byte(row.Details)); err != nil {
			return nil, nil, err
		}
	}
	keys := make([]int64, 0, len(have))
	for key := range have {
		keys = append(keys, key)
	}
	b := &pgx.Batch{}
	b.Queue(`SELECT conference, term, recorded FROM qos_term WHERE conference = ANY ($1)`, keys).Query(func(rows pgx.Rows) error {
		var one conferenceTerm
		var recorded bool
		_, err := pgx.ForEachRow(rows, []any{&one.conference, &one.term, &recorded}, func() error {
			have[one.conference][one.term] = recorded
			return nil
		})
		return err
	})
	if len(missing) > 0 {
		b.Queue(selectSessions+`WHERE s.key = ANY ($1)`, missing).Query(readSessionTerms(sessions))
	}
	return have, sessions, t.w.conn.SendBatch(t.ctx, b).Close()
}

const selectSessions = `SELECT s.key, s.app_id, s.user_id, s.user_alias, s.details FROM qos_session s `

// readSessionTerms takes rows of selectSessions in.
func readSessionTerms(into map[int64][]term.Term) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var key int64
		var app, user, alias, details []byte
		_, err := pgx.ForEachRow(rows, []any{&key, &app, &user, &alias, &details}, func() (err error) {
			into[key], err = sessionTerms(string(app), user, alias, details)
			return err
		})
		return err
	}
}

func sessionTerms(app string, user, alias, text []byte) ([]term.Term, error) {
	var details map[string]string
	if err := json.Unmarshal(text, &details); err != nil {
		return nil, fmt.Errorf("details of a session: %w", err)
	}
	return term.OfSession(app, string(user), string(alias), details), nil
}

const writeTerms = `INSERT INTO qos_term (term, start_ms, place, conference, recorded)
	SELECT q.term, c.start_ms, c.place, c.key, q.recorded FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bool[]) q (place, conference, term, recorded)
		JOIN qos_conference c ON c.place = q.place AND c.key = q.conference
	ON CONFLICT (term, start_ms, conference) DO UPDATE SET recorded = excluded.recorded`

// queueTerms writes terms, after the conferences have their spans.
func (t *tx) queueTerms(b *pgx.Batch, writes map[conferenceTerm]bool, left map[int64]int) {
	if len(writes) > 0 {
		var places, conferences, terms []int64
		var recorded []bool
		for one, byRecord := range writes {
			places = append(places, t.places[one.conference])
			conferences, terms, recorded = append(conferences, one.conference), append(terms, int64(one.term)), append(recorded, byRecord)
		}
		b.Queue(writeTerms, places, conferences, terms, recorded)
	}
	for key, n := range left {
		b.Queue(`UPDATE qos_conference SET terms_dropped = terms_dropped + $1 WHERE place = $2 AND key = $3`, n, t.places[key], key)
	}
}

// remember notes, after the commit, the terms that need not be written again.
func (t *tx) remember() {
	if len(t.w.written)+len(t.writing) > maxCached {
		clear(t.w.written)
	}
	for one := range t.writing {
		t.w.written[one] = true
	}
}

// count adds the terms without room to the result of an append; which append of a group does not
// matter.
func (t *tx) count(jobs []*job) {
	for _, j := range jobs {
		if j.summary != nil {
			continue
		}
		for _, n := range t.left {
			j.result.TermsDropped += n
		}
		return
	}
}

// moved says that a conference has become part of another.
func (t *tx) moved(into, from int64) {
	for who := range t.known {
		if who.conference == from {
			delete(t.known, who)
			t.known[participant{into, who.session}] = true
		}
	}
}
