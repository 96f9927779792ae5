package fleet

import (
	"time"

	"github.com/qosrtc/qos/internal/call/event"
)

// Fabric is one PeerConnection of a session in a conference.
type Fabric struct {
	Number       int // in its session
	RemoteUserID string
	RemoteAlias  string
	RemoteType   string // peer or server
	Usage        string
	AddedAtMs    int64
}

// Step is one action of a session, which is one frame on the wire. One of Event, Stats, Error,
// Feedback and Lost is set.
type Step struct {
	AtMs       int64
	Conference *Conference
	Session    *Session
	Fabric     *Fabric // nil: the step belongs to the conference as a whole
	Seq        uint64  // of the session, ascending in time

	Event    *Happening
	Stats    *Stats
	Error    *Failure
	Feedback *event.Feedback
	Lost     *event.Lost
}

func (s *Step) before(o *Step) bool {
	if s.AtMs != o.AtMs {
		return s.AtMs < o.AtMs
	}
	return s.Conference.number < o.Conference.number
}

// Happening is a fabric event.
type Happening struct{ Name, Data string } // Data is JSON

// Stats is one measurement of a fabric.
type Stats struct {
	IntervalMs float64
	Rows       []event.Measurement // without scores
}

// Failure is a failure that the application reported.
type Failure struct {
	Function string
	event.Error
}

// Truth counts the facts of the day, from which components compute metrics.
type Truth struct {
	Sessions    map[SessionKey]int // of ended conferences, those without a fabric too
	Fabrics     map[SiteKey]int
	Setups      map[SiteKey]int // fabrics that were connected
	Failures    map[StageKey]int
	Disruptions map[SiteKey]int
	Errors      map[FunctionKey]int
	Ratings     map[RatingKey]int
	LostFrames  map[string]int // by app
}

// SiteKey is an app and a site.
type SiteKey struct{ App, Site string }

// SessionKey counts sessions.
type SessionKey struct {
	App, Site, Browser string
	Major              int
}

// StageKey counts failed fabrics.
type StageKey struct{ App, Site, Stage string }

// FunctionKey counts reported failures.
type FunctionKey struct{ App, ApplicationVersion, Function string }

// RatingKey counts ratings.
type RatingKey struct {
	App, Site string
	Overall   int
}

func newTruth() Truth {
	return Truth{
		map[SessionKey]int{},
		map[SiteKey]int{},
		map[SiteKey]int{},
		map[StageKey]int{},
		map[SiteKey]int{},
		map[FunctionKey]int{},
		map[RatingKey]int{},
		map[string]int{},
	}
}

// count computes the truth of the whole day.
func (d *Day) count() {
	d.Truth = newTruth()
	for i := range d.Conferences {
		c := &d.Conferences[i]
		for _, step := range d.script(c, time.Duration(0)).steps {
			d.Truth.add(&step)
			d.countPlanted(&step)
		}
	}
}

func (t *Truth) add(s *Step) {
	p := s.Session
	at := SiteKey{p.AppID, p.SiteID}
	if s.Seq == 1 {
		t.Sessions[SessionKey{at.App, at.Site, p.Browser.Family, p.Browser.Major}]++
	}
	switch {
	case s.Event != nil:
		t.addEvent(s, at)
	case s.Error != nil:
		t.Errors[FunctionKey{p.AppID, p.ApplicationVersion, s.Error.Function}]++
	case s.Feedback != nil:
		t.Ratings[RatingKey{p.AppID, p.SiteID, *s.Feedback.Overall}]++
	case s.Lost != nil:
		t.LostFrames[p.AppID] += s.Lost.Stats + s.Lost.Events
	}
}

func (t *Truth) addEvent(s *Step, at SiteKey) {
	switch s.Event.Name {
	case "fabricAdded":
		t.Fabrics[at]++
	case "fabricSetup":
		t.Setups[at]++
	case "fabricSetupFailed":
		t.Failures[StageKey{at.App, at.Site, event.ParseData(s.Event.Name, []byte(s.Event.Data)).Stage}]++
	case "iceDisruptionStart":
		t.Disruptions[at]++
	}
}

// countPlanted counts a step for each planted cause in whose scope its fabric was added.
func (d *Day) countPlanted(s *Step) {
	at := s.AtMs
	if s.Fabric != nil {
		at = s.Fabric.AddedAtMs
	}
	_, of := d.effect(s.Session, at)
	for _, i := range of {
		c := &d.Planted[i]
		switch {
		case s.Error != nil && s.Error.Function == FunctionCreateOffer:
			c.Errors++
		case s.Event == nil:
		case s.Event.Name == "fabricAdded":
			c.Fabrics++
			if s.Fabric.Number == 1 {
				c.Sessions++
			}
		case s.Event.Name == "fabricSetupFailed" && s.Conference.ending == regular:
			c.Failed++
		}
	}
}
