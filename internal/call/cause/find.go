package cause

import (
	"cmp"
	"math"
	"slices"
)

// call is a Call in a fixed order.
type call struct {
	people  []Person // sorted by session; remote ends without the library are last and have none
	named   map[string][]int
	errors  map[string]int
	good    bool
	linked, // connections of each person
	failed []int // those that failed or broke
	slow       int    // the only person who measures late; noPerson
	cpuStarved []bool // people whose machine had too little processor time
	connected, // measured connections, by person and other end
	receives map[arrival]bool // received streams, by person, other end and medium
}

// maxEvidence bounds the evidence of one finding, maxOthers the causes beside it.
const (
	maxEvidence = 8
	maxOthers   = 3
)

// Find returns the likely cause of a call.
func Find(given Call) Verdict {
	c := newCall(given)
	pairings := c.pairings()
	legs := c.measure(pairings)
	findings := slices.Concat(c.reported(), c.refusedPlayouts(), c.unconnected(), c.serverFaults(pairings, legs))
	if !c.good {
		findings = append(findings, c.inferred(pairings, legs)...)
	}
	slices.SortStableFunc(findings, byOrder)
	for i := range findings { // once, before verdict copies each to all affected participants
		findings[i].bound()
	}
	return c.verdict(findings, legs)
}

// inferred returns the findings that the quality of the media implies: about machines, devices, applications
// and networks. A good call has none of them.
func (c *call) inferred(pairings []pairing, legs []*leg) []Finding {
	c.findSlow()
	machines := c.pace(c.machines(pairings), legs)
	c.findCPUStarved(machines)
	return slices.Concat(machines, c.sources(), c.network(legs))
}

// newCall copies what is sorted: by session, number and SSRC.
func newCall(given Call) *call {
	c := &call{people: slices.Clone(given.People), errors: given.Errors, good: given.Good}
	slices.SortFunc(c.people, func(a, b Person) int { return cmp.Compare(a.Session, b.Session) })
	c.addUnmeasured()
	c.connections()
	c.findReceived()
	return c
}

// addUnmeasured adds a person without a session for each remote end without the library, which
// may be at fault too.
func (c *call) addUnmeasured() {
	c.named = make(map[string][]int, len(c.people))
	for i := range c.people {
		c.nameAs(i, c.people[i].Users)
	}
	for i := range c.people {
		for j := range c.people[i].Fabrics {
			f := &c.people[i].Fabrics[j]
			if f.Server || slices.ContainsFunc(f.Remote, func(name string) bool { return len(c.named[name]) > 0 }) {
				continue
			}
			c.people = append(c.people, Person{Users: f.Remote})
			c.nameAs(len(c.people)-1, f.Remote)
		}
	}
}

func (c *call) nameAs(i int, names []string) {
	for _, name := range names {
		if !slices.Contains(c.named[name], i) {
			c.named[name] = append(c.named[name], i)
		}
	}
}

func (c *call) eachStream(do func(i int, f *Fabric, s *Stream)) {
	for i := range c.people {
		for j := range c.people[i].Fabrics {
			f := &c.people[i].Fabrics[j]
			for k := range f.Streams {
				do(i, f, &f.Streams[k])
			}
		}
	}
}

func (c *call) verdict(findings []Finding, legs []*leg) Verdict {
	v := Verdict{People: make(map[string]Finding, len(c.people))}
	bySession := make(map[string][]Finding, len(c.people))
	for _, f := range findings {
		has := map[string]bool{"": true}
		for _, session := range append([]string{f.Session}, f.affects...) {
			if !has[session] && len(bySession[session]) <= maxOthers {
				has[session] = true
				bySession[session] = append(bySession[session], f)
			}
		}
	}
	anyBad, anyUnmeasured, harmed, interrupted := false, false, c.harmedPeople(legs), c.interrupted()
	for i := range c.people {
		p := &c.people[i]
		if p.Session == "" {
			continue
		}
		wrong := p.Bad || !c.good && (c.receivesNothing(i) || c.wasCutOff(i) || harmed[i] || interrupted[i])
		v.People[p.Session] = choose(bySession[p.Session], wrong, c.hasUnmeasuredPeer(i))
		anyBad, anyUnmeasured = anyBad || wrong, anyUnmeasured || c.hasUnmeasuredPeer(i)
	}
	v.Call = choose(findings, anyBad, anyUnmeasured)
	return v
}

// hasUnmeasuredPeer reports whether a participant has a connection, or an attempt at one, to an end
// without the library.
func (c *call) hasUnmeasuredPeer(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool {
		other := c.peer(i, &f)
		return other >= 0 && c.people[other].Session == ""
	})
}

// receivesNothing reports whether an end without the library sent no packet over one of the
// participant's connections. That end may only listen, or be unable to send.
func (c *call) receivesNothing(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool {
		other := c.peer(i, &f)
		return f.Media && f.Connected && measured(&f) && other >= 0 && c.people[other].Session == "" &&
			!slices.ContainsFunc(f.Streams, func(s Stream) bool { return !s.Sends && s.Packets > 0 })
	})
}

// wasCutOff reports whether a connection of a participant was cut off to an end that may have left.
func (c *call) wasCutOff(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool {
		return f.cutOff() && c.mayHaveLeft(i, &f)
	})
}

// choose returns the first finding if its confidence is at least sure. Else it returns Unknown where
// something was wrong, and None, without other causes, where nothing was.
func choose(findings []Finding, wrong, unmeasured bool) Finding {
	if len(findings) == 0 || findings[0].Confidence < sure {
		f := Finding{Cause: None, Confidence: 0.6} // the absence of findings is no proof
		if unmeasured {
			f.Confidence = sure
		}
		if wrong {
			f = Finding{Cause: Unknown, Others: otherCauses(findings, Finding{})}
		}
		return finish(f)
	}
	f := findings[0]
	f.Others = append(slices.Clone(f.Others), otherCauses(findings[1:], f)...)
	return finish(f)
}

func otherCauses(findings []Finding, than Finding) (list []Other) {
	for _, f := range findings {
		if f.Cause != than.Cause || f.Session != than.Session {
			list = append(list, Other{f.Cause, f.Session, f.Confidence})
		}
	}
	return list
}

// finish returns the finding for output: rounded, with bounded non-nil lists and without working fields.
func finish(f Finding) Finding {
	f.Confidence, f.affects, f.legs = round(f.Confidence), nil, 0
	f.bound()
	return f
}

// bound makes the lists distinct and bounds them.
func (f *Finding) bound() {
	f.Evidence = distinctEvidence(f.Evidence)
	f.Evidence = f.Evidence[:min(len(f.Evidence), maxEvidence)]
	f.Others = distinctOthers(f.Others)
	f.Others = f.Others[:min(len(f.Others), maxOthers)]
}

// distinctOthers returns each cause of each participant once, with its highest confidence.
func distinctOthers(list []Other) []Other {
	return distinct(list, func(o *Other) Other { return Other{Cause: o.Cause, Session: o.Session} }, func(o *Other) float64 { return o.Confidence })
}

// distinctEvidence returns each metric of each participant once, with its highest value.
func distinctEvidence(all []Evidence) []Evidence {
	return distinct(all, func(e *Evidence) [3]string { return [3]string{e.Metric, e.Session, e.MediaType} }, func(e *Evidence) float64 { return e.Value })
}

// distinct returns for each key the element with the highest value. A conference may have tens of thousands.
func distinct[T any, K comparable](all []T, key func(*T) K, value func(*T) float64) []T {
	once, at := make([]T, 0, len(all)), make(map[K]int, len(all))
	for i := range all {
		k := key(&all[i])
		switch have, known := at[k]; {
		case !known:
			at[k] = len(once)
			once = append(once, all[i])
		case value(&all[i]) > value(&once[have]):
			once[have] = all[i]
		}
	}
	return once
}

// round rounds to four decimals for output. JSON has no infinite number and no NaN.
func round(v float64) float64 {
	const most = 1e12
	if math.IsNaN(v) {
		return 0
	}
	return math.Round(min(most, max(-most, v))*1e4) / 1e4
}
