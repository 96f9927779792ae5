package sqlite

import (
	"encoding/json"
	"fmt"

	"github.com/qosrtc/qos/storage/internal/term"
)

// conferenceTerm is a term that a record of activity added to a conference.
type conferenceTerm struct {
	conference int64
	term       term.Term
}

// participation is a session and a conference in which it takes part.
type participation struct{ conference, session int64 }

// Participate implements join.Table.
func (p table) Participate(key, session int64) error {
	added, err := p.t.count(`INSERT OR IGNORE INTO participant (conference, session) VALUES (?, ?)`, key, session)
	member := participation{key, session}
	if err != nil || added == 0 && (!p.t.changedSessions[session] || p.t.newParticipations[member]) {
		return err
	}
	p.t.newParticipations[member] = true
	return p.t.addSessionTerms(key, session)
}

// AddTerms implements join.Table.
func (p table) AddTerms(key int64, terms []term.Term) error {
	var fresh []term.Term
	for _, one := range terms {
		if !p.t.recordTerms[conferenceTerm{key, one}] {
			fresh = append(fresh, one)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if len(p.t.recordTerms) >= maxCached {
		clear(p.t.recordTerms)
	}
	for _, one := range fresh {
		p.t.recordTerms[conferenceTerm{key, one}] = true
	}
	return p.t.addTerms(key, fresh, true)
}

// addSessionTerms adds the terms of a participant's session to a conference.
func (t *tx) addSessionTerms(key, session int64) error {
	var app, user, alias string
	var text []byte
	err := t.row(`SELECT app_id, user_id, user_alias, details FROM session WHERE key = ?`, session).Scan(&app, &user, &alias, &text)
	if err != nil {
		return err
	}
	var details map[string]string
	if err := json.Unmarshal(text, &details); err != nil {
		return fmt.Errorf("details of session %d: %w", session, err)
	}
	return t.addTerms(key, term.OfSession(app, user, alias, details), false)
}

// addTerms writes the terms that a conference does not have yet, and counts those that are dropped.
func (t *tx) addTerms(key int64, terms []term.Term, recorded bool) error {
	existing, err := t.terms(key)
	if err != nil {
		return err
	}
	write, dropped := existing.Add(terms, recorded)
	t.cachedTerms += len(write)
	for _, one := range write {
		err := t.exec(`INSERT INTO term (term, start_ms, conference, recorded) SELECT ?, start_ms, key, ? FROM conference WHERE key = ?
			ON CONFLICT DO UPDATE SET recorded = excluded.recorded`, one, recorded, key)
		if err != nil {
			return err
		}
	}
	if dropped == 0 {
		return nil
	}
	t.termsDropped += dropped
	return t.exec(`UPDATE conference SET terms_dropped = terms_dropped + ? WHERE key = ?`, dropped, key)
}

// terms returns the terms of a conference, from a cache: it would be slow to read them for each of
// thousands of participants.
func (t *tx) terms(key int64) (term.Kept, error) {
	if terms, ok := t.conferenceTerms[key]; ok {
		return terms, nil
	}
	terms := term.Kept{}
	err := t.each(func(row scanner) error {
		var one term.Term
		var recorded bool
		err := row.Scan(&one, &recorded)
		terms[one] = recorded
		return err
	}, `SELECT term, recorded FROM term INDEXED BY term_conference WHERE conference = ?`, key)
	if err != nil {
		return nil, err
	}
	if t.cachedTerms+len(terms) > maxCached || len(t.conferenceTerms) >= maxCached {
		clear(t.conferenceTerms)
		t.cachedTerms = 0
	}
	t.conferenceTerms[key], t.cachedTerms = terms, t.cachedTerms+len(terms)
	return terms, nil
}
