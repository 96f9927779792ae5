package conference_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestStatisticsAreOfAllIntervals: the percentiles of a connection, a participant and the
// conference are those of all intervals of their streams, within the sketch's 1 %.
//
// spec: CONF-03
func TestStatisticsAreOfAllIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := map[string][]float64{}
		var events []event.Event
		for _, session := range []string{"a", "b"} {
			for seq, rtt := range rapid.SliceOfN(rapid.Float64Range(0.5, 900), 1, 40).Draw(t, session) {
				rtt = math.Round(rtt*100) / 100
				e := conferencetest.Stats(session, uint64(seq+1), eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: "audio", SSRC: int64(seq % 3), IntervalMs: 2000}, eventtest.Values{
					protocol.Packets: 90, protocol.PacketsLost: 10, protocol.RTTMs: rtt,
				}))
				events = append(events, e)
				values[session] = append(values[session], rtt)
				values[""] = append(values[""], rtt)
			}
		}
		s := conferencetest.Fold(events, quality.DefaultBounds())
		near := func(d *conference.Distribution, values []float64) {
			slices.Sort(values)
			for q, got := range map[float64]float64{0.05: d.P5, 0.5: d.P50, 0.95: d.P95} {
				want := values[max(0, int(math.Ceil(q*float64(len(values))-1e-9))-1)]
				require.InEpsilon(t, want, got, 0.011, "p%v of %v", q, values)
			}
			require.Equal(t, []float64{values[0], values[len(values)-1]}, []float64{d.Min, d.Max})
		}
		near(s.Statistics.Received.RTTMs, values[""])
		for _, p := range s.Participants {
			near(p.Statistics.Received.RTTMs, values[p.Session])
			near(p.Fabrics[0].Statistics.Received.RTTMs, values[p.Session])
			require.InDelta(t, 0.1, *p.Statistics.Received.LossFraction, 1e-9)
			require.Nil(t, p.Statistics.Sent.RTTMs)
		}
	})
}
