package conference

import (
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/call/detect"
)

// For detect.WarmUpMs the jitter buffer and the encoder of a new stream adapt. A state of theirs that ended by then is no fault,
// unless the whole connection ended by then: it has no other evidence.

// returnMs is the longest gap within one state of the warm-up, ms: the time in which an issue resolves.
const returnMs = 16_000

// warmUps returns the times at which a stream of a connection began, ms: with its first packets, and with the first packets
// after a pause of at least a warm-up. A connection that ended in its own warm-up has none.
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

// connectedAt returns the time at which a connection was established, or was added if that is unknown, ms.
func (f *fabric) connectedAt(out *Fabric) int64 {
	if at := f.points(markConnected); len(at) > 0 {
		return slices.Min(at)
	}
	return out.AddedAtMs
}

// afterWarmUp returns the episodes of a stream's metric except those of its warm-up. An open episode in the warm-up requires
// another evaluation at its end.
func (w *fabricFinder) afterWarmUp(found []detect.Episode, s *stream) (out []detect.Episode) {
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

// warmUpMs returns the time of a fact in the spans that begin and end within the stream's warm-up, ms.
func (f *fabric) warmUpMs(s *stream, out *Fabric, fact detect.Facts, without []Interval) float64 {
	if s.causeFacts.Any()&fact == 0 {
		return 0
	}
	begins := f.warmUps(s, out)
	over := slices.DeleteFunc(join(s.factSpans(fact), returnMs), func(span detect.Span) bool { return !detect.WarmUp(span, begins) })
	return float64(spanMs(intersect(intersect(s.factSpans(fact), over), complement(spansOf(without)))))
}
