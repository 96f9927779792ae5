package conferenceprocessor

import (
	"maps"
	"math"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/conferenceprocessor/internal/metadatatest"
)

// measured is a row of an incoming stream of audio.
func measured(spoil map[string]any) map[string]any {
	attrs := map[string]any{
		semconv.IntervalMs: 10_000.0, semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", eventtest.Stats("ssrc"): 7,
		eventtest.Stats("packets"): 500, eventtest.Stats("bytes"): 40_000, eventtest.Stats("rttMs"): 40.0, eventtest.Stats("jitterMs"): 3.0,
	}
	maps.Copy(attrs, spoil)
	return attrs
}

// TestImpossibleCountersAreReported: an attribute of the record names them for the components
// behind this processor, and the summary counts them.
//
// spec: CONF-03, QUAL-01
func TestImpossibleCountersAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, _ := start(t, next, nil)
		send := func(seq int64, spoil map[string]any) string {
			logs := frame(seq, semconv.EventStats, 1, measured(spoil))
			require.NoError(t, c.ConsumeLogs(t.Context(), logs))
			advance(10 * time.Second)
			return eventlog.Text(recordsOf(logs)[0].Attributes(), semconv.OutOfRange)
		}
		require.Empty(t, send(1, nil))
		require.Equal(t, "bytes,packets", send(2, map[string]any{eventtest.Stats("packets"): -70, eventtest.Stats("bytes"): -1}), "back")
		require.Equal(t, "packets", send(3, map[string]any{eventtest.Stats("packets"): int64(1) << 40}), "a jump")
		require.Equal(t, "jitterMs,rttMs", send(4, map[string]any{eventtest.Stats("rttMs"): 1e300, eventtest.Stats("jitterMs"): -3.0}))
		require.Equal(t, "packets", send(5, map[string]any{eventtest.Stats("packets"): int64(math.MaxInt64)}))
		require.Empty(t, send(6, map[string]any{eventtest.Stats("packets"): math.NaN(), eventtest.Stats("rttMs"): "fast"}), "no numbers: not named")
		advance(time.Minute)
		summaries, _ := next.take()
		s := document(t, summaries[0])
		require.Equal(t, 6, s.OutOfRange)
		stream := s.Participants[0].Fabrics[0].Streams[0]
		require.Equal(t, 6, stream.Intervals)
		require.EqualValues(t, 2*500, stream.Packets)
		require.InDelta(t, 40, stream.RTTMs.Max, 0)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestNonsenseIsCountedByReason: records that no summary counts are counted by reason.
//
// spec: SRV-02
func TestNonsenseIsCountedByReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, telemetry := start(t, next, func(cfg *Config) { cfg.MaxConferences = 1 })
		spoiled := func(spoil func(plog.ScopeLogs, plog.LogRecord)) {
			logs := happened(1, "fabricAdded", `{}`)
			scope := logs.ResourceLogs().At(0).ScopeLogs().At(0)
			spoil(scope, scope.LogRecords().At(0))
			require.NoError(t, c.ConsumeLogs(t.Context(), logs))
		}
		seq := func(v any) func(plog.ScopeLogs, plog.LogRecord) {
			return func(_ plog.ScopeLogs, r plog.LogRecord) {
				require.NoError(t, r.Attributes().PutEmpty(semconv.FrameSeq).FromRaw(v))
			}
		}
		spoiled(seq(-1))
		spoiled(seq("one"))
		spoiled(seq(1.5))
		spoiled(seq(int64(1) << 60))
		spoiled(func(_ plog.ScopeLogs, r plog.LogRecord) { r.SetTimestamp(math.MaxUint64) })
		require.Zero(t, c.set.Len())
		spoiled(seq(1))
		spoiled(func(s plog.ScopeLogs, r plog.LogRecord) {
			seq(2)(s, r)
			s.Scope().Attributes().PutStr(semconv.ConferenceID, "another")
		})
		require.Equal(t, 1, c.set.Len())
		dropped := func(n int64, why live.Result) metricdata.DataPoint[int64] {
			return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.String("reason", why.String()))}
		}
		metadatatest.AssertEqualProcessorConferenceDropped(t, telemetry,
			[]metricdata.DataPoint[int64]{dropped(5, live.Invalid), dropped(1, live.Full)}, metricdatatest.IgnoreTimestamp())
		_, marked := next.take()
		require.Len(t, marked, 7, "all are passed on")
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestSSRCThatChangesItsKind: each kind has its own statistics, and the summary counts such SSRCs.
//
// spec: CONF-03
func TestSSRCThatChangesItsKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, _ := start(t, next, nil)
		for seq, media := range []string{"audio", "video", "audio"} {
			require.NoError(t, c.ConsumeLogs(t.Context(), frame(int64(seq)+1, semconv.EventStats, 1, measured(map[string]any{semconv.MediaType: media}))))
			advance(10 * time.Second)
		}
		advance(time.Minute)
		summaries, _ := next.take()
		s := document(t, summaries[0])
		require.Equal(t, 1, s.TwoKinds)
		require.Len(t, s.Participants[0].Fabrics[0].Streams, 2)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestConferenceThatNeverEnds: a conference of a day is live, and one.
//
// spec: CONF-02
func TestConferenceThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, _ := start(t, next, func(cfg *Config) { cfg.Tick = maxTick })
		const day = 24 * 60 * 60 / 20
		for seq := range int64(day) {
			require.NoError(t, c.ConsumeLogs(t.Context(), frame(seq+1, semconv.EventStats, 1, measured(nil))))
			advance(20 * time.Second)
		}
		summaries, _ := next.take()
		require.Empty(t, summaries)
		require.Equal(t, 1, liveIn(c))
		advance(time.Minute)
		summaries, _ = next.take()
		require.Len(t, summaries, 1)
		require.Equal(t, day, document(t, summaries[0]).Participants[0].Fabrics[0].Streams[0].Intervals)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestAllEndAtOnce: after a network failure no summary is dropped for want of room while the next
// component accepts them.
//
// spec: CONF-02, SRV-03
func TestAllEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, telemetry := start(t, next, nil)
		const all = maxWaiting + 2000
		for n := range all {
			logs := happened(int64(n+1), "fabricAdded", `{}`)
			logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().PutStr(semconv.ConferenceID, strconv.Itoa(n))
			require.NoError(t, c.ConsumeLogs(t.Context(), logs))
		}
		advance(time.Minute)
		summaries, _ := next.take()
		require.Len(t, summaries, all)
		_, err := telemetry.GetMetric("otelcol_processor_conference_dropped")
		require.Error(t, err, "nothing was dropped")
		require.NoError(t, c.Shutdown(t.Context()))
	})
}
