package conference

import (
	"encoding/json"
	"math"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestQuantilesAreWithinOnePercent holds the sketch against the sorted values.
func TestQuantilesAreWithinOnePercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 200).Draw(t, "values")
		var d dist
		for _, v := range values {
			d.add(v, 10_000)
		}
		sort.Float64s(values)
		require.InDelta(t, values[0], d.min, 1/scale)
		require.InDelta(t, values[len(values)-1], d.max, 1/scale)
		for _, q := range []float64{0.05, 0.5, 0.95} {
			exact := values[max(0, int(math.Ceil(q*float64(len(values))))-1)]
			require.InDelta(t, exact, d.quantile(q), relativeAccuracy*exact+2/scale, "q %g of %v", q, values)
		}
	})
}

func TestMeanIsWeightedByTime(t *testing.T) {
	var d dist
	require.Nil(t, d.summary(), "nothing measured is not 0")
	d.add(4, 10_000)
	d.add(1, 5_000)
	d.add(math.NaN(), 1)
	d.add(3, 0)
	got := d.summary()
	require.Equal(t, []float64{3, 1, 4}, []float64{got.Mean, got.Min, got.Max})
	require.InEpsilon(t, 1, got.P5, 0.011)
	require.InEpsilon(t, 4, got.P50, 0.011)
	require.InEpsilon(t, 4, got.P95, 0.011)
}

// TestDistHoldsFewBytes: a stream's values fall into few buckets, and their number has an
// upper bound for any values.
func TestDistHoldsFewBytes(t *testing.T) {
	var d dist
	for v := 1e-5; v < 1e30; v *= 1.001 {
		d.add(v, 1)
	}
	require.LessOrEqual(t, len(d.buckets), 2000)
}

// FuzzStats: whatever numbers a measurement carries, the summary is a JSON document.
func FuzzStats(f *testing.F) {
	f.Add(math.NaN(), math.Inf(1), -1e300, 1e300, int64(0))
	f.Add(4.2, 10_000.0, 500.0, 10.0, int64(7))
	f.Fuzz(func(t *testing.T, a, b, c, d float64, ssrc int64) {
		for _, statsType := range []string{inboundRTP, outboundRTP, candidatePair} {
			m := new(eventtest.With(event.Measurement{StatsType: statsType, MediaType: audio, SSRC: ssrc, IntervalMs: a, Score: event.Score{MOS: event.Known(d), Label: "good"}}, eventtest.Values{
				protocol.Bytes: b, protocol.Packets: c, protocol.PacketsLost: d, protocol.Samples: a, protocol.ConcealedSamples: b, protocol.SilentConcealedSamples: c, protocol.Freezes: d, protocol.FreezeMs: a, protocol.BytesReceived: b, protocol.RemoteLossFraction: c, protocol.RemoteJitterMs: d, protocol.RTTMs: a, protocol.JitterMs: b, protocol.FPS: c,
			}))
			e := event.Event{Session: "s", Seq: 1, AtMs: 1, Fabric: 1, Kind: event.KindStats, Measured: m}
			second := e
			second.Seq = 2
			conference := New("app", "c", nil, quality.DefaultBounds())
			conference.Apply(&e)
			conference.Apply(&second)
			s := conference.Summary(quality.DefaultBounds())
			_, err := json.Marshal(s)
			require.NoError(t, err)
			for _, stream := range s.Participants[0].Fabrics[0].Streams {
				if stream.LossFraction != nil {
					require.GreaterOrEqual(t, *stream.LossFraction, 0.0)
					require.LessOrEqual(t, *stream.LossFraction, 1.0)
				}
			}
		}
	})
}

// FuzzParseData: bad data is no event's end.
func FuzzParseData(f *testing.F) {
	f.Add("fabricSetup", []byte(`{"setupMs":1e999}`))
	f.Add("associateMstWithUserID", []byte(`{"ssrc":"x","userID":{"userName":1}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		d := event.ParseData(name, data)
		if d == nil {
			return
		}
		require.False(t, d.SetupMs.V < 0 || d.SetupMs.V > maxDurationMs)
		require.LessOrEqual(t, len(d.Reason), event.MaxText)
		require.LessOrEqual(t, len(d.UserID), event.MaxUserIDBytes)
	})
}
