package conference

import (
	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/internal/quality"
)

// moment is the time of an evaluation, ms since the epoch.
type moment int64

// ended is the moment of a conference that has ended.
const ended moment = 0

// within reports whether less than the gap has passed since lastMs, so that silence has ended
// nothing yet.
func (m moment) within(lastMs int64) bool { return m != ended && lastMs+instance.Gap >= int64(m) }

// connectMs is how long a participant may take to connect before that is a fault.
const connectMs = 30_000

// SoFar returns the summary of a live conference at nowMs. It differs from Summary in this:
// Outcome is empty; participants that are present, and their fabrics, have no EndReason, and
// end with their last record so far; an issue is open if it has not ended. The next record may
// change all of it.
func (c *Conference) SoFar(labels quality.Bounds, nowMs int64) Summary {
	return c.summary(labels, moment(nowMs))
}

// isPresent reports whether the participant of a live conference has not left.
func (p *Participant) isPresent() bool { return len(p.Fabrics) > 0 && p.EndReason == "" }

// setEnd derives the participant's duration and end reason from its fabrics.
func (p *Participant) setEnd(now moment) {
	p.DurationMs = p.EndMs - p.StartMs
	if now == ended {
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
