package fleet

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/qosrtc/qos/internal/call/event"
)

// Probabilities without any planted cause.
const (
	pFailure     = 0.01  // of a fabric; of a pair of peers of both ends together
	pCreateOffer = 0.015 // of a session; the session continues
	pNoDevice    = 0.01  // of a session, which then has no fabric
	pDisruption  = 0.03  // of a fabric
	pMute        = 0.4   // of a session
	pFeedback    = 0.3   // of a session
	pSkip        = 0.01  // of a session
	setupMs      = 350.0 // median setup delay without a relay and a round-trip time
)

// script is the script of one conference while it is written.
type script struct {
	day   *Day
	c     *Conference
	r     *rand.Rand // of the actions
	noise *rand.Rand // of the measurements, which may be left out
	every time.Duration
	steps []Step
}

// script writes the script of a conference.
func (d *Day) script(c *Conference, every time.Duration) *script {
	s := &script{day: d, c: c, every: every, r: rand.New(rand.NewPCG(d.Seed, 2*c.number)), noise: rand.New(rand.NewPCG(d.Seed, 2*c.number+1))}
	for _, p := range c.Sessions {
		p.fabrics = 0
	}
	joined := s.join()
	if c.app.Endpoint == server || len(joined) == 1 {
		for _, p := range joined {
			s.connect(p, nil)
		}
	} else {
		for i, a := range joined {
			for _, b := range joined[:i] {
				s.connect(a, b)
			}
		}
	}
	for _, p := range joined {
		s.accompany(p)
	}
	s.number()
	return s
}

// number sorts the steps and numbers those of each session.
func (s *script) number() {
	slices.SortStableFunc(s.steps, func(a, b Step) int { return cmp.Compare(a.AtMs, b.AtMs) })
	seq := map[*Session]uint64{}
	for i := range s.steps {
		step := &s.steps[i]
		seq[step.Session]++
		step.Seq = seq[step.Session]
	}
}

func (s *script) chance(p float64) bool { return s.r.Float64() < p }

// add adds a step and returns it to be filled. Nothing follows the end of a dropped conference.
func (s *script) add(p *Session, f *Fabric, atMs int64) *Step {
	step := Step{AtMs: atMs, Conference: s.c, Session: p, Fabric: f}
	if s.c.ending == dropped && atMs > s.c.EndMs {
		return &step
	}
	s.steps = append(s.steps, step)
	return &s.steps[len(s.steps)-1]
}

func (s *script) event(p *Session, f *Fabric, atMs int64, name, data string) {
	s.add(p, f, atMs).Event = &Happening{name, data}
}

// join returns the sessions that get a microphone, and reports the failures of others.
func (s *script) join() (joined []*Session) {
	for _, p := range s.c.Sessions {
		if s.chance(pNoDevice) {
			s.add(p, nil, p.joinMs).Error = &Failure{FunctionGetUserMedia, event.Error{Name: "NotAllowedError", Message: "Permission denied"}}
			continue
		}
		joined = append(joined, p)
	}
	return joined
}

// accompany adds the steps of a session that are independent of its fabrics.
func (s *script) accompany(p *Session) {
	effect, _ := s.day.effect(p, p.joinMs)
	if s.chance(pCreateOffer * effect.ErrorFactor) {
		s.add(p, nil, p.joinMs+200).Error = &Failure{FunctionCreateOffer, event.Error{Name: "OperationError", Message: "createOffer failed"}}
	}
	if s.chance(pSkip) {
		s.add(p, nil, p.joinMs+5000).Lost = &event.Lost{Stats: 1 + s.r.IntN(5), Events: s.r.IntN(2)}
	}
	if s.chance(pFeedback) {
		overall := s.rating(p)
		s.add(p, nil, p.leaveMs+1000).Feedback = &event.Feedback{UserID: p.UserID, Alias: p.Alias, Overall: &overall}
	}
}

// rating is lower where the network was bad.
func (s *script) rating(p *Session) int {
	effect, _ := s.day.effect(p, p.joinMs)
	if s.c.ending != regular || effect.LossFraction > 0 || p.network.badToMs > 0 {
		return 1 + s.r.IntN(3)
	}
	return 3 + pick(s.r, []float64{0.1, 0.4, 0.5}, func(w float64) float64 { return w })
}

// connection is a fabric of one or both ends of a connection, while its script is written.
type connection struct {
	ends   []*Session
	others []*Session // of each end; nil: a server
	fabs   []*Fabric
	atMs   int64
	effect Effect
	relay  string
	failed bool
}

// connect writes the script of the connection of a session to another one, or to the server.
func (s *script) connect(a, b *Session) {
	n := &connection{ends: []*Session{a}, others: []*Session{b}, atMs: a.joinMs + 300}
	n.effect, _ = s.day.effect(a, n.atMs)
	n.relay = a.relay
	if b != nil {
		n.ends, n.others = append(n.ends, b), append(n.others, a)
		n.atMs = max(a.joinMs, b.joinMs) + 300
		n.effect, _ = s.day.effect(a, n.atMs)
		other, _ := s.day.effect(b, n.atMs)
		n.effect.FailureFactor = max(n.effect.FailureFactor, other.FailureFactor)
		n.effect.SetupFactor = max(n.effect.SetupFactor, other.SetupFactor)
		n.effect.DisruptionFactor = max(n.effect.DisruptionFactor, other.DisruptionFactor)
		n.effect.RelaysFail = n.effect.RelaysFail && a.relay != "" || other.RelaysFail && b.relay != ""
		n.relay = cmp.Or(a.relay, b.relay)
	}
	for i, p := range n.ends {
		n.fabs = append(n.fabs, s.fabric(p, n.others[i], n.atMs))
		s.event(p, n.fabs[i], n.atMs, "fabricAdded", `{"alreadyConnected":false}`)
	}
	n.failed = s.chance(pFailure*n.effect.FailureFactor) || n.effect.RelaysFail && n.relay != ""
	s.live(n)
}

func (s *script) fabric(p, other *Session, atMs int64) *Fabric {
	p.fabrics++
	f := &Fabric{
		Number: p.fabrics, AddedAtMs: atMs, Usage: s.c.app.Usage, RemoteType: s.c.app.Endpoint,
		RemoteUserID: "sfu", RemoteAlias: "sfu",
	}
	if other != nil {
		f.RemoteUserID, f.RemoteAlias = other.UserID, other.Alias
	}
	return f
}

// live writes a connection from its setup to its end.
func (s *script) live(n *connection) {
	switch {
	case s.c.ending == missed:
		s.fail(n, "noRemoteDescription", "terminated", 20_000)
		return
	case s.c.ending == aborted:
		s.describe(n)
		s.fail(n, "connectivity", "terminated", 2500)
		return
	case n.failed:
		s.describe(n)
		stage := "connectivity"
		if n.relay == "" && s.chance(0.2) {
			stage = "dtls"
		}
		s.fail(n, stage, "failed", 15_000)
		return
	}
	s.describe(n)
	delay := s.setupMs(n)
	for i, p := range n.ends {
		s.event(p, n.fabs[i], n.atMs+int64(delay), "fabricSetup", s.setupData(n, p, delay))
	}
	start, end := n.atMs+int64(delay), s.c.EndMs
	for _, p := range n.ends {
		end = min(end, p.leaveMs)
	}
	s.disrupt(n, start, end)
	for i, p := range n.ends {
		s.mute(p, n.fabs[i], start, end)
		s.measure(n, i, start, end)
		if s.c.ending != dropped {
			s.event(p, n.fabs[i], max(end, start+500), "fabricTerminated", `{"reason":"application","measurementFollows":false}`)
		}
	}
}

func (s *script) describe(n *connection) {
	for i, p := range n.ends {
		s.event(p, n.fabs[i], n.atMs+80, "remoteDescriptionSet", `{}`)
	}
}

// fail ends a connection before it was one. The application closes it 2 s after ICE failed.
func (s *script) fail(n *connection, stage, reason string, afterMs int64) {
	for i, p := range n.ends {
		s.event(p, n.fabs[i], n.atMs+afterMs, "fabricSetupFailed", fmt.Sprintf(`{"stage":%q,"failureMs":%d,"reason":%q}`, stage, afterMs, reason))
		if reason == "failed" {
			s.event(p, n.fabs[i], n.atMs+afterMs+2000, "fabricTerminated", `{"reason":"application","measurementFollows":false}`)
		}
	}
}

// setupMs draws a setup delay: some round trips, more over a relay.
func (s *script) setupMs(n *connection) float64 {
	rtt := n.ends[0].network.rttMs
	delay := (setupMs + 6*rtt) * (0.6 + 0.8*s.r.Float64())
	if n.relay != "" {
		delay *= 1.8
	}
	return min(delay*n.effect.SetupFactor, 20_000)
}

func (s *script) setupData(n *connection, p *Session, delay float64) string {
	local, relay := "srflx", "null"
	if p.relay != "" {
		local, relay = "relay", fmt.Sprintf("%q", p.relay)
	}
	remote := "host"
	if n.relay != "" && p.relay == "" {
		remote = "relay"
	}
	return fmt.Sprintf(`{"setupMs":%.0f,"gatheringMs":%.0f,"connectivityMs":%.0f,"localCandidateType":%q,"remoteCandidateType":%q,"relayProtocol":%s}`,
		delay, delay*0.3, delay*0.5, local, remote, relay)
}

func (s *script) disrupt(n *connection, start, end int64) {
	if !s.chance(pDisruption*n.effect.DisruptionFactor) || end-start < 20_000 {
		return
	}
	at, lasts := start+5000+s.r.Int64N(end-start-15_000), 1000+s.r.Int64N(7000)
	for i, p := range n.ends {
		s.event(p, n.fabs[i], at, "iceDisruptionStart", `{"iceConnectionState":"disconnected"}`)
		s.event(p, n.fabs[i], at+lasts, "iceDisruptionEnd", fmt.Sprintf(`{"durationMs":%d}`, lasts))
	}
}

func (s *script) mute(p *Session, f *Fabric, start, end int64) {
	if !s.chance(pMute) || end-start < 30_000 {
		return
	}
	at := start + 5000 + s.r.Int64N((end-start)/2)
	s.event(p, f, at, "audioMute", `{}`)
	s.event(p, f, min(at+5000+s.r.Int64N(60_000), end-1000), "audioUnmute", `{}`)
}
