package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
	"github.com/qosrtc/qos/tests/network"
)

// Scenario describes a call.
type Scenario struct {
	Name     string
	Label    cause.Label // what impairs the call, and what has to be found
	Users    []string
	Guests   []string      // participants without a page
	Viewers  []string      // users who send nothing
	Topology Topology      // nil: Mesh
	Browser  string        // of all members; empty: Chromium
	Prepare  func(c *Call) // changes members before they join; nil: nothing
	Act      func(c *Call) // impairs the call after media flowed for Lasts.Well; nil: nothing
	Starved  Starvation    // begins with Act
	Kinds    []string      // media that flow at first; nil: audio and video
	Fails    bool          // media never flow, and Act does not wait for them
	Lasts    Length        // the zero value: the length that Play gets
	Gone     int           // participants that give no feedback at the end
}

// Length is the time before and after a call is impaired. Measurements have intervals of 2 s.
type Length struct{ Well, Impaired time.Duration }

// Lengths of calls. Brief is enough for faults of networks, and of connections that are never established.
var (
	Full  = Length{5 * time.Second, 19 * time.Second}
	Brief = Length{3 * time.Second, 8 * time.Second}
)

// Users of calls.
var (
	Two   = []string{"ada", "ben"}
	Three = []string{"ada", "ben", "cyd"}
)

// Play makes the call in a room, and returns when all have left. All members but a starved one share a browser.
func (s *Scenario) Play(t *testing.T, stage *Stage, room string, shared *browser.Browser, lasts Length) {
	t.Helper()
	c := &Call{T: t, Stage: stage, Room: room, Topology: s.Topology}
	if c.Topology == nil {
		c.Topology = Mesh{}
	}
	for _, user := range s.Users {
		c.People = append(c.People, Person(user))
	}
	if s.Prepare != nil {
		s.Prepare(c)
	}
	for _, user := range s.Viewers {
		c.Of(user).Media = Source{}
	}
	c.Connect()
	own := map[string]*browser.Browser{}
	if s.Starved.Who != "" {
		own[s.Starved.Who] = browser.Start(t, shared.Kind)
	}
	c.Join(shared, own)
	if s.Lasts.Well > 0 {
		lasts = s.Lasts
	}
	if !s.Fails {
		kinds := s.Kinds
		if kinds == nil {
			kinds = []string{"audio", "video"}
		}
		c.Flow(kinds...)
		c.Continue(lasts.Well)
	}
	if s.Starved.Who != "" {
		s.Starved.begin(c, own[s.Starved.Who])
	}
	if s.Act != nil {
		s.Act(c)
	}
	c.Continue(lasts.Impaired)
	if s.Starved.Who != "" {
		s.Starved.end(c, own[s.Starved.Who])
	}
	c.Leave()
}

// Each returns a function that does all in their order. A nil function does nothing.
func Each(do ...func(*Call)) func(*Call) {
	return func(c *Call) {
		for _, one := range do {
			if one != nil {
				one(c)
			}
		}
	}
}

// ForAll changes each participant.
func ForAll(do func(*Member)) func(*Call) {
	return func(c *Call) {
		for _, m := range c.People {
			do(m)
		}
	}
}

// SoundOnly leaves a participant without a camera.
func SoundOnly(m *Member) { m.Media.Video = "" }

// High lets a participant send pictures of 480p, which need more than a narrow link has.
func High(m *Member) { m.Media.Height, m.Media.FPS = 480, 25 }

// Edges relays all media of each participant through an edge of that participant.
func Edges(c *Call) {
	for i, m := range c.People {
		m.Edge = network.StartEdge(c.T, uint64(i+1))
	}
}

// EdgeFor relays all media of one participant through an edge.
func EdgeFor(user string) func(*Call) {
	return func(c *Call) { c.Of(user).Edge = network.StartEdge(c.T, 7) }
}

// Connected does something after the call's topology has set all remotes.
func Connected(do func(c *Call)) func(*Call) {
	return func(c *Call) { c.connected = append(c.connected, func() { do(c) }) }
}

// Remotes changes all remotes of a participant after the call's topology has set them.
func Remotes(user string, change func(*Remote)) func(*Call) {
	return Connected(func(c *Call) {
		remotes := c.Of(user).Remotes
		for i := range remotes {
			change(&remotes[i])
		}
	})
}

// EdgeBetween relays the media between two participants, and no others, through an edge, for OnPath.
func EdgeBetween(from, to string) func(*Call) {
	return func(c *Call) {
		e := network.StartEdge(c.T, 9)
		c.paths = map[[2]string]*network.Edge{{from, to}: e}
		Remotes(from, func(r *Remote) {
			if r.User == to {
				r.ICE = Through(e)
			}
		})(c)
	}
}

// OnPath sets the harm of an EdgeBetween, each way.
func OnPath(from, to string, h network.Harm) func(*Call) {
	return func(c *Call) {
		e := c.paths[[2]string{from, to}]
		e.Up.Set(h)
		e.Down.Set(h)
	}
}

// Up sets the harm of what a participant sends through an edge.
func Up(user string, h network.Harm) func(*Call) {
	return func(c *Call) { c.Of(user).Edge.Up.Set(h) }
}

// Down sets the harm of what a participant receives through an edge.
func Down(user string, h network.Harm) func(*Call) {
	return func(c *Call) { c.Of(user).Edge.Down.Set(h) }
}

// Both sets the harm of both directions of a participant's edge.
func Both(user string, h network.Harm) func(*Call) { return Each(Up(user, h), Down(user, h)) }

// Everywhere sets the harm of both directions of each participant's edge.
func Everywhere(h network.Harm) func(*Call) {
	return func(c *Call) {
		for _, m := range c.People {
			Both(m.User, h)(c)
		}
	}
}

// InPage evaluates an expression in a participant's page.
func InPage(user, expression string) func(*Call) {
	return func(c *Call) { c.Of(user).Page.Run(expression) }
}

// InServer evaluates an expression in the page of a Forwarder.
func InServer(expression string) func(*Call) {
	return func(c *Call) { c.Server.Page.Run(expression) }
}

// Wait returns when a part of the call is over.
func Wait(d time.Duration) func(*Call) { return func(c *Call) { c.Continue(d) } }

// WrongTURN leaves a participant no candidates but those of a TURN server, and a wrong password for it.
func WrongTURN(user string) func(*Call) {
	return func(c *Call) {
		e := network.StartEdge(c.T, 3)
		Remotes(user, func(r *Remote) { r.ICE = ThroughTURN(e.URL, "wrong") })(c)
	}
}

// NeverAnswers lets a participant's page never answer an offer.
func NeverAnswers(user string) func(*Call) {
	return Remotes(user, func(r *Remote) { r.NeverAnswers = true })
}

// NeverOffers lets a participant's page make no offer.
func NeverOffers(user string) func(*Call) { return Remotes(user, func(r *Remote) { r.Offers = false }) }

// NoCandidates lets a participant's page send no candidates.
func NoCandidates(user string) func(*Call) {
	return Remotes(user, func(r *Remote) { r.NoCandidates = true })
}

// Reports lets a participant's application report an error of a function of WebRTC, for its last connection.
func Reports(user, function, name string) func(*Call) {
	return InPage(user, fmt.Sprintf("report([...call.pcs.values()].at(-1), %q, new DOMException('arranged', %q))", function, name))
}
