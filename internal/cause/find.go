package cause

import (
	"cmp"
	"math"
	"slices"
)

// call is a Call in a fixed order.
type call struct {
	people  []Person // those without a session were not measured, and come last
	named   map[string][]int
	errors  map[string]int
	good    bool
	linked, // connections of each person
	failed []int // those that failed or broke
	slow       int    // the only person who measures late; nobody
	cpuStarved []bool // people whose machine had too little processor time
	hears,     // connections, by person and the other end
	receives map[arrival]bool
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
	findings := slices.Concat(c.reported(), c.refusedPlayouts(), c.unconnected(), c.forwarded(pairings, legs))
	if !c.good {
		findings = append(findings, c.inferred(pairings, legs)...)
	}
	slices.SortStableFunc(findings, byOrder)
	for i := range findings { // before each is given to all whom it concerns
		findings[i].bound()
	}
	return c.verdict(findings, legs)
}

// inferred returns the findings that follow from what the media were like: about machines, devices, applications and networks.
// A good call has none of them: what nobody saw, heard or reported harmed nobody.
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
	c.listen()
	return c
}

// addUnmeasured adds a person without a session for each remote end without the library: it may
// be at fault as well.
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
	mine := make(map[string][]Finding, len(c.people))
	for _, f := range findings {
		has := map[string]bool{"": true}
		for _, session := range append([]string{f.Session}, f.affects...) {
			if !has[session] && len(mine[session]) <= maxOthers {
				has[session] = true
				mine[session] = append(mine[session], f)
			}
		}
	}
	anyBad, anyUnmeasured, harmed, interrupted := false, false, c.harmedPeople(legs), c.interrupted()
	for i := range c.people {
		p := &c.people[i]
		if p.Session == "" {
			continue
		}
		wrong := p.Bad || !c.good && (c.receivesNothing(i) || c.lost(i) || harmed[i] || interrupted[i])
		v.People[p.Session] = choose(mine[p.Session], wrong, c.hasUnmeasuredPeer(i))
		anyBad, anyUnmeasured = anyBad || wrong, anyUnmeasured || c.hasUnmeasuredPeer(i)
	}
	v.Call = choose(findings, anyBad, anyUnmeasured)
	return v
}

// hasUnmeasuredPeer reports whether a participant was to be connected with an end without the
// library.
func (c *call) hasUnmeasuredPeer(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool {
		other := c.peer(i, &f)
		return other >= 0 && c.people[other].Session == ""
	})
}

// receivesNothing reports whether a connection exists over which its other end, which has no
// library, sent no packet. That end may only listen, or be unable to send.
func (c *call) receivesNothing(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool {
		other := c.peer(i, &f)
		return f.Media && f.Connected && measured(&f) && other >= 0 && c.people[other].Session == "" &&
			!slices.ContainsFunc(f.Streams, func(s Stream) bool { return !s.Sends && s.Packets > 0 })
	})
}

// lost reports whether a connection of a participant was cut off, and its other end may have left.
func (c *call) lost(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool {
		return f.cutOff() && c.mayHaveLeft(i, &f)
	})
}

// choose returns the first finding that is sure enough; without one, Unknown where something was
// wrong, and None else, beside which no other cause is listed.
func choose(findings []Finding, wrong, unmeasured bool) Finding {
	if len(findings) == 0 || findings[0].Confidence < sure {
		f := Finding{Cause: None, Confidence: 0.6} // the absence of findings is no proof
		if unmeasured {
			f.Confidence = sure
		}
		if wrong {
			f = Finding{Cause: Unknown, Others: others(findings, Finding{})}
		}
		return finished(f)
	}
	f := findings[0]
	f.Others = append(slices.Clone(f.Others), others(findings[1:], f)...)
	return finished(f)
}

func others(findings []Finding, than Finding) (list []Other) {
	for _, f := range findings {
		if f.Cause != than.Cause || f.Session != than.Session {
			list = append(list, Other{f.Cause, f.Session, f.Confidence})
		}
	}
	return list
}

// finished rounds numbers, bounds the lists, of which it makes none null, and clears the working fields.
func finished(f Finding) Finding {
	f.Confidence, f.affects, f.legs = round(f.Confidence), nil, 0
	f.bound()
	return f
}

// bound bounds the lists.
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

// distinct returns each element once, by its key, with the highest value. A conference may have tens of thousands.
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
