package conference

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

// labelled returns the labels of a stream with those scores, one an interval.
func labelled(intervalMs int64, scores ...float64) ([]LabelSpan, int) {
	c := New("app", "c", nil, quality.DefaultBounds())
	for i, mos := range scores {
		c.Apply(&event.Event{
			Session: "s", Seq: uint64(i + 1), Fabric: 1, AtMs: 1_763_702_160_000 + int64(i+1)*intervalMs,
			ConferenceAtMs: 1_763_702_160_000, Kind: event.KindStats, Measured: &event.Measurement{StatsType: inboundRTP, MediaType: audio, IntervalMs: float64(intervalMs), Score: event.Score{MOS: event.Known(mos)}},
		})
	}
	s := c.Summary(quality.DefaultBounds()).Participants[0].Fabrics[0].Streams[0]
	return s.Labels, s.LabelChanges
}

// TestLabelsDoNotFlap: scores that stay within the margin of a bound change the label once.
//
// spec: QUAL-01
func TestLabelsDoNotFlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := quality.DefaultBounds()
		bound := rapid.SampledFrom(bounds[:]).Draw(t, "bound")
		interval := rapid.SampledFrom([]int64{2000, 5000, 10_000, 20_000}).Draw(t, "interval")
		scores := rapid.SliceOfN(rapid.Float64Range(bound-0.19, bound+0.09), 1, 60).Draw(t, "scores")
		if _, changes := labelled(interval, scores...); changes > 1 {
			t.Fatalf("%d changes about %g", changes, bound)
		}
	})
}

// TestLabelsFollow: one interval makes it worse, two make it better, at any pace.
//
// spec: QUAL-01
func TestLabelsFollow(t *testing.T) {
	for _, interval := range []int64{2000, 5000, 10_000, 20_000} {
		f := func(want []string, scores ...float64) {
			t.Helper()
			spans, changes := labelled(interval, scores...)
			var names []string
			for _, s := range spans {
				names = append(names, s.Label)
			}
			require.Equal(t, want, names, "%d ms", interval)
			require.Equal(t, len(want)-1, changes)
		}
		f([]string{quality.Good}, 4, 4, 4)
		f([]string{quality.Good, quality.Bad}, 4, 4, 1)
		f([]string{quality.Good}, 4, 4.4, 4)
		f([]string{quality.Good, quality.Excellent}, 4, 4.4, 4.4)
		f([]string{quality.Good}, 4, 4.25, 4.25, 4.25, 4.25)  // not 0.1 above
		f([]string{quality.Bad, quality.Good}, 1, 4.4, 4)     // the worse of the two is earned
		f([]string{quality.Bad, quality.Poor}, 1, 3.25, 3.35) // of which one is near the bound
	}
}

// TestLabelsAreBounded: all changes are counted, and the first are listed.
func TestLabelsAreBounded(t *testing.T) {
	var scores []float64
	for range 100 {
		scores = append(scores, 1, 4.4, 4.4)
	}
	spans, changes := labelled(10_000, scores...)
	require.Len(t, spans, maxLabelSpans)
	require.Equal(t, 199, changes)
}
