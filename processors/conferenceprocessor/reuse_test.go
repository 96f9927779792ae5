package conferenceprocessor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/semconv"
)

func inConference(logs plog.Logs, conferenceID string) plog.Logs {
	logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().PutStr(semconv.ConferenceID, conferenceID)
	return logs
}

// TestAReusedNumberWaitsForTheFirst: of two records of one identity that arrive over two
// connections at once the store keeps the one that it receives first. The second waits, so that
// the state in memory has the same one.
//
// spec: SRV-03, CONF-01
func TestAReusedNumberWaitsForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var order []string
		next, err := consumer.NewLogs(func(_ context.Context, logs plog.Logs) error {
			scope := logs.ResourceLogs().At(0).ScopeLogs().At(0)
			if scope.LogRecords().At(0).EventName() == semconv.EventSummary {
				return nil
			}
			id, _ := scope.Scope().Attributes().Get(semconv.ConferenceID)
			order = append(order, id.Str())
			if len(order) == 1 {
				<-release
			}
			return nil
		})
		require.NoError(t, err)
		c, _ := start(t, next, nil)
		results := make(chan error, 2)
		for _, id := range []string{"first", "second"} {
			logs := inConference(happened(1, "fabricAdded", "{}"), id)
			go func() { results <- c.ConsumeLogs(t.Context(), logs) }()
			synctest.Wait()
		}
		require.Equal(t, []string{"first"}, order)
		close(release)
		require.NoError(t, <-results)
		require.NoError(t, <-results)
		require.Equal(t, []string{"first", "second"}, order)
		require.Equal(t, 1, liveIn(c), "the second is a repetition")
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestRecordsOfFailedCallsAreSummarised: a call can fail after the store has its
// records, and their client may never send them again, or reuse their numbers. The conference
// would have no summary until the collector is started again.
//
// spec: SRV-03, CONF-02
func TestRecordsOfFailedCallsAreSummarised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, next := new(fakeStore), new(sink)
		c, err := startWith(t, store, next)
		require.NoError(t, err)
		advance(3 * time.Minute) // the sweep at the start is done
		next.refuse = func(plog.Logs) error { return errors.New("deadline exceeded") }
		require.Error(t, c.ConsumeLogs(t.Context(), happened(1, "fabricAdded", "{}")))
		next.refuse = nil
		store.change(func() { store.fill(time.Now().Add(-20*time.Second), time.Now()) })
		advance(2 * time.Minute)
		summaries, _ := next.take()
		require.Len(t, summaries, 1)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}
