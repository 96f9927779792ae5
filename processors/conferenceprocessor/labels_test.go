package conferenceprocessor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// spec: QUAL-01
func TestOtherBoundsAreLoggedOnce(t *testing.T) {
	f := func(mos float64, label string, errors int) {
		t.Helper()
		core, logs := observer.New(zap.ErrorLevel)
		telemetry := componenttest.NewTelemetry()
		defer func() { require.NoError(t, telemetry.Shutdown(context.WithoutCancel(t.Context()))) }()
		set := telemetry.NewTelemetrySettings()
		set.Logger = zap.New(core)
		c, err := newConferences(createDefaultConfig().(*Config), set, new(sink))
		require.NoError(t, err)
		require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
		for seq := range int64(3) {
			require.NoError(t, c.ConsumeLogs(t.Context(), frame(seq+1, semconv.EventStats, 1, map[string]any{
				semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", semconv.QualityMOS: mos, semconv.QualityLabel: label,
			})))
		}
		require.NoError(t, c.Shutdown(t.Context()))
		require.Equal(t, errors, logs.Len())
	}
	f(4.25, "excellent", 0)
	f(4.25, "good", 1) // by the preset itu-g107
	f(4.25, "", 0)
}
