package conference

import (
	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/internal/quality"
)

// moment is the time at which a conference is looked at, ms since the epoch.
type moment int64

// ended is the moment of a conference of which nothing more is to come.
const ended moment = 0

// within reports whether silence since lastMs would not have ended it by then.
func (m moment) within(lastMs int64) bool { return m != ended && lastMs+instance.Gap >= int64(m) }

// connectMs is how long nobody wonders that a connection is not up.
const connectMs = 30_000

// SoFar returns what the conference has come to at nowMs, while it may go on. It is a Summary
// but for these: there is no Outcome; those who are still there, and their fabrics, have no
// EndReason, and end with their last sign of life so far; an issue is open where it goes on
// now. All of it may change with the next record.
func (c *Conference) SoFar(labels quality.Bounds, nowMs int64) Summary {
	return c.summary(labels, moment(nowMs))
}

// goesOn reports whether the participant has not left yet, of a conference that goes on.
func (p *Participant) goesOn() bool { return len(p.Fabrics) > 0 && p.EndReason == "" }

// goOn takes what a participant's fabrics say together about its end.
func (p *Participant) goOn(now moment) {
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
	p.connecting = p.goesOn() && !p.Connected && !failed && p.DurationMs < connectMs
}
