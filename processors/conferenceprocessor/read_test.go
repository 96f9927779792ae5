package conferenceprocessor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// FuzzConsume: for any input nothing panics and all of it is passed on.
func FuzzConsume(f *testing.F) {
	marshaler := plog.ProtoMarshaler{}
	for _, logs := range []plog.Logs{happened(1, "fabricSetup", `{"setupMs":1}`), frame(2, semconv.EventStats, 1, map[string]any{semconv.StatsType: "inbound-rtp"})} {
		seed, err := marshaler.MarshalLogs(logs)
		require.NoError(f, err)
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		unmarshaler := plog.ProtoUnmarshaler{}
		logs, err := unmarshaler.UnmarshalLogs(data)
		if err != nil {
			return
		}
		next := new(sink)
		c, _ := start(t, next, nil)
		require.NoError(t, c.ConsumeLogs(t.Context(), logs))
		require.NoError(t, c.Shutdown(t.Context()))
	})
}
