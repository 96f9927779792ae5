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

// ofConnections are the functions whose failure is that of a connection and not of the reporting page,
// which may have waited for the other end.
var ofConnections = []string{"signalingError", "iceConnectionFailure"}

// reported returns the findings about failures that the application reported. The confidence is low
// where the call continued.
func (c *call) reported() (findings []Finding) {
	for i := range c.people {
		p, impaired := &c.people[i], c.lacksMedia(i)
		for _, report := range reports(p.Session, p.Errors, impaired) {
			if impaired && slices.Contains(ofConnections, report.function) {
				findings = append(findings, c.attributeReport(i, report.Finding)...)
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

// attributeReport attributes a failure of connections to the ends of those that were not established; where all
// were, to the participant.
func (c *call) attributeReport(i int, report Finding) (attributed []Finding) {
	for j := range c.people[i].Fabrics {
		f := &c.people[i].Fabrics[j]
		if _, unset := setupFailure(f); unset {
			finding := report
			finding.Evidence = slices.Clone(report.Evidence)
			c.attribute(&finding, i, f)
			attributed = append(attributed, finding)
		}
	}
	if len(attributed) == 0 {
		return []Finding{report}
	}
	return attributed
}

// report is the finding from failures of one function.
type report struct {
	Finding
	function string
}

// reports returns the findings about reported failures, sorted by function. impaired raises the confidence.
func reports(session string, errors map[string]int, impaired bool) (list []report) {
	confidence := 0.45
	if impaired {
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

// lacksMedia reports whether a participant has no connection, or one that sends nothing.
func (c *call) lacksMedia(i int) bool {
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

// unconnected returns the findings about fabrics that did not connect, or lost the connection. A
// participant whose fabrics all fail while others connect is at fault.
func (c *call) unconnected() (findings []Finding) {
	for i := range c.people {
		p := &c.people[i]
		for j := range p.Fabrics {
			f := &p.Fabrics[j]
			finding, ok := setupFailure(f)
			if !ok {
				if finding, ok = c.disruption(i, f); !ok {
					continue
				}
			}
			c.attribute(&finding, i, f)
			findings = append(findings, finding)
		}
	}
	return findings
}

// minWaitMs is the lifetime from which the lack of a remote description, or of a connection, is evidence.
const minWaitMs = 3000

func setupFailure(f *Fabric) (Finding, bool) {
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

// Disruptions are a cause if they sum up to minBrokenMs and to brokenShare of a fabric's lifetime.
// Browsers report a disruption some 5 s after the last packet, so that is 6.5 s without packets.
const (
	minBrokenMs = 1500
	brokenShare = 0.02
)

// silentMs without a packet count as a disruption: a participant who ends the call then was cut off.
const silentMs = 4000

func (c *call) disruption(i int, f *Fabric) (Finding, bool) {
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
	case !c.good && long(f.BrokenMs+f.FlowedMs) && (other < 0 || c.unmeasured(other)): // a measured end shows if it missed media
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

// flowedTrust is the lowest confidence of a cause, so that a finding about the network precedes: a congested path loses
// ICE's consent checks too.
const flowedTrust = sure

// leftTrust is below sure: an end without the library that leaves cannot be distinguished from one that is cut off.
const leftTrust = 0.45

// mayHaveLeft reports whether the other end of a connection between participants is unknown or has no library,
// so that its leaving is not reported.
func (c *call) mayHaveLeft(i int, f *Fabric) bool {
	other := c.peer(i, f)
	return !f.Server && (other < 0 || c.unmeasured(other))
}

// peerMayBeGone reports whether the other end mayHaveLeft, and the connection was cut off or all its received streams stopped.
func (c *call) peerMayBeGone(i int, f *Fabric) bool {
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

// attribute attributes a failed fabric to an end: to the one with the larger share of failed connections, or to
// both where the shares are equal.
func (c *call) attribute(finding *Finding, i int, f *Fabric) {
	other := c.peer(i, f)
	finding.Session, finding.affects, finding.legs = c.session(i), []string{c.session(i)}, 1
	for k := range finding.Evidence {
		finding.Evidence[k].Session = c.session(i)
	}
	if other < 0 {
		return
	}
	finding.affects = append(finding.affects, c.session(other))
	if own, back := lacksCandidates(f), c.lacksCandidatesTo(other, i); own != back && finding.Cause == ICEConnectivity {
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
	mine, theirs := c.failureShare(i), c.failureShare(other)
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

// lacksCandidates reports whether an unconnected fabric had gathered no local candidate after the time in which any
// TURN server responds.
func lacksCandidates(f *Fabric) bool {
	return !f.Connected && f.LifeMs >= minWaitMs && f.Candidates.Is(0)
}

// lacksCandidatesTo reports whether a participant's fabric to another one lacksCandidates.
func (c *call) lacksCandidatesTo(i, other int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool { return lacksCandidates(&f) && c.peer(i, &f) == other })
}

// unmeasuredPenalty lowers the confidence in the cause of a connection that was not established, where
// one end has no library.
const unmeasuredPenalty = 0.2

// connections counts each participant's connections, and those of them that failed or broke by the
// reports of either end.
func (c *call) connections() {
	type link struct{ a, b, fabric int } // fabric is 0 where the other end is known
	failed := map[link]bool{}
	for i := range c.people {
		for j := range c.people[i].Fabrics {
			f := &c.people[i].Fabrics[j]
			at := link{i, noPerson, j}
			if other := c.peer(i, f); other >= 0 {
				at = link{min(i, other), max(i, other), 0}
			}
			_, unset := setupFailure(f)
			_, broke := c.disruption(i, f)
			failed[at] = failed[at] || unset || broke
		}
	}
	c.linked, c.failed = make([]int, len(c.people)), make([]int, len(c.people))
	for at, bad := range failed {
		for _, i := range []int{at.a, at.b} {
			if i == noPerson {
				continue
			}
			c.linked[i]++
			if bad {
				c.failed[i]++
			}
		}
	}
}

// failureShare returns the share of a participant's connections that failed or broke.
func (c *call) failureShare(i int) float64 {
	return float64(c.failed[i]) / float64(max(1, c.linked[i]))
}
