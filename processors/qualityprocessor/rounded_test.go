package qualityprocessor

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// TestScoresAreRounded: the score, its inputs and the label are those of 4 decimals.
//
// spec: QUAL-01
func TestScoresAreRounded(t *testing.T) {
	logs := plog.NewLogs()
	frameOf(logs)
	numbers := 0
	for _, record := range recordsOf(process(t, logs)).All() {
		for name, v := range record.Attributes().All() {
			if strings.HasPrefix(name, semconv.QualityPrefix) && v.Type() == pcommon.ValueTypeDouble {
				require.InDelta(t, math.Round(v.Double()*1e4)/1e4, v.Double(), 0, name)
				numbers++
			}
		}
		if mos, ok := record.Attributes().Get(semconv.QualityMOS); ok {
			label, _ := record.Attributes().Get(semconv.QualityLabel)
			require.Equal(t, quality.Label(mos.Double(), quality.DefaultBounds()), label.Str())
		}
	}
	require.Greater(t, numbers, 20)
}
