package cause

import (
	"fmt"
	"maps"
	"slices"
)

// functions maps a reported failure to the cause that it is evidence for.
var functions = map[string]Cause{
	"getUserMedia":         PermissionsOrDevices,
	"createOffer":          Application,
	"createAnswer":         Application,
	"setLocalDescription":  Application,
	"setRemoteDescription": Signalling,
	"signalingError":       Signalling,
	"addIceCandidate":      Signalling,
	"iceConnectionFailure": ICEConnectivity,
}

// ofConnections are the functions whose failure is one of a connection, and not of this page: the
// participant who reports it may have waited for the other end.
var ofConnections = []string{"signalingError", "iceConnectionFailure"}

// reported returns the findings from failures that the application reported. A failure after which
// the call continued has a low confidence.
func (c *call) reported() (findings []Finding) {
	for i := range c.people {
		p, hurt := &c.people[i], c.hurt(i)
		for _, report := range reports(p.Session, p.Errors, hurt) {
			if hurt && slices.Contains(ofConnections, report.function) {
				findings = append(findings, c.placeReport(i, report.Finding)...)
			} else {
				findings = append(findings, report.Finding)
			}
		}
	}
	for _, report := range reports("", c.errors, len(c.people) == 0) {
		findings = append(findings, report.Finding)
	}
	return findings
}

// placeReport places a failure of connections where those lie that were not established; where all
// were, it stays with the participant.
func (c *call) placeReport(i int, report Finding) (placed []Finding) {
	for j := range c.people[i].Fabrics {
		f := &c.people[i].Fabrics[j]
		if _, unset := setup(f); unset {
			finding := report
			finding.Evidence = slices.Clone(report.Evidence)
			c.place(&finding, i, f)
			placed = append(placed, finding)
		}
	}
	if len(placed) == 0 {
		return []Finding{report}
	}
	return placed
}

// report is the finding from failures of one function.
type report struct {
	Finding
	function string
}

// reports returns the findings in the order of the functions' names.
func reports(session string, errors map[string]int, hurt bool) (list []report) {
	confidence := 0.45
	if hurt {
		confidence = 0.9
	}
	for _, function := range slices.Sorted(maps.Keys(errors)) {
		cause, ok := functions[function]
		if n := errors[function]; ok && n > 0 {
			list = append(list, report{function: function, Finding: Finding{
				Cause: cause, Session: session, Confidence: confidence, legs: n, affects: []string{session},
				Evidence: []Evidence{{
					Metric: "reportedErrors", Session: session, Value: float64(n),
					Text: fmt.Sprintf("the application reported that %s failed", function),
				}},
			}})
		}
	}
	return list
}

// hurt reports whether a participant has no connection, or sends nothing.
func (c *call) hurt(i int) bool {
	p := &c.people[i]
	for j := range p.Fabrics {
		f := &p.Fabrics[j]
		if f.Media && (!f.Connected || !sendsAnything(f)) {
			return true
		}
	}
	return len(p.Fabrics) == 0
}

func sendsAnything(f *Fabric) bool {
	return slices.ContainsFunc(f.Streams, func(s Stream) bool { return s.Sends && s.Packets > 0 })
}

// unconnected returns the findings about fabrics that did not connect, or lost the connection.
// Where all of one participant's fail and others connect, the fault is that participant's.
func (c *call) unconnected() (findings []Finding) {
	for i := range c.people {
		p := &c.people[i]
		for j := range p.Fabrics {
			f := &p.Fabrics[j]
			finding, ok := setup(f)
			if !ok {
				if finding, ok = c.broken(i, f); !ok {
					continue
				}
			}
			c.place(&finding, i, f)
			findings = append(findings, finding)
		}
	}
	return findings
}

// minWaitMs is the least life of a fabric without an answer that is evidence.
const minWaitMs = 3000

func setup(f *Fabric) (Finding, bool) {
	switch {
	case f.Connected:
		return Finding{}, false
	case !f.Described && f.LifeMs >= minWaitMs:
		return Finding{Cause: Signalling, Confidence: 0.85, Evidence: []Evidence{{
			Metric: "waitedMs", Value: round(f.LifeMs), ComparedWith: minWaitMs, Text: "there was no remote description",
		}}}, true
	case f.Described && (f.Failed || f.LifeMs >= minWaitMs):
		return Finding{Cause: ICEConnectivity, Confidence: 0.85, Evidence: []Evidence{{
			Metric: "setupFailed", Value: round(f.LifeMs), ComparedWith: minWaitMs,
			Text: "offer and answer were exchanged, and no connection was established; the last stage was " + stage(f.Stage),
		}}}, true
	}
	return Finding{}, false
}

func stage(name string) string {
	switch name {
	case "gathering", "connectivity", "dtls":
		return name
	}
	return "an unknown stage"
}

// Disruptions of minBrokenMs in all, and of brokenShare of a fabric's life, are a cause. Browsers
// report a disruption some 5 s after the last packet, so that was 6.5 s of silence.
const (
	minBrokenMs = 1500
	brokenShare = 0.02
)

// silentMs without a packet count as a disruption: a participant who hangs up then was cut off.
const silentMs = 4000

func (c *call) broken(i int, f *Fabric) (Finding, bool) {
	long := func(ms float64) bool { return ms >= minBrokenMs && share(ms, f.LifeMs) >= brokenShare }
	switch other := c.peer(i, f); {
	case f.Broken && (!f.cutOff() || c.leftBefore(i, f)):
		return Finding{}, false
	case f.Broken && c.mayHaveLeft(i, f):
		return interruption(f.BrokenMs, leftTrust, "the connection was interrupted, and did not recover: the other end may have left"), true
	case f.Broken:
		return interruption(f.BrokenMs, interruptedTrust, "the connection was interrupted, and did not recover"), true
	case long(f.BrokenMs):
		return interruption(f.BrokenMs, interruptedTrust, "the connection was interrupted"), true
	case !c.good && long(f.BrokenMs+f.FlowedMs) && (other < 0 || c.unmeasured(other)): // else the other end shows whether media were missing
		return interruption(f.BrokenMs+f.FlowedMs, flowedTrust, "the connection was interrupted while media were received"), true
	}
	return Finding{}, false
}

func interruption(ms, confidence float64, text string) Finding {
	return Finding{Cause: ICEConnectivity, Confidence: confidence, Evidence: []Evidence{{
		Metric: "iceDisruptionMs", Value: round(ms), ComparedWith: minBrokenMs, Text: text,
	}}}
}

const interruptedTrust = 0.92

// flowedTrust is the lowest confidence, so that a finding about a network precedes: a starved path loses the checks of ICE
// as well.
const flowedTrust = sure

// leftTrust is below sure: an end without the library that leaves looks like one that is cut off.
const leftTrust = 0.45

// mayHaveLeft reports whether nobody knows if the other end of a connection to a participant left.
func (c *call) mayHaveLeft(i int, f *Fabric) bool {
	other := c.peer(i, f)
	return !f.Server && (other < 0 || c.unmeasured(other))
}

// deserted reports whether the other end of a connection may have left: nobody knows it, and the connection was cut off or nothing
// more was received over it.
func (c *call) deserted(i int, f *Fabric) bool {
	received, missing := 0, 0
	for k := range f.Streams {
		if s := &f.Streams[k]; !s.Sends && s.Packets > 0 {
			received++
			missing += count(share(s.NoneMs, s.TimeMs) > goodShare)
		}
	}
	return c.mayHaveLeft(i, f) && (f.cutOff() || received > 0 && missing == received)
}

// cutOff reports whether ICE was disrupted, and did not recover, while media were missing.
func (f *Fabric) cutOff() bool {
	return f.Broken && (f.BrokenMs >= minBrokenMs || f.SilentMs >= silentMs)
}

// leftBefore reports whether the other end had closed the connection when ICE was disrupted here.
func (c *call) leftBefore(i int, f *Fabric) bool {
	other := c.peer(i, f)
	return other >= 0 && slices.ContainsFunc(c.people[other].Fabrics, func(back Fabric) bool {
		return back.ClosedMs > 0 && back.ClosedMs <= f.CutAtMs && c.peer(other, &back) == i
	})
}

// place sets whose fault a failed fabric is: that of the participant whose fabrics all fail while
// others have one that does not, else that of both.
func (c *call) place(finding *Finding, i int, f *Fabric) {
	other := c.peer(i, f)
	finding.Session, finding.affects, finding.legs = c.session(i), []string{c.session(i)}, 1
	for k := range finding.Evidence {
		finding.Evidence[k].Session = c.session(i)
	}
	if other < 0 {
		return
	}
	finding.affects = append(finding.affects, c.session(other))
	if own, back := isolated(f), c.isolatedFrom(other, i); own != back && finding.Cause == ICEConnectivity {
		alone := i
		if back {
			alone = other
		}
		finding.Session, finding.legs = c.session(alone), c.failed[alone]
		finding.Evidence = append(finding.Evidence, Evidence{
			Metric: "localCandidates", Session: c.session(alone), Text: "no local candidate was gathered: no TURN server answered, or none accepted the credentials",
		})
		return
	}
	mine, theirs := c.failing(i), c.failing(other)
	if theirs > mine {
		finding.Session = c.session(other)
		finding.legs = c.failed[other]
	} else {
		finding.legs = c.failed[i]
	}
	if mine == theirs { // one of the two
		finding.Peer = c.session(other)
	}
	if c.unmeasured(other) && !f.Connected { // it has no measurements
		finding.Confidence -= unmeasuredPenalty
	}
}

// isolated reports whether a fabric that was not connected had gathered no local candidate for a time in which
// any TURN server answers.
func isolated(f *Fabric) bool { return !f.Connected && f.LifeMs >= minWaitMs && f.Candidates.Is(0) }

// isolatedFrom reports whether a participant's fabric to another one is isolated.
func (c *call) isolatedFrom(i, other int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool { return isolated(&f) && c.peer(i, &f) == other })
}

// unmeasuredPenalty lowers the confidence why a connection was not established, where one end has
// no library.
const unmeasuredPenalty = 0.2

// connections counts, for each participant, the connections to others, and how many of them failed
// or broke, by the reports of either end.
func (c *call) connections() {
	type link struct{ a, b, fabric int } // the number of the fabric where its other end has no name
	failed := map[link]bool{}
	for i := range c.people {
		for j := range c.people[i].Fabrics {
			f := &c.people[i].Fabrics[j]
			at := link{i, nobody, j}
			if other := c.peer(i, f); other >= 0 {
				at = link{min(i, other), max(i, other), 0}
			}
			_, unset := setup(f)
			_, broke := c.broken(i, f)
			failed[at] = failed[at] || unset || broke
		}
	}
	c.linked, c.failed = make([]int, len(c.people)), make([]int, len(c.people))
	for at, bad := range failed {
		for _, i := range []int{at.a, at.b} {
			if i == nobody {
				continue
			}
			c.linked[i]++
			if bad {
				c.failed[i]++
			}
		}
	}
}

// failing is the share of a participant's connections that failed or broke.
func (c *call) failing(i int) float64 { return float64(c.failed[i]) / float64(max(1, c.linked[i])) }
