package conference

import (
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/call/quality"
)

// moment is the time of an evaluation, ms since the epoch.
type moment int64

// atEnd is the moment of a conference that has ended.
const atEnd moment = 0

// isInGap reports whether at most the gap has passed since lastMs: the silence is too short to be an
// end.
func (m moment) isInGap(lastMs int64) bool { return m != atEnd && lastMs+instance.Gap >= int64(m) }

// connectMs is the time for which a participant may be connecting without a fault.
const connectMs = 30_000

// SoFar returns the summary of a live conference at nowMs. It differs from Summary: Outcome is
// empty; participants that are present, and their fabrics, have no EndReason and end with their
// last record; an issue that has not ended is open. Later records may change any of it.
func (c *Conference) SoFar(labels quality.Bounds, nowMs int64) Summary {
	return c.summary(labels, moment(nowMs))
}

// isPresent reports whether the participant of a live conference has not left.
func (p *Participant) isPresent() bool { return len(p.Fabrics) > 0 && p.EndReason == "" }

// setEnd derives the participant's duration and end reason from its fabrics.
func (p *Participant) setEnd(now moment) {
	p.DurationMs = p.EndMs - p.StartMs
	if now == atEnd {
		return
	}
	failed := false
	for i := range p.Fabrics {
		f := &p.Fabrics[i]
		failed = failed || f.FailureStage != "" || f.FailureReason != ""
		if f.EndReason == "" {
			p.EndReason = ""
		}
	}
	p.connecting = p.isPresent() && !p.Connected && !failed && p.DurationMs < connectMs
}
