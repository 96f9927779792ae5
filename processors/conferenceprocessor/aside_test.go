package conferenceprocessor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Records of other conferences are accepted while a summary is made, however long it takes. Those of that conference wait.
// spec: CONF-04
func TestSummaryDelaysNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &sink{}
		c, _ := start(t, next, nil)
		const takes = 20 * time.Second
		c.mu.Lock()
		c.set = live.NewSet(live.Config{MaxConferences: 10, KeepEndedMs: 600_000, Labels: quality.DefaultBounds(), Aside: func(run func()) {
			c.runAside(func() {
				time.Sleep(takes)
				run()
			})
		}})
		c.mu.Unlock()
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricTerminated", `{}`)))
		advance(2 * time.Second) // the summary has begun

		of := func(conference string, seq int64) plog.Logs {
			logs := happened(seq, "customEvent", `{}`)
			logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().PutStr(semconv.ConferenceID, conference)
			return logs
		}
		began := time.Now()
		require.NoError(t, c.ConsumeLogs(t.Context(), of("another", 2)))
		require.Zero(t, time.Since(began))
		require.NoError(t, c.ConsumeLogs(t.Context(), of("standup", 3)))
		require.Equal(t, takes-time.Second, time.Since(began))
		synctest.Wait()
		summaries, _ := next.take()
		require.Len(t, summaries, 1, "of the conference as it was")
		require.NoError(t, c.Shutdown(t.Context()))
	})
}
