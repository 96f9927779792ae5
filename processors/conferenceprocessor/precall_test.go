package conferenceprocessor

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// precallFrame is a pre-call test of session "s" as the receiver makes it.
func precallFrame(seq int64) plog.Logs {
	logs := frame(seq, semconv.EventPreCall, 0, map[string]any{semconv.PreCallStatus: "success"})
	logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().Clear()
	return logs
}

// TestPreCallsPassUnchanged: a pre-call test is passed on, makes no conference, and is marked when it arrives again, also
// after the next component refused it.
//
// spec: PRE-02, SRV-03
func TestPreCallsPassUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &sink{}
		c, _ := start(t, next, nil)
		require.NoError(t, c.ConsumeLogs(t.Context(), precallFrame(1)))
		require.NoError(t, c.ConsumeLogs(t.Context(), precallFrame(1)))
		next.setRefuse(func(plog.Logs) error { return errors.New("full") })
		require.Error(t, c.ConsumeLogs(t.Context(), precallFrame(2)))
		next.setRefuse(nil)
		require.NoError(t, c.ConsumeLogs(t.Context(), precallFrame(2)))
		require.NoError(t, c.ConsumeLogs(t.Context(), precallFrame(3)))
		require.Zero(t, c.set.Len())
		advance(time.Hour)
		summaries, marked := next.take()
		require.Empty(t, summaries)
		require.Equal(t, []bool{false, true, true, false}, marked)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}
