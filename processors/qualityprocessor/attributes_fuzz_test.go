package qualityprocessor

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/kit/oddvalue"
	"github.com/qosrtc/qos/tests/kit/rapidfuzz"
)

var oddNames = append(measureNames(), semconv.StatsType, semconv.MediaType, semconv.FrameSeq, semconv.QualityMOS, semconv.QualityReason, semconv.QualityInputPrefix+"x")

// measureNames are the attributes of numbers, and of the texts beside them.
func measureNames() (names []string) {
	for k := range protocol.NumMeasures {
		names = append(names, semconv.Measure(k))
	}
	return append(names, semconv.IntervalMs)
}

// oddScores spoils the frame of a call. Each stream has a score in range with its label, or a
// reason, and nothing of the record's own is changed.
func oddScores(t *rapid.T) {
	logs := plog.NewLogs()
	frameOf(logs)
	for _, record := range recordsOf(logs).All() {
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(oddNames), 0, 6).Draw(t, "names") {
			if rapid.IntRange(0, 2).Draw(t, "how") == 0 {
				record.Attributes().Remove(name)
			} else {
				v, _ := record.Attributes().GetOrPutEmpty(name)
				oddvalue.Draw(t, v)
			}
		}
	}
	before := plog.NewLogs()
	logs.CopyTo(before)
	s, err := newScorer(createDefaultConfig().(*Config), componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	out, err := s.processLogs(t.Context(), logs)
	require.NoError(t, err)
	require.Equal(t, recordsOf(before).Len(), recordsOf(out).Len())
	for i, record := range recordsOf(out).All() {
		require.Equal(t, own(recordsOf(before).At(i)), own(record))
		soundScore(t, record.Attributes())
	}
}

// own is what a record has of its own, as text: NaN is equal to itself then.
func own(record plog.LogRecord) map[string]string {
	attrs := map[string]string{}
	for name, v := range record.Attributes().All() {
		if !strings.HasPrefix(name, semconv.QualityPrefix) {
			attrs[name] = v.Type().String() + v.AsString()
		}
	}
	return attrs
}

func soundScore(t *rapid.T, attrs pcommon.Map) {
	statsType, mediaType := attrs.AsRaw()[semconv.StatsType], attrs.AsRaw()[semconv.MediaType]
	if !slices.Contains([]any{"inbound-rtp", "outbound-rtp"}, statsType) || !slices.Contains([]any{"audio", "video"}, mediaType) {
		return // no stream: what it brought along is not looked at
	}
	mos, scored := attrs.Get(semconv.QualityMOS)
	reason, refused := attrs.Get(semconv.QualityReason)
	require.NotEqual(t, scored, refused, "a score or a reason")
	if refused {
		require.NotEmpty(t, reason.Str())
		return
	}
	label, _ := attrs.Get(semconv.QualityLabel)
	require.True(t, mos.Double() >= 1 && mos.Double() <= 5, "%v", mos.Double())
	require.Equal(t, quality.Label(mos.Double(), quality.DefaultBounds()), label.Str())
}

// TestOddAttributes: attributes of other types than ours are no attributes, and no harm.
//
// spec: SRV-02, QUAL-01
func TestOddAttributes(t *testing.T) { rapid.Check(t, oddScores) }

// FuzzAttributes is TestOddAttributes led by what code the records reach.
func FuzzAttributes(f *testing.F) { rapidfuzz.Run(f, oddScores) }
