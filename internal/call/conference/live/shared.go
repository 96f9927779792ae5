package live

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strings"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
)

// A conference whose records arrive at several processes has one summary: that of the stored
// records. Each process reads them before it emits a summary. The process at which the last
// record arrived emits it; the others wait for another gap, and emit it only if the store still
// does not have it.

// Shared declares that other processes write to the same store. A conference is then complete only
// if it was restored after the last record that arrived here.
func (s *Set) Shared() {
	s.shared = true
	s.CompleteSince(math.MaxInt64)
}

// stamp orders the records of a conference by time; own is true if the record arrived here.
type stamp struct {
	atMs        int64
	session     string
	rank        uint64
	arrivedHere bool
}

func (a stamp) compare(b stamp) int {
	return cmp.Or(cmp.Compare(a.atMs, b.atMs), cmp.Compare(a.session, b.session), cmp.Compare(a.rank, b.rank))
}

// after reports whether a is later than b, or is the same record and arrived here.
func (a stamp) after(b stamp) bool {
	order := a.compare(b)
	return order > 0 || order == 0 && a.arrivedHere
}

// mark records the newest activity record of c.
func (s *Set) mark(c *conf, e *event.Event, arrivedMs int64) {
	arrivedHere := arrivedMs != conference.NotArrived
	if !s.shared {
		return
	}
	if arrivedHere { // other processes may have written before it
		c.makePartial()
	}
	if !e.Activity() {
		return
	}
	if at := (stamp{e.AtMs, e.Session, e.Rank(), arrivedHere}); at.after(c.last) {
		if at.session == c.last.session {
			at.session = c.last.session // this one is a copy
		} else {
			at.session = strings.Clone(at.session)
		}
		c.last = at
	}
}

// claim records that a restored record arrived here too.
func (s *Set) claim(e *event.Event, arrivedMs int64) {
	if !s.shared || arrivedMs == conference.NotArrived || !e.Activity() {
		return
	}
	sl := s.keys[key{e.AppID, e.ConferenceID}]
	if sl == nil {
		return
	}
	for _, c := range sl.adjacent(e.AtMs) {
		if at := (stamp{e.AtMs, e.Session, e.Rank(), true}); at.compare(c.last) == 0 {
			c.last.arrivedHere = true
		}
	}
}

// othersMs returns the time until which the process at which the last record of c arrived may emit
// the summary; never if it is this process.
func (s *Set) othersMs(c *conf) int64 {
	if !s.shared || !c.changed || c.last.arrivedHere {
		return never
	}
	return c.span().End + instance.Gap
}

// equalButRevision reports whether two summaries are equal except for the revision.
func equalButRevision(s, o *conference.Summary) bool {
	a := *s
	a.Revision = o.Revision
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(*o)
	return err == nil && bytes.Equal(one, other)
}
