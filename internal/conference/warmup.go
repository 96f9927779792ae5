package conference

import (
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/detect"
)

// A new stream warms up: for detect.WarmUpMs its jitter buffer and its encoder adapt. A state of theirs that is over by then is no
// fault. Of a connection that lasted for less there is nothing else to judge by.

// returnMs is the time within which a state of an adapting part that returns was not over, ms: that in which an issue resolves.
const returnMs = 16_000

// warmUps returns the times at which a stream of a connection began, ms: with its first packets, and with the first after a pause
// as long as a warm-up. A connection that ended in its own warm-up has none.
func (f *fabric) warmUps(s *stream, out *Fabric) (begins []int64) {
	if out.EndReason != "" && out.EndMs-f.connectedAt(out) < detect.WarmUpMs {
		return nil
	}
	last := int64(math.MinInt64 / 2)
	s.causeFacts.Each(func(from, to int64, word detect.Word) {
		if word&flowing == 0 {
			return
		}
		if from-last >= detect.WarmUpMs {
			begins = append(begins, from)
		}
		last = to
	})
	return begins
}

// connectedAt returns the time at which a connection was established, that of its beginning if it is unknown, ms.
func (f *fabric) connectedAt(out *Fabric) int64 {
	if at := f.points(markConnected); len(at) > 0 {
		return slices.Min(at)
	}
	return out.AddedAtMs
}

// settled returns the episodes of a stream's metric but those of its warm-up. An episode of which the end of the warm-up decides
// needs another evaluation.
func (w *fabricFinder) settled(found []detect.Episode, s *stream) (out []detect.Episode) {
	begins := w.state.warmUps(s, w.out)
	for _, e := range found {
		if !detect.WarmUp(detect.Span{FromMs: e.SinceMs, ToMs: e.UntilMs}, begins) {
			out = append(out, e)
		} else if e.Open && w.ongoing(e.UntilMs) {
			w.pending = true
		}
	}
	return out
}

// warmUpMs returns the time of a fact about an adapting part that is over when the stream's warm-up ends, ms.
func (f *fabric) warmUpMs(s *stream, out *Fabric, fact detect.Facts, without []Interval) float64 {
	if s.causeFacts.Any()&fact == 0 {
		return 0
	}
	begins := f.warmUps(s, out)
	over := slices.DeleteFunc(join(s.factSpans(fact), returnMs), func(span detect.Span) bool { return !detect.WarmUp(span, begins) })
	return float64(spanMs(intersect(intersect(s.factSpans(fact), over), complement(spansOf(without)))))
}
