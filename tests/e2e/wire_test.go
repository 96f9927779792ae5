package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// wire is the account of what pages sent through a front and what they received.
type wire struct {
	mu       sync.Mutex
	sessions map[string]*spoken
	order    []string // of the sessions
	faults   []string // what no page may do
}

// spoken is the account of one session.
type spoken struct {
	texts   map[uint64]string // of the frames, by number, as first sent
	froms   map[uint64]uint64 // of the skips, by number
	again   int               // how often a number was sent again
	acked   uint64            // the highest number that the collector acknowledged
	nacks   []string          // what the collector refused
	hellos  int               // connections over WebSockets
	posts   int               // POSTs
	welcome int               // answers to either
}

func newWire() *wire { return &wire{sessions: map[string]*spoken{}} }

// speech is one connection: whose it is follows from its hello.
type speech struct {
	wire    *wire
	post    bool
	session string
}

// message is what the account needs of either side's messages.
type message struct {
	Type    string `json:"type"`
	Session string `json:"session"`
	Seq     uint64 `json:"seq"`
	From    uint64 `json:"from"`
	Message string `json:"message"`
}

// client writes down what the page says.
func (s *speech) client(text []byte) {
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		s.wire.faults = append(s.wire.faults, fmt.Sprintf("%v: %s", err, text))
		return
	}
	if m.Type == "hello" {
		s.hello(m.Session)
		return
	}
	if own := s.wire.sessions[s.session]; own != nil && m.Seq > 0 {
		s.frame(own, &m, string(text))
	}
}

func (s *speech) hello(session string) {
	s.session = session
	own := s.wire.sessions[session]
	if own == nil {
		own = &spoken{texts: map[uint64]string{}, froms: map[uint64]uint64{}}
		s.wire.sessions[session] = own
		s.wire.order = append(s.wire.order, session)
	}
	if s.post {
		own.posts++
	} else {
		own.hellos++
	}
}

// frame holds a number against what was sent under it before: it never changes.
func (s *speech) frame(own *spoken, m *message, text string) {
	first, known := own.texts[m.Seq]
	switch {
	case !known:
		own.texts[m.Seq] = text
		if m.Type == "skip" {
			own.froms[m.Seq] = m.From
		}
	case first != text:
		s.wire.faults = append(s.wire.faults, fmt.Sprintf("the content of a number changed:\n%s\n%s", first, text))
	default:
		own.again++
	}
}

// server writes down what the page receives.
func (s *speech) server(text []byte) {
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	own := s.wire.sessions[s.session]
	var m message
	if own == nil || json.Unmarshal(text, &m) != nil {
		return
	}
	switch m.Type {
	case "welcome":
		own.welcome++
	case "ack":
		own.acked = max(own.acked, m.Seq)
	case "nack":
		own.nacks = append(own.nacks, string(text))
	}
}

// newest returns the account of the newest session so far; nil before there is one.
func (w *wire) newest() (session string, account *spoken) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.order) == 0 {
		return "", nil
	}
	session = w.order[len(w.order)-1]
	return session, w.sessions[session].copy()
}

// all returns the accounts, and what no page may do.
func (w *wire) all() (sessions map[string]*spoken, faults []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sessions = map[string]*spoken{}
	for id, own := range w.sessions {
		sessions[id] = own.copy()
	}
	return sessions, slices.Clone(w.faults)
}

func (s *spoken) copy() *spoken {
	c := *s
	c.texts, c.froms, c.nacks = maps.Clone(s.texts), maps.Clone(s.froms), slices.Clone(s.nacks)
	return &c
}
