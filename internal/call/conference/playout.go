package conference

import (
	"slices"

	"github.com/qosrtc/qos/internal/call/detect"
)

// playout is a playoutChange: from that time the page plays a received stream of audio, or does not.
type playout struct {
	rank uint64
	at   int64
	ssrc int64
	how  string // "playing", "none", or playoutRefused
}

// playoutRefused means that all elements with the track are paused and not muted, as if the browser refuses autoplay.
const playoutRefused = "refused"

func (f *fabric) addPlayout(p playout) (truncated int) {
	return insertByRank(&f.playouts, p, maxToggles, func(p playout) uint64 { return p.rank })
}

// notPlayed returns the times in which the playout of a stream was one of the given values.
func (f *fabric) notPlayed(ssrc, end int64, wanted ...string) (spans []detect.Span) {
	for i, p := range f.playouts {
		if p.ssrc != ssrc || !slices.Contains(wanted, p.how) {
			continue
		}
		until := end
		if next := slices.IndexFunc(f.playouts[i+1:], func(o playout) bool { return o.ssrc == ssrc }); next >= 0 {
			until = f.playouts[i+1+next].at
		}
		spans = append(spans, detect.Span{FromMs: p.at, ToMs: until})
	}
	return detect.Merge(spans)
}

// findUnplayed finds the issue of received audio that the page does not play. Pages report it only while they are visible.
func (w *fabricFinder) findUnplayed(about Issue, excused []detect.Span) {
	rule := w.rules.NotPlayed
	if rule.Disabled {
		return
	}
	spans := intersect(w.state.notPlayed(about.SSRC, w.out.EndMs, "none", playoutRefused), complement(excused))
	spans = slices.DeleteFunc(spans, func(s detect.Span) bool { return s.ToMs-s.FromMs < rule.After.Milliseconds() })
	issue := about.withKind(detect.NotPlayed, "unplayed_ms", detect.High)
	issue.Open = len(spans) > 0 && spans[len(spans)-1].ToMs == w.out.EndMs && w.ongoing(w.out.EndMs)
	w.addTimes(issue, spans, rule.After)
}
