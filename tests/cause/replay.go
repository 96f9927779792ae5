package cause

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/conferenceprocessor"
	"github.com/qosrtc/qos/processors/qualityprocessor"
)

// settled is when a conference that ended without a word has its summary.
const settled = 2 * time.Minute

// Replay passes batches through the quality and the conference processor at the times at
// which the receiver emitted them, and returns the last summary of their conference.
func Replay(t *testing.T, batches []plog.Logs) (last conference.Summary) {
	t.Helper()
	require.NotEmpty(t, batches)
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.LogsSink)
		quality, conf := qualityprocessor.NewFactory(), conferenceprocessor.NewFactory()
		second, err := conf.CreateLogs(t.Context(), processortest.NewNopSettings(conf.Type()), conf.CreateDefaultConfig(), sink)
		require.NoError(t, err)
		first, err := quality.CreateLogs(t.Context(), processortest.NewNopSettings(quality.Type()), quality.CreateDefaultConfig(), second)
		require.NoError(t, err)
		<-time.After(time.Until(arrival(batches[0])))
		require.NoError(t, second.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, first.Start(t.Context(), componenttest.NewNopHost()))
		for _, logs := range batches {
			<-time.After(max(0, time.Until(arrival(logs))))
			own := plog.NewLogs()
			logs.CopyTo(own)
			require.NoError(t, first.ConsumeLogs(t.Context(), own))
		}
		<-time.After(settled)
		require.NoError(t, first.Shutdown(t.Context()))
		require.NoError(t, second.Shutdown(t.Context()))
		last = newest(t, sink.AllLogs())
	})
	return last
}

func arrival(logs plog.Logs) (at time.Time) {
	eachRecord(logs, func(r plog.LogRecord) {
		if own := r.ObservedTimestamp().AsTime(); own.After(at) {
			at = own
		}
	})
	return at
}

func eachRecord(logs plog.Logs, do func(plog.LogRecord)) {
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				do(record)
			}
		}
	}
}

func newest(t *testing.T, all []plog.Logs) (last conference.Summary) {
	t.Helper()
	for _, logs := range all {
		eachRecord(logs, func(r plog.LogRecord) {
			if r.EventName() != semconv.EventSummary {
				return
			}
			var s conference.Summary
			require.NoError(t, json.Unmarshal([]byte(r.Body().Str()), &s))
			if s.Revision > last.Revision {
				last = s
			}
		})
	}
	require.NotZero(t, last.Revision, "there is no summary")
	return last
}
