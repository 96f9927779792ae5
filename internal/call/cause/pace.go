package cause

import (
	"fmt"
	"slices"
)

// The pace of measurements. A page measures by a timer. On a machine without processor time the timer
// is late, so its intervals are uneven; a network cannot cause that. The browser slows the timers of
// a page in the background down to whole seconds, and a server may request a slower pace: intervals
// of whole seconds count as even.
const (
	slowShare    = 0.4 // least share of uneven intervals on a machine without processor time
	slowContrast = 2   // least ratio of that share to the share of any other participant
	minMeasured  = 6
)

// unevenShare returns the share of a participant's measurements whose interval is uneven; known for at least
// minMeasured.
func (p *Person) unevenShare() (share float64, known bool) {
	return min(1, float64(p.OffBeat)/float64(max(1, p.Measured))), p.Measured >= minMeasured
}

// keepsPace reports whether nearly all intervals of a participant are even. The first and the last seldom are.
func (c *call) keepsPace(i int) bool {
	if i < 0 {
		return false
	}
	share, known := c.people[i].unevenShare()
	return known && share <= slowShare/2
}

// findSlow finds the only person who measures late. Where all do, they share a slow machine, as in a
// test, and no person is found.
func (c *call) findSlow() {
	c.slow = noPerson
	most, rest, others := slowShare, 0.0, 0
	for i := range c.people {
		share, known := c.people[i].unevenShare()
		switch {
		case !known:
			continue
		case share >= most && (c.slow == noPerson || share > most):
			if c.slow != noPerson {
				rest = max(rest, most)
			}
			c.slow, most = i, share
		default:
			rest = max(rest, share)
		}
		others++
	}
	if others < 2 || c.slow != noPerson && most < slowContrast*rest {
		c.slow = noPerson
	}
}

// pace adds the late measurements to the findings about the slow person's machine. Late measurements
// alone are no finding: the media may be good.
func (c *call) pace(findings []Finding, legs []*leg) []Finding {
	if c.slow == noPerson {
		return findings
	}
	session := c.session(c.slow)
	share, _ := c.people[c.slow].unevenShare()
	late := Evidence{
		Metric: "lateMeasurementsShare", Session: session, Value: round(share), ComparedWith: slowShare,
		Text: fmt.Sprintf("%.0f %% of the measurements were late or early, and nobody else's were: the machine had too little processor time", 100*share),
	}
	found := false
	for i := range findings {
		f := &findings[i]
		if f.Session == session && (f.Cause == SendingMachineCPU || f.Cause == ReceivingMachine) {
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

// slowMachine returns the finding about the slow person's machine where its encoder and decoder report
// nothing, by the jitter of the media that it receives or sends; without legs if other legs have jitter.
func (c *call) slowMachine(legs []*leg, late Evidence) Finding {
	f := Finding{Cause: SendingMachineCPU, Session: late.Session, Confidence: 0.75, Evidence: []Evidence{late}, affects: []string{late.Session}}
	for _, l := range legs {
		if l.seen < MinTimeMs || l.jittery < badShare {
			continue
		}
		if l.from != c.slow && l.to != c.slow { // one cause may explain the jitter here and there
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

// fromMachine reports whether a starved machine at an end of a leg explains the leg's jitter and delay.
func (c *call) fromMachine(l *leg) bool {
	for _, i := range [...]int{l.from, l.to} {
		if i >= 0 && c.cpuStarved[i] {
			return true
		}
	}
	return false
}

// cpuStarvedFrom is the least confidence of a finding about a machine that explains jitter in all that
// the machine sends and receives.
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
