package qualityprocessor

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// labelVector is a measurement that goes through the library's label and the collector's.
type labelVector struct {
	Name       string
	MediaType  string
	StatsType  string
	Usage      string // of its fabric; multiplex where it is empty
	IntervalMs float64
	Bounds     []float64
	Measures   map[string]any // by their names on the wire
	Library    *string        // its label, nil where it has none
	Collector  string         // its label, or why it has none
	Why        string         // they differ
}

// asLibrary is what the library says for a label of the collector's.
var asLibrary = map[string]string{
	quality.Excellent: "excellent", quality.Good: "excellent",
	quality.Fair: "fair", quality.Poor: "fair", quality.Bad: "bad",
}

// TestLabelsOfLibraryAndCollector: with the same bounds both label alike, but for what the
// document says that the library leaves out. client/test/labels.test.ts runs the same
// measurements through the library.
//
// spec: QUAL-01, STAT-02
func TestLabelsOfLibraryAndCollector(t *testing.T) {
	text, err := os.ReadFile("../../client/test/data/labels.json")
	require.NoError(t, err)
	var vectors []labelVector
	require.NoError(t, json.Unmarshal(text, &vectors))
	doc, err := os.ReadFile("../../docs/quality.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(doc), "\n### The library's own label\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	alike, whys := 0, map[string]bool{}
	for _, v := range vectors {
		require.Equal(t, v.Collector, v.collector(t), v.Name)
		var library string
		if v.Library != nil {
			library = *v.Library
		}
		if v.Why == "" {
			require.Equal(t, asLibrary[v.Collector], library, v.Name)
			alike++
			continue
		}
		require.NotEqual(t, asLibrary[v.Collector], library, "%s: there is no difference", v.Name)
		require.Contains(t, section, "- **"+v.Why+"**", v.Name)
		whys[v.Why] = true
	}
	require.GreaterOrEqual(t, alike, 25)
	require.Len(t, whys, 7)
}

// collector is the label that the processor gives, or why it gives none.
func (v *labelVector) collector(t *testing.T) string {
	t.Helper()
	logs := plog.NewLogs()
	scope := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	scope.Scope().Attributes().PutStr(semconv.FabricUsage, v.Usage)
	record := scope.LogRecords().AppendEmpty()
	record.SetEventName(semconv.EventStats)
	raw := map[string]any{semconv.StatsType: v.StatsType, semconv.MediaType: v.MediaType, semconv.IntervalMs: v.IntervalMs}
	for name, value := range v.Measures {
		if value != nil {
			raw[eventtest.Stats(name)] = value
		}
	}
	require.NoError(t, record.Attributes().FromRaw(raw))
	bounds, err := quality.NewBounds(v.Bounds)
	require.NoError(t, err)
	attrs := recordsOf(processBy(t, bounds, logs)).At(0).Attributes()
	for _, key := range []string{semconv.QualityLabel, semconv.QualityReason} {
		if label, ok := attrs.Get(key); ok {
			return label.Str()
		}
	}
	return ""
}
