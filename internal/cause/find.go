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
	linked, // connections of each person
	failed []int // those that failed or broke
	slow  int    // who alone measures late; nobody
	weary []bool // whose machine had too little processor
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
	findings := c.reported()
	findings = append(findings, c.unconnected()...)
	machines := c.machines(pairings)
	legs := c.measure(pairings)
	c.findSlow()
	machines = c.pace(machines, legs)
	c.findWeary(machines)
	findings = append(findings, machines...)
	findings = append(findings, c.sources(pairings)...)
	findings = append(findings, c.network(legs)...)
	slices.SortStableFunc(findings, byOrder)
	return c.verdict(findings, legs)
}

// newCall copies what is sorted: by session, number and SSRC.
func newCall(given Call) *call {
	c := &call{people: slices.Clone(given.People), errors: given.Errors}
	slices.SortFunc(c.people, func(a, b Person) int { return cmp.Compare(a.Session, b.Session) })
	c.addUnmeasured()
	c.connections()
	return c
}

// addUnmeasured makes a person without a session of each remote end that told nothing: it
// may be at fault as well.
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
		told := map[string]bool{"": true}
		for _, session := range append([]string{f.Session}, f.affects...) {
			if !told[session] && len(mine[session]) <= maxOthers {
				told[session] = true
				mine[session] = append(mine[session], f)
			}
		}
	}
	anyBad, anyUnmeasured, uneasy := false, false, restless(legs)
	for i := range c.people {
		p := &c.people[i]
		if p.Session == "" {
			continue
		}
		wrong := p.Bad || c.hearsNobody(i) || uneasy[i]
		v.People[p.Session] = choose(mine[p.Session], wrong, c.unmeasured(i))
		anyBad, anyUnmeasured = anyBad || wrong, anyUnmeasured || c.unmeasured(i)
	}
	v.Call = choose(findings, anyBad, anyUnmeasured)
	return v
}

// unmeasured: somebody whom a participant was to be connected with told nothing.
func (c *call) unmeasured(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool {
		other := c.peer(i, &f)
		return other >= 0 && c.people[other].Session == ""
	})
}

// hearsNobody: a connection stands, and from its other end, which told nothing, not one packet
// came. Whoever is there may only listen, or cannot send.
func (c *call) hearsNobody(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool {
		other := c.peer(i, &f)
		return f.Media && f.Connected && measured(&f) && other >= 0 && c.people[other].Session == "" &&
			!slices.ContainsFunc(f.Streams, func(s Stream) bool { return !s.Sends && s.Packets > 0 })
	})
}

// choose takes the first that is sure enough. Where something was wrong and there is none,
// nobody knows.
func choose(findings []Finding, wrong, unmeasured bool) Finding {
	if len(findings) == 0 || findings[0].Confidence < sure {
		f := Finding{Cause: None, Confidence: 0.6} // that nothing was found is no proof
		if unmeasured {
			f.Confidence = sure
		}
		if wrong {
			f = Finding{Cause: Unknown}
		}
		f.Others = others(findings, f)
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

// finished rounds, bounds, leaves no list null, and forgets what only led to it.
func finished(f Finding) Finding {
	f.Confidence, f.affects, f.legs = round(f.Confidence), nil, 0
	f.Evidence = toldOnce(f.Evidence)
	f.Evidence = f.Evidence[:min(len(f.Evidence), maxEvidence)]
	f.Others = namedOnce(f.Others)
	f.Others = f.Others[:min(len(f.Others), maxOthers)]
	return f
}

// namedOnce leaves each cause of each participant once, as sure as it was found most surely.
func namedOnce(list []Other) []Other {
	once := []Other{}
	for _, o := range list {
		at := slices.IndexFunc(once, func(before Other) bool { return before.Cause == o.Cause && before.Session == o.Session })
		if at < 0 {
			once = append(once, o)
			continue
		}
		once[at].Confidence = max(once[at].Confidence, o.Confidence)
	}
	return once
}

// toldOnce leaves of what one participant saw in several connections the worst.
func toldOnce(all []Evidence) []Evidence {
	once := make([]Evidence, 0, len(all))
	for _, e := range all {
		i := slices.IndexFunc(once, func(o Evidence) bool {
			return o.Metric == e.Metric && o.Session == e.Session && o.MediaType == e.MediaType
		})
		switch {
		case i < 0:
			once = append(once, e)
		case e.Value > once[i].Value:
			once[i] = e
		}
	}
	return once
}

// round rounds for output, where nothing that is not finite can stand.
func round(v float64) float64 {
	const most = 1e12
	if math.IsNaN(v) {
		return 0
	}
	return math.Round(min(most, max(-most, v))*1e4) / 1e4
}
