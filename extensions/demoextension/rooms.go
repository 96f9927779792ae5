package demoextension

import (
	"encoding/json"
	"errors"
	"sync"
	"time"
)

var (
	errRoomFull     = errors.New("two are in this room already")
	errTooManyRooms = errors.New("too many rooms are open, try again later")
	errClosed       = errors.New("the demo stops")
)

// The roles in a room: the first member makes the offer.
const (
	roleOfferer  = "offerer"
	roleAnswerer = "answerer"
)

// message is a message of the signalling, in both directions.
type message struct {
	// Type is joined, peer, left (to the browser), error (to the browser) or signal (from
	// one browser to the other).
	Type    string          `json:"type"`
	Role    string          `json:"role,omitempty"`    // of joined
	User    string          `json:"user,omitempty"`    // of peer: the other user
	Message string          `json:"message,omitempty"` // of error
	Data    json.RawMessage `json:"data,omitempty"`    // of signal: a description or a candidate
}

// link sends to one browser. Both methods may be called from any goroutine.
type link interface {
	send(message)
	close()
}

// member is one browser in a room.
type member struct {
	user string
	link link
}

// room is a room for two browsers.
type room struct {
	opened  time.Time
	members []*member // in order of arrival; at most two
}

// rooms holds all rooms. A room exists while it has members, and at most for maxAge: then it closes
// its members' links.
type rooms struct {
	max    int
	maxAge time.Duration

	mu     sync.Mutex
	byName map[string]*room
	closed bool
}

func newRooms(limit int, maxAge time.Duration) *rooms {
	return &rooms{max: limit, maxAge: maxAge, byName: map[string]*room{}}
}

// join adds m to the room and notifies both members of each other. It returns the time at which the
// room ends. A member that joined must leave.
func (rs *rooms) join(name string, m *member, now time.Time) (deadline time.Time, err error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r, err := rs.enterLocked(name, m, now)
	if err != nil {
		return time.Time{}, err
	}
	if len(r.members) == 1 {
		m.link.send(message{Type: "joined", Role: roleOfferer})
		return r.opened.Add(rs.maxAge), nil
	}
	first := r.members[0]
	m.link.send(message{Type: "joined", Role: roleAnswerer})
	m.link.send(message{Type: "peer", User: first.user})
	first.link.send(message{Type: "peer", User: m.user})
	return r.opened.Add(rs.maxAge), nil
}

func (rs *rooms) enterLocked(name string, m *member, now time.Time) (*room, error) {
	if rs.closed {
		return nil, errClosed
	}
	r := rs.byName[name]
	switch {
	case r == nil && len(rs.byName) >= rs.max:
		return nil, errTooManyRooms
	case r == nil:
		r = &room{opened: now}
		rs.byName[name] = r
	case len(r.members) == 2:
		return nil, errRoomFull
	}
	r.members = append(r.members, m)
	return r, nil
}

// relay sends a message of m to the other member, if there is one.
func (rs *rooms) relay(name string, m *member, msg message) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if other := rs.otherLocked(name, m); other != nil {
		other.link.send(msg)
	}
}

// leave removes m from the room and notifies the other member, which will make the offer to the
// next one.
func (rs *rooms) leave(name string, m *member) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	other := rs.otherLocked(name, m)
	if other == nil {
		delete(rs.byName, name)
		return
	}
	rs.byName[name].members = []*member{other}
	other.link.send(message{Type: "left"})
	other.link.send(message{Type: "joined", Role: roleOfferer})
}

func (rs *rooms) otherLocked(name string, m *member) *member {
	for _, other := range rs.byName[name].members {
		if other != m {
			return other
		}
	}
	return nil
}

// close closes all links, so that their members leave, and refuses new members.
func (rs *rooms) close() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.closed = true
	for _, r := range rs.byName {
		for _, m := range r.members {
			m.link.close()
		}
	}
}
