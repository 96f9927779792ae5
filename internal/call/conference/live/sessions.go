package live

import (
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
)

// A record's identity is (session, seq, index), independent of its content and its conference
// (docs/protocol.md, section 2). The store has the first record of an identity, so the Set ignores
// later ones, across conferences. Otherwise a record could prolong or start a conference that the
// store does not have.

// sessionKey identifies a session.
type sessionKey struct{ appID, session string }

// sessionBytes is the estimated size of a session without the identities of its records.
const sessionBytes = 300

// sessionRecords holds the identities of the records of one session in memory.
type sessionRecords struct {
	seen  event.Identities
	confs int // number of conferences with some of them
}

// Seen reports whether a record of that identity was applied before. It does not change the Set.
func (s *Set) Seen(e *event.Event) bool {
	of := s.sessions[sessionKey{e.AppID, e.Session}]
	return of != nil && of.seen.Has(e.Seq, e.Index) || s.waiting.find(e) != nil
}

// note records the identity of a record, unless c had no room for it.
func (s *Set) note(c *conf, e *event.Event) {
	if c.Seen(e) {
		s.identify(c, e.Session, e.Seq, e.Index)
	}
}

// identify records the identity of a record of c, and charges it to the application.
func (s *Set) identify(c *conf, session string, seq uint64, index int) {
	seen := &s.share(c, session).seen
	before := seen.Bytes()
	seen.Add(seq, index)
	if n := seen.Bytes() - before; n != 0 {
		s.account(c.key.appID, n, 0)
	}
}

// share records that c has records of a session.
func (s *Set) share(c *conf, session string) *sessionRecords {
	of := s.sessions[sessionKey{c.key.appID, session}]
	if of == nil {
		session = strings.Clone(session)
		of = new(sessionRecords)
		s.sessions[sessionKey{c.key.appID, session}] = of
		s.account(c.key.appID, sessionBytes, 0)
	}
	if _, shared := c.sessions[session]; !shared {
		if c.sessions == nil {
			c.sessions = make(map[string]struct{}, 1)
		}
		c.sessions[strings.Clone(session)] = struct{}{}
		of.confs++
	}
	return of
}

// unshare drops the sessions whose records only c has. c is being removed.
func (s *Set) unshare(c *conf) {
	for session := range c.sessions {
		k := sessionKey{c.key.appID, session}
		if of := s.sessions[k]; of.confs > 1 {
			of.confs--
		} else {
			delete(s.sessions, k)
			s.account(c.key.appID, -sessionBytes-of.seen.Bytes(), 0)
		}
	}
}
