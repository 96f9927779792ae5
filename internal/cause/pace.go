package cause

import (
	"fmt"
	"slices"
)

// The pace of measurements. A page measures by a timer, and a machine without processor time
// lets the timer wait: intervals are uneven, on that machine alone. A network cannot do that.
// A page that nobody looks at is slowed down to beats of whole seconds, which count as even,
// and so does one that was told to measure less often.
const (
	slowShare    = 0.4 // of the measurements of a machine without time are off the beat
	slowContrast = 2   // and that is so many times what anybody else has
	minMeasured  = 6
)

// offBeat is the share of a participant's measurements that are off the beat.
func (p *Person) offBeat() (share float64, known bool) {
	return min(1, float64(p.OffBeat)/float64(max(1, p.Measured))), p.Measured >= minMeasured
}

// findSlow finds who measures late while nobody else does. Where all do, it is what carries
// them all, as when they are tests on one machine, and tells of nobody.
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

// pace adds what the measurements tell of the machine: on its own nothing, for media may be
// well; with media that are bad at its end, that it had no time.
func (c *call) pace(findings []Finding, legs []*leg) []Finding {
	if c.slow == nobody {
		return findings
	}
	who := c.session(c.slow)
	share, _ := c.people[c.slow].offBeat()
	late := Evidence{
		Metric: "lateMeasurementsShare", Session: who, Value: round(share), ComparedWith: slowShare,
		Text: fmt.Sprintf("%.0f %% of the measurements came late or early, and nobody else's did: the machine had no time", 100*share),
	}
	told := false
	for i := range findings {
		f := &findings[i]
		if f.Session == who && (f.Cause == SendingMachineCPU || f.Cause == ReceivingMachine) {
			f.Confidence = max(f.Confidence, min(0.95, f.Confidence+0.12))
			f.Evidence = append(slices.Clone(f.Evidence), late)
			told = true
		}
	}
	if f := c.slowMachine(legs, late); !told && f.legs > 0 {
		findings = append(findings, f)
	}
	return findings
}

// slowMachine is the finding about a machine without time of which neither encoder nor decoder
// tells: what it gets comes unevenly, or only what it sends.
func (c *call) slowMachine(legs []*leg, late Evidence) Finding {
	f := Finding{Cause: SendingMachineCPU, Session: late.Session, Confidence: 0.75, Evidence: []Evidence{late}, affects: []string{late.Session}}
	for _, l := range legs {
		if l.seen < MinTimeMs || l.jittery < badShare {
			continue
		}
		if l.from != c.slow && l.to != c.slow { // what makes it uneven elsewhere may be what does so here
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

// fromMachine: what is uneven or late on a leg comes of a machine at its ends.
func (c *call) fromMachine(l *leg) bool {
	for _, i := range [...]int{l.from, l.to} {
		if i >= 0 && c.weary[i] {
			return true
		}
	}
	return false
}

// wearyFrom is the confidence from which on a finding about a machine explains what is uneven
// in all that it sends and gets.
const wearyFrom = 0.7

// findWeary notes whose machine had too little processor.
func (c *call) findWeary(findings []Finding) {
	c.weary = make([]bool, len(c.people))
	for i := range c.people {
		c.weary[i] = c.people[i].Session != "" && slices.ContainsFunc(findings, func(f Finding) bool {
			return f.Session == c.people[i].Session && f.Confidence >= wearyFrom && (f.Cause == SendingMachineCPU || f.Cause == ReceivingMachine)
		})
	}
}
