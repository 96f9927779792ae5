package postgres

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/term"
)

// conferenceTerm is a term that a record of activity added to a conference. It is never removed, and
// keys of conferences are never reused: a committed term need not be written again.
type conferenceTerm struct {
	conference int64
	term       term.Term
}

// Participate implements join.Table.
func (p *table) Participate(key, session int64) error {
	member := participant{key, session}
	if !p.t.knownParticipants[member] || p.t.changedSessions[session] {
		p.t.participants[member], p.t.knownParticipants[member] = true, true
	}
	return nil
}

// AddTerms implements join.Table.
func (p *table) AddTerms(key int64, terms []term.Term) error {
	for _, one := range terms {
		if t := (conferenceTerm{key, one}); !p.t.w.committedTerms[t] && !p.t.queuedTerms[t] {
			p.t.queuedTerms[t], p.t.recordTerms[key] = true, append(p.t.recordTerms[key], one)
		}
	}
	return nil
}

// queueKnown queues reading which of the jobs' sessions already take part in the conferences around the spans
// that are written to.
func (t *tx) queueKnown(b *pgx.Batch, locks *lockSet) {
	var places, sessions, froms, tos []int64
	for visit := range locks.visits {
		span := t.tables[visit.place].loaded
		places, sessions = append(places, visit.place), append(sessions, visit.session)
		froms, tos = append(froms, span.Start), append(tos, span.End)
	}
	b.Queue(`SELECT p.conference, p.session FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) q (place, session, a, b)
		JOIN qos_conference c ON `+startsAround+`
		JOIN qos_participant p ON p.place = c.place AND p.conference = c.key AND p.session = q.session`, places, sessions, froms, tos).Query(func(rows pgx.Rows) error {
		var member participant
		_, err := pgx.ForEachRow(rows, []any{&member.conference, &member.session}, func() error { t.knownParticipants[member] = true; return nil })
		return err
	})
}

// newTerms returns the search terms to write, those of new participants and those from records, and
// the number of terms dropped by conference. It reads the stored terms in a separate round trip, because
// both kinds are rare.
func (t *tx) newTerms() (writes map[conferenceTerm]bool, dropped map[int64]int, err error) {
	if len(t.participants)+len(t.recordTerms) == 0 {
		return nil, nil, nil
	}
	have, sessions, err := t.readTerms()
	if err != nil {
		return nil, nil, err
	}
	add := additions{have, map[conferenceTerm]bool{}, map[int64]int{}}
	for member := range t.participants {
		add.terms(member.conference, sessions[member.session], false)
	}
	for key, terms := range t.recordTerms {
		add.terms(key, terms, true)
	}
	return add.writes, add.dropped, nil
}

// additions adds terms to those that conferences have. It collects the terms to write, and the number
// of dropped terms by conference.
type additions struct {
	existing map[int64]term.Kept
	writes   map[conferenceTerm]bool
	dropped  map[int64]int
}

func (a additions) terms(key int64, terms []term.Term, recorded bool) {
	if a.existing[key] == nil {
		a.existing[key] = term.Kept{}
	}
	write, over := a.existing[key].Add(terms, recorded)
	for _, one := range write {
		a.writes[conferenceTerm{key, one}] = recorded
	}
	if over > 0 {
		a.dropped[key] += over
	}
}

// readTerms reads the terms of the conferences that get new ones, and the terms of the sessions that
// are new participants.
func (t *tx) readTerms() (existing map[int64]term.Kept, sessions map[int64][]term.Term, err error) {
	existing, sessions = map[int64]term.Kept{}, map[int64][]term.Term{}
	for key := range t.recordTerms {
		existing[key] = term.Kept{}
	}
	var missing []int64
	for member := range t.participants {
		existing[member.conference] = term.Kept{}
		if _, ok := sessions[member.session]; ok {
			continue
		}
		row, ok := t.rows[member.session]
		if !ok {
			missing = append(missing, member.session)
			continue
		}
		if sessions[member.session], err = sessionTerms(t.apps[member.session], []byte(row.UserID), []byte(row.UserAlias), []byte(row.Details)); err != nil {
			return nil, nil, err
		}
	}
	keys := make([]int64, 0, len(existing))
	for key := range existing {
		keys = append(keys, key)
	}
	b := &pgx.Batch{}
	b.Queue(`SELECT conference, term, recorded FROM qos_term WHERE conference = ANY ($1)`, keys).Query(func(rows pgx.Rows) error {
		var one conferenceTerm
		var recorded bool
		_, err := pgx.ForEachRow(rows, []any{&one.conference, &one.term, &recorded}, func() error {
			existing[one.conference][one.term] = recorded
			return nil
		})
		return err
	})
	if len(missing) > 0 {
		b.Queue(selectSessions+`WHERE s.key = ANY ($1)`, missing).Query(readSessionTerms(sessions))
	}
	return existing, sessions, t.w.conn.SendBatch(t.ctx, b).Close()
}

const selectSessions = `SELECT s.key, s.app_id, s.user_id, s.user_alias, s.details FROM qos_session s `

// readSessionTerms returns a reader of rows of selectSessions, which adds the terms of each session to into.
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

// queueTerms queues the inserts of terms. It is called after the spans of conferences are queued.
func (t *tx) queueTerms(b *pgx.Batch, writes map[conferenceTerm]bool, dropped map[int64]int) {
	if len(writes) > 0 {
		var places, conferences, terms []int64
		var recorded []bool
		for one, byRecord := range writes {
			places = append(places, t.places[one.conference])
			conferences, terms, recorded = append(conferences, one.conference), append(terms, int64(one.term)), append(recorded, byRecord)
		}
		b.Queue(writeTerms, places, conferences, terms, recorded)
	}
	for key, n := range dropped {
		b.Queue(`UPDATE qos_conference SET terms_dropped = terms_dropped + $1 WHERE place = $2 AND key = $3`, n, t.places[key], key)
	}
}

// remember caches, after the commit, the terms that need not be written again.
func (t *tx) remember() {
	if len(t.w.committedTerms)+len(t.queuedTerms) > maxCached {
		clear(t.w.committedTerms)
	}
	for one := range t.queuedTerms {
		t.w.committedTerms[one] = true
	}
}

// countDropped adds the dropped terms to the result of the first append of the group.
func (t *tx) countDropped(jobs []*job) {
	for _, j := range jobs {
		if j.summary != nil {
			continue
		}
		for _, n := range t.droppedTerms {
			j.result.TermsDropped += n
		}
		return
	}
}

// moveParticipants updates knownParticipants after a conference was merged into another.
func (t *tx) moveParticipants(into, from int64) {
	for member := range t.knownParticipants {
		if member.conference == from {
			delete(t.knownParticipants, member)
			t.knownParticipants[participant{into, member.session}] = true
		}
	}
}
