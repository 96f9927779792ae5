package conferenceprocessor

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/kit/oddvalue"
	"github.com/qosrtc/qos/tests/kit/rapidfuzz"
)

// put adds a usual value, an odd one, or none.
func put(t *rapid.T, attrs pcommon.Map, name string, usual ...any) {
	switch rapid.IntRange(0, 9).Draw(t, name) {
	case 0:
	case 1:
		oddvalue.Draw(t, attrs.PutEmpty(name))
	default:
		_ = attrs.PutEmpty(name).FromRaw(rapid.SampledFrom(usual).Draw(t, "usual")) // types that pdata knows
	}
}

var (
	oddEvents   = []string{semconv.EventStats, semconv.EventEvent, semconv.EventError, semconv.EventFeedback, semconv.EventLog, semconv.EventSkip, semconv.EventSummary, "", "other"}
	oddMeasures = func() (names []string) {
		for _, name := range []string{
			"bytes", "packets", "packetsLost", "samples", "concealedSamples", "silentConcealedSamples", "concealmentEvents", "freezes", "freezeMs",
			"remotePacketsLost", "remoteLossFraction", "remoteJitterMs", "rttMs", "jitterMs", "fps", "ssrc", "audioLevel", "frames", "framesDecoded",
			"framesDropped", "width", "height", "plis", "firs", "pauseMs", "encodeMs", "decodeMs", "cpuLimitedMs", "codec", "limitation", "rid",
		} {
			names = append(names, eventtest.Stats(name))
		}
		return append(names, semconv.IntervalMs, semconv.QualityMOS, semconv.QualityLabel, semconv.Duplicate, semconv.OutOfRange)
	}()
	oddData = []any{`{"setupMs":12}`, `{"reason":"failed","stage":"dtls"}`, `{`, ``, `{"ssrc":7,"userID":{"userName":"u"}}`, `{"userIDType":"local","newUserID":"n"}`}
)

// oddLogs draws records as no receiver of ours makes them.
func oddLogs(t *rapid.T, now time.Time) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	attrs := resource.Resource().Attributes()
	put(t, attrs, semconv.AppID, "demo")
	put(t, attrs, semconv.SessionID, "a", "b")
	put(t, attrs, semconv.UserID, "ann", "bob")
	put(t, attrs, semconv.UserAlias, "u1")
	for range rapid.IntRange(1, 2).Draw(t, "scopes") {
		scope := resource.ScopeLogs().AppendEmpty()
		attrs := scope.Scope().Attributes()
		put(t, attrs, semconv.ConferenceID, "standup", "other")
		put(t, attrs, semconv.ConferenceAt, now.UnixMilli(), now.UnixMilli()-20_000)
		put(t, attrs, semconv.FabricID, 1, 1.0, 2, 0)
		for _, name := range []string{semconv.FabricUsage, semconv.FabricDirection, semconv.RemoteEndpointType, semconv.RemoteUserID, semconv.RemoteUserAlias} {
			put(t, attrs, name, "multiplex", "sendrecv", "peer", "server", "bob")
		}
		for range rapid.IntRange(0, 5).Draw(t, "records") {
			oddRecord(t, scope.LogRecords().AppendEmpty(), now)
		}
	}
	return logs
}

func oddRecord(t *rapid.T, record plog.LogRecord, now time.Time) {
	record.SetEventName(rapid.SampledFrom(oddEvents).Draw(t, "event"))
	usual := pcommon.NewTimestampFromTime(now)
	record.SetTimestamp(rapid.SampledFrom([]pcommon.Timestamp{usual, usual - 5e9, usual - 40e9, 0, math.MaxUint64}).Draw(t, "at"))
	record.SetObservedTimestamp(rapid.SampledFrom([]pcommon.Timestamp{usual, 0}).Draw(t, "observed"))
	attrs := record.Attributes()
	put(t, attrs, semconv.FrameSeq, 1, 2, 3.0, 4)
	put(t, attrs, semconv.FrameIndex, 0, 1, 2)
	put(t, attrs, semconv.StatsType, "inbound-rtp", "outbound-rtp", "candidate-pair")
	put(t, attrs, semconv.MediaType, "audio", "video")
	put(t, attrs, semconv.EventName, "fabricAdded", "fabricSetup", "fabricTerminated", "userIDChange", "audioMute", "associateMstWithUserID")
	put(t, attrs, semconv.EventData, oddData...)
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(oddMeasures), 0, 8).Draw(t, "measures") {
		put(t, attrs, name, 1, 0.5, 4.1, 700, "good", "opus")
	}
	for _, name := range []string{semconv.ErrorFunction, semconv.FeedbackOverall, semconv.FeedbackComment, semconv.SkipStats, semconv.SkipEvents} {
		put(t, attrs, name, 5, "getUserMedia")
	}
}

// oddAttributes checks for arbitrary attributes that all records are passed on once, unchanged
// except for the marks, and that summaries are documents.
func oddAttributes(t *rapid.T) {
	next := new(sink)
	cfg := createDefaultConfig().(*Config)
	cfg.MaxConferences = 4
	c, err := newConferences(cfg, componenttest.NewNopTelemetrySettings(), next)
	require.NoError(t, err)
	now, passed := time.Now(), 0
	for range rapid.IntRange(1, 6).Draw(t, "batches") {
		logs := oddLogs(t, now)
		before := plog.NewLogs()
		logs.CopyTo(before)
		require.NoError(t, c.ConsumeLogs(t.Context(), logs))
		require.Equal(t, names(before), names(logs))
		passed += logs.LogRecordCount()
		require.LessOrEqual(t, c.set.Len(), cfg.MaxConferences)
	}
	c.tick(t.Context(), t.Context(), now.Add(time.Hour))
	require.Zero(t, c.set.Live())
	require.Empty(t, c.inFlight)
	summaries, marked := next.take()
	for _, s := range summaries {
		if body := s.Body().Str(); body != "" { // else it was among the input
			require.True(t, json.Valid([]byte(body)), body)
			passed++
		}
	}
	require.Equal(t, passed, len(summaries)+len(marked))
}

// names lists the records and their attributes, without the marks.
func names(logs plog.Logs) (list [][]string) {
	for _, record := range recordsOf(logs) {
		own := []string{record.EventName()}
		for name := range record.Attributes().All() {
			if name != semconv.Duplicate && name != semconv.OutOfRange {
				own = append(own, name)
			}
		}
		slices.Sort(own)
		list = append(list, own)
	}
	return list
}

// TestOddAttributes: attributes of other types than ours are no attributes, and no harm.
//
// spec: SRV-02
func TestOddAttributes(t *testing.T) { rapid.Check(t, oddAttributes) }

// FuzzAttributes is TestOddAttributes guided by code coverage.
func FuzzAttributes(f *testing.F) { rapidfuzz.Run(f, oddAttributes) }
