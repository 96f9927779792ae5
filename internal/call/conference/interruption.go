package conference

import (
	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/detect"
)

// interrupted sets the times in which ICE was disrupted with and without media, the silence before the end, and the
// time at which the application ended the fabric.
func (f *fabric) interrupted(e *cause.Fabric, out *Fabric) {
	e.BrokenMs = out.ICEDisruptionMs
	spans, open := f.stretches(markDisrupted, out.EndMs)
	for i, span := range spans {
		ms, last := float64(span.ToMs-span.FromMs), open && i == len(spans)-1
		if last {
			e.CutAtMs = span.FromMs
			e.BrokenMs += ms
		}
		if f.flows(span) {
			e.BrokenMs = max(0, e.BrokenMs-ms)
			if !last {
				e.FlowedMs += ms
			}
		}
	}
	if wasReported(out.EndReason) {
		e.ClosedMs = out.EndMs
	}
	mediaMs := min(f.first, f.addedAt) // end of the last received media
	alive := f.aliveFacts()
	f.facts.Each(func(_, to int64, word detect.Word) {
		if word&alive != 0 {
			mediaMs = max(mediaMs, to)
		}
	})
	e.SilentMs = float64(max(0, out.EndMs-mediaMs))
}

// aliveFacts returns the facts that prove that packets arrive: received media, or reports for a fabric that only sends.
func (f *fabric) aliveFacts() detect.Facts {
	if f.facts.Any()&anyMedia == 0 {
		return detect.Carried
	}
	return anyMedia
}

const (
	anyMedia = detect.GotAudio | detect.GotVideo
	// deadMs is the time without packets after which ICE reports the disruption of a dead path.
	deadMs = 5000
	// flowShare is the least share of the time before and during a disruption in which a path that is not dead delivers media.
	// An interval with one packet counts as a whole, so maxIntervalShare bounds the length of the intervals.
	flowShare        = 0.9
	maxIntervalShare = 0.85 // most of that time that two intervals may take
)

// dead returns the time to the end in which the path was dead, if ICE was disrupted to the end.
func (f *fabric) dead(out *Fabric) []Interval {
	spans, open := f.stretches(markDisrupted, out.EndMs)
	if !open {
		return nil
	}
	return []Interval{{StartMs: spans[len(spans)-1].FromMs - deadMs - f.intervalMs(), EndMs: lastMs}}
}

// flows reports whether media were received before and during a disruption: a congested path loses ICE's consent checks
// while it delivers media.
func (f *fabric) flows(disruption detect.Span) bool {
	from := max(disruption.FromMs-deadMs, min(f.first, f.addedAt))
	alive, received, until := f.aliveFacts(), int64(0), from
	f.facts.Each(func(start, end int64, word detect.Word) {
		until = max(until, min(end, disruption.ToMs))
		if word&alive != 0 {
			received += max(0, min(end, disruption.ToMs)-max(start, from))
		}
	})
	whole := float64(until - from)
	return until > disruption.FromMs && float64(received) >= flowShare*whole && float64(2*f.intervalMs()) <= maxIntervalShare*whole
}
