package cause

import (
	"fmt"
	"slices"
)

// The pace of measurements. A page measures by a timer, and on a machine without processor time the
// timer is late: intervals are uneven on that machine alone. A network cannot cause that. The
// browser slows the timers of a page in the background down to whole seconds, which count as even,
// and so does a page whose server asks for fewer measurements.
const (
	slowShare    = 0.4 // of the measurements of a machine without processor time are off the beat
	slowContrast = 2   // and so many times the share of anybody else
	minMeasured  = 6
)

// offBeat is the share of a participant's measurements that are off the beat.
func (p *Person) offBeat() (share float64, known bool) {
	return min(1, float64(p.OffBeat)/float64(max(1, p.Measured))), p.Measured >= minMeasured
}

// keepsPace reports whether a participant measures in time. The first and the last measurement seldom do.
func (c *call) keepsPace(i int) bool {
	if i < 0 {
		return false
	}
	share, known := c.people[i].offBeat()
	return known && share <= slowShare/2
}

// findSlow finds the person who measures late while nobody else does. Where all do, their common
// machine is slow, as in a test, and nobody is found.
func (c *call) findSlow() {
	c.slow = nobody
	most, rest, others := slowShare, 0.0, 0
	for i := range c.people {
		share, known := c.people[i].offBeat()
		switch {
		case !known:
			continue
		case share >= most && (c.slow == nobody || share > most):
			if c.slow != nobody {
				rest = max(rest, most)
			}
			c.slow, most = i, share
		default:
			rest = max(rest, share)
		}
		others++
	}
	if others < 2 || c.slow != nobody && most < slowContrast*rest {
		c.slow = nobody
	}
}

// pace adds the late measurements as evidence against a machine, where media are bad at its end.
// Late measurements alone are no finding, for media may be well.
func (c *call) pace(findings []Finding, legs []*leg) []Finding {
	if c.slow == nobody {
		return findings
	}
	who := c.session(c.slow)
	share, _ := c.people[c.slow].offBeat()
	late := Evidence{
		Metric: "lateMeasurementsShare", Session: who, Value: round(share), ComparedWith: slowShare,
		Text: fmt.Sprintf("%.0f %% of the measurements were late or early, and nobody else's were: the machine had too little processor time", 100*share),
	}
	found := false
	for i := range findings {
		f := &findings[i]
		if f.Session == who && (f.Cause == SendingMachineCPU || f.Cause == ReceivingMachine) {
			f.Confidence = max(f.Confidence, min(0.95, f.Confidence+0.12))
			f.Evidence = append(slices.Clone(f.Evidence), late)
			found = true
		}
	}
	if f := c.slowMachine(legs, late); !found && f.legs > 0 {
		findings = append(findings, f)
	}
	return findings
}

// slowMachine is the finding about a machine without processor time whose encoder and decoder
// report nothing: all that it receives has jitter, or only what it sends.
func (c *call) slowMachine(legs []*leg, late Evidence) Finding {
	f := Finding{Cause: SendingMachineCPU, Session: late.Session, Confidence: 0.75, Evidence: []Evidence{late}, affects: []string{late.Session}}
	for _, l := range legs {
		if l.seen < MinTimeMs || l.jittery < badShare {
			continue
		}
		if l.from != c.slow && l.to != c.slow { // the cause of jitter elsewhere may be the cause here
			return Finding{}
		}
		if l.to == c.slow {
			f.Cause = ReceivingMachine
		}
		f.legs++
		f.affects = append(f.affects, c.session(l.from), c.session(l.to))
		f.Evidence = append(f.Evidence, c.evidenceOf(l)...)
	}
	return f
}

// fromMachine reports whether a machine at an end of a leg explains its jitter and delay.
func (c *call) fromMachine(l *leg) bool {
	for _, i := range [...]int{l.from, l.to} {
		if i >= 0 && c.cpuStarved[i] {
			return true
		}
	}
	return false
}

// cpuStarvedFrom is the lowest confidence with which a finding about a machine explains jitter in
// all that it sends and receives.
const cpuStarvedFrom = 0.7

// findCPUStarved finds the people whose machine had too little processor time.
func (c *call) findCPUStarved(findings []Finding) {
	starved := map[string]bool{}
	for i := range findings {
		f := &findings[i]
		starved[f.Session] = starved[f.Session] || f.Confidence >= cpuStarvedFrom && (f.Cause == SendingMachineCPU || f.Cause == ReceivingMachine)
	}
	c.cpuStarved = make([]bool, len(c.people))
	for i := range c.people {
		c.cpuStarved[i] = c.people[i].Session != "" && starved[c.people[i].Session]
	}
}
