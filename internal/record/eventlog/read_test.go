package eventlog

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// frame is one record of session "s" as the receiver makes it.
func frame(seq int64, name string, fabric int64, attrs map[string]any) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	_ = resource.Resource().Attributes().FromRaw(map[string]any{
		semconv.AppID: "app", semconv.SessionID: "s", semconv.UserID: "Alice", semconv.UserAlias: "a1",
	})
	scope := resource.ScopeLogs().AppendEmpty()
	now := time.Now()
	_ = scope.Scope().Attributes().FromRaw(map[string]any{
		semconv.ConferenceID: "standup", semconv.ConferenceAt: now.UnixMilli(), semconv.FabricID: fabric,
	})
	record := scope.LogRecords().AppendEmpty()
	record.SetEventName(name)
	record.SetTimestamp(pcommon.NewTimestampFromTime(now))
	_ = record.Attributes().FromRaw(attrs)
	record.Attributes().PutInt(semconv.FrameSeq, seq)
	record.Attributes().PutInt(semconv.FrameIndex, 0)
	return logs
}

// TestReadLeavesSDPsOut: a part of an SDP is no fact about a conference.
//
// spec: API-01, CONF-02
func TestReadLeavesSDPsOut(t *testing.T) {
	require.Empty(t, Read(frame(3, semconv.EventSDP, 1, map[string]any{semconv.SDPError: int64(2), semconv.SDPText: "v=0"})))
}

// TestReadHasEveryMeasure: each measure of the protocol has an attribute and arrives as itself,
// whatever was read before.
func TestReadHasEveryMeasure(t *testing.T) {
	for range 2 {
		attrs := map[string]any{
			semconv.StatsType: "inbound-rtp", semconv.MediaType: "video", semconv.IntervalMs: 2000.5, semconv.QualityMOS: 4.25, semconv.QualityLabel: "good",
			semconv.QualityModel: "m", semconv.QualityConfidence: "high", semconv.QualityAssumed: "rtt", semconv.QualityReason: "r",
			semconv.QualityInputPrefix + "fps": 30.0, semconv.TimeCorrected: true, "other": "x",
		}
		want := event.Measurement{
			StatsType: "inbound-rtp", MediaType: "video", SSRC: 7, Codec: "codec", RID: "rid", Content: "contentType", Limitation: "limitation", IntervalMs: 2000.5,
			Score: event.Score{MOS: event.Known(4.25), Label: "good", Model: "m", Confidence: "high", Assumed: "rtt", Reason: "r"},
		}
		for k := range protocol.NumMeasures {
			switch v := float64(k+1) / 100; { // all can be
			case k == protocol.OutOfRange:
				attrs[semconv.Measure(k)], want.OutOfRange = "packets,bytes", event.OutOfRangeNamed("bytes,packets")
			case k == protocol.SSRC:
				attrs[semconv.Measure(k)] = int64(7)
			case k.Info().Type == protocol.Text:
				attrs[semconv.Measure(k)] = k.String()
			default:
				attrs[semconv.Measure(k)] = v
				want.Set(k, v)
			}
		}
		items := Read(frame(3, semconv.EventStats, 1, attrs))
		require.Len(t, items, 1)
		require.Equal(t, &want, items[0].Event.Measured)
		require.Equal(t, uint64(3), items[0].Event.Seq)
		require.True(t, items[0].Event.TimeCorrected)
	}
}

// TestMarkOutOfRange: the record says which of its values no summary is made of.
func TestMarkOutOfRange(t *testing.T) {
	items := Read(frame(3, semconv.EventStats, 1, map[string]any{
		semconv.StatsType: "inbound-rtp", semconv.IntervalMs: 2000.0, eventtest.Stats("packets"): int64(1 << 52), eventtest.Stats("bytes"): int64(-1),
		eventtest.Stats("outOfRange"): "rttMs,packets", // what the client knows
	}))
	MarkOutOfRange(items)
	named, _ := items[0].Record.Attributes().Get(semconv.OutOfRange)
	require.Equal(t, "bytes,packets,rttMs", named.Str())
	require.False(t, items[0].Event.Measured.Known(protocol.Packets))
	require.Equal(t, 3, items[0].Event.Measured.OutOfRange.Len())
}

func TestReadStatsWithoutRowsIsAlive(t *testing.T) {
	items := Read(frame(3, semconv.EventStats, 1, map[string]any{semconv.IntervalMs: 10_000.0}))
	require.Nil(t, items[0].Event.Measured)
	require.True(t, items[0].Event.Activity())
	require.Equal(t, uint64(3), items[0].Event.Seq)
}

func TestReadIgnoresWhatIsNoNumber(t *testing.T) {
	items := Read(frame(3, semconv.EventStats, 1, map[string]any{
		semconv.StatsType: "inbound-rtp", eventtest.Stats("packets"): "many",
		eventtest.Stats("jitterMs"): math.NaN(), eventtest.Stats("rttMs"): math.Inf(1),
	}))
	require.Equal(t, &event.Measurement{StatsType: "inbound-rtp"}, items[0].Event.Measured)
}

// TestReadLossThatWasNotCounted: a measurement without a count of losses has no loss, rather than one of 0.
func TestReadLossThatWasNotCounted(t *testing.T) {
	uncounted := func(attrs map[string]any) bool {
		attrs[semconv.StatsType] = "inbound-rtp"
		return !Read(frame(3, semconv.EventStats, 1, attrs))[0].Event.Measured.Loss().Lost.Known
	}
	require.True(t, uncounted(map[string]any{eventtest.Stats("packets"): int64(100)}))
	require.False(t, uncounted(map[string]any{eventtest.Stats("packetsLost"): int64(0)}))
	require.True(t, uncounted(map[string]any{eventtest.Stats("packetsLost"): int64(1 << 52)}), "it cannot be")
}

// TestReadSSRC: what has more than 32 bits is no SSRC, whatever number it is.
func TestReadSSRC(t *testing.T) {
	f := func(v any, want int64, strange ...string) {
		t.Helper()
		items := Read(frame(3, semconv.EventStats, 1, map[string]any{semconv.StatsType: "inbound-rtp", eventtest.Stats("ssrc"): v}))
		MarkOutOfRange(items)
		item := items[0]
		require.Equal(t, want, item.Event.Measured.SSRC)
		require.Equal(t, len(strange), item.Event.Measured.OutOfRange.Len())
		named, _ := item.Record.Attributes().Get(semconv.OutOfRange)
		require.Equal(t, strings.Join(strange, ","), named.Str())
	}
	f(int64(7), 7)
	f(int64(math.MaxUint32), math.MaxUint32)
	f(float64(math.MaxUint32), math.MaxUint32)
	f(int64(math.MaxUint32+1), 0, "ssrc")
	f(int64(-1), 0, "ssrc")
	f(1e300, 0, "ssrc")
	f(-1e300, 0, "ssrc")
	f(math.NaN(), 0)
	f("7", 0)
}

func TestReadEventData(t *testing.T) {
	f := func(data any) {
		t.Helper()
		items := Read(frame(1, semconv.EventEvent, 1, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: data}))
		require.Equal(t, event.Known(900), items[0].Event.Data.SetupMs)
	}
	f(`{"setupMs":900}`)
	f(map[string]any{"setupMs": 900})
}

// TestReadTimesLikeTheStore: without a time the arrival counts, without a place the time.
func TestReadTimesLikeTheStore(t *testing.T) {
	logs := frame(1, semconv.EventSkip, 1, map[string]any{semconv.SkipStats: int64(3), semconv.SkipEvents: int64(-1)})
	scope := logs.ResourceLogs().At(0).ScopeLogs().At(0)
	scope.Scope().Attributes().Remove(semconv.ConferenceAt)
	scope.LogRecords().At(0).SetTimestamp(0)
	scope.LogRecords().At(0).SetObservedTimestamp(pcommon.Timestamp(5e9))
	e := Read(logs)[0].Event
	require.Equal(t, int64(5000), e.AtMs)
	require.Equal(t, int64(5000), e.ConferenceAtMs)
	require.Equal(t, event.Lost{Stats: 3}, e.Lost)
}

func TestReadError(t *testing.T) {
	e := Read(frame(4, semconv.EventError, 0, map[string]any{semconv.ErrorFunction: "getUserMedia"}))[0].Event
	require.Equal(t, "getUserMedia", e.Function)
	require.Equal(t, uint64(4), e.Seq)
	require.True(t, e.Activity(), "an attempt")
	e = Read(frame(5, semconv.EventError, 1, map[string]any{semconv.ErrorFunction: "getUserMedia"}))[0].Event
	require.False(t, e.Activity(), "an annotation of a fabric")
}
