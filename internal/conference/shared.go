package conference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strings"

	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/instance"
)

// A conference of which several processes see a part has one summary: that of the store's
// records. Each process reads them before it tells a summary. The one that saw the last
// record tells it; the others wait as long as silence takes to end a conference, and then
// find it told, or tell it themselves.

// Shared says that other processes write to the same store. No conference is whole then
// until it was restored after the last record that came here.
func (s *Set) Shared() {
	s.shared = true
	s.WholeFrom(math.MaxInt64)
}

// stamp orders the records of a conference by time; own says that the record came here.
type stamp struct {
	atMs    int64
	session string
	rank    uint64
	own     bool
}

func (a stamp) compare(b stamp) int {
	return cmp.Or(cmp.Compare(a.atMs, b.atMs), cmp.Compare(a.session, b.session), cmp.Compare(a.rank, b.rank))
}

// after reports whether a comes after b, or is the same record and came here.
func (a stamp) after(b stamp) bool {
	order := a.compare(b)
	return order > 0 || order == 0 && a.own
}

// mark notes that a new record is in c.
func (s *Set) mark(c *conf, e *event.Event, arrivedMs int64) {
	own := arrivedMs != math.MinInt64
	if !s.shared {
		return
	}
	if own { // others may have written before it
		c.whole, c.asked = false, 0
	}
	if !e.Activity() {
		return
	}
	if at := (stamp{e.AtMs, e.Session, rank(e), own}); at.after(c.last) {
		at.session = strings.Clone(at.session)
		c.last = at
	}
}

// claim notes that a record came here that was restored before.
func (s *Set) claim(e *event.Event, arrivedMs int64) {
	if !s.shared || arrivedMs == math.MinInt64 || !e.Activity() {
		return
	}
	for _, c := range s.keys[key{e.AppID, e.ConferenceID}].confs {
		if at := (stamp{e.AtMs, e.Session, rank(e), true}); at.compare(c.last) == 0 {
			c.last.own = true
		}
	}
}

// othersMs is until when a summary of c is left to those who saw its last record.
func (s *Set) othersMs(c *conf) int64 {
	if !s.shared || !c.changed || c.last.own {
		return math.MinInt64
	}
	return c.span.End + instance.Gap
}

// askForNeighbours asks for the conferences that remarks in c may belong to instead, or
// belonged to before c was there: nobody here may know of them. The outermost remark is the
// nearest to such a neighbour.
func (s *Set) askForNeighbours(c *conf) {
	first, last := c.span.Start, c.span.End
	for _, r := range c.remarks {
		first, last = min(first, r.placeMs), max(last, r.placeMs)
	}
	var at []int64
	if first < c.span.Start {
		at = append(at, first, first-instance.Gap)
	}
	if last > c.span.End {
		at = append(at, last, last+instance.Gap)
	}
	for _, ms := range at {
		s.parts = append(s.parts, Part{c.key.appID, c.key.conferenceID, ms, true})
	}
}

// GoesOn reports that the conference at p has activity in the store, until span.End, that
// is not here, and that there may be more of it: then there is nothing to restore yet, and
// it stands in Parts again when silence would have ended it.
func (s *Set) GoesOn(p Part, span instance.Span, nowMs int64) bool {
	if !s.shared || nowMs > span.End+instance.Gap {
		return false
	}
	goes := false
	for _, c := range s.at(p) {
		if c.active && c.span.End < span.End {
			c.asked = 0
			s.schedule(c, span.End+instance.Gap)
			goes = true
		}
	}
	return goes
}

// same reports whether two summaries differ in nothing but the revision.
func (s *Summary) same(o Summary) bool {
	a := *s
	a.Revision = o.Revision
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(o)
	return err == nil && bytes.Equal(one, other)
}
