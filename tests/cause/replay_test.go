package cause

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/processors/conferenceprocessor"
	"github.com/qosrtc/qos/processors/qualityprocessor"
)

// settled is when a conference that ended without a word has its summary.
const settled = 2 * time.Minute

// replay passes batches through the quality and the conference processor at the times at
// which the receiver emitted them, and returns the last summary of each conference.
func replay(t *testing.T, batches []plog.Logs) (last conference.Summary) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.LogsSink)
		quality, conf := qualityprocessor.NewFactory(), conferenceprocessor.NewFactory()
		second, err := conf.CreateLogs(t.Context(), processortest.NewNopSettings(conf.Type()), conf.CreateDefaultConfig(), sink)
		require.NoError(t, err)
		first, err := quality.CreateLogs(t.Context(), processortest.NewNopSettings(quality.Type()), quality.CreateDefaultConfig(), second)
		require.NoError(t, err)
		time.Sleep(time.Until(arrival(batches[0])))
		require.NoError(t, second.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, first.Start(t.Context(), componenttest.NewNopHost()))
		for _, logs := range batches {
			time.Sleep(max(0, time.Until(arrival(logs))))
			own := plog.NewLogs()
			logs.CopyTo(own)
			require.NoError(t, first.ConsumeLogs(t.Context(), own))
		}
		time.Sleep(settled)
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

// Variants of a trace: what a call would have told with one thing less.

// shuffled gives the batches in another order, and some of them twice; all arrive after the last.
func shuffled(batches []plog.Logs, seed uint64) []plog.Logs {
	source := rand.New(rand.NewPCG(seed, 1))
	out := append(slices.Clone(batches), batches[:len(batches)/3]...)
	out = slices.DeleteFunc(out, func(l plog.Logs) bool { return l.LogRecordCount() == 0 }) // it has no time of arrival
	source.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// without takes out all that one user told.
func without(who string) func([]plog.Logs) []plog.Logs {
	return func(batches []plog.Logs) []plog.Logs {
		return changed(batches, func(user string, records plog.LogRecordSlice) {
			records.RemoveIf(func(plog.LogRecord) bool { return user == who })
		})
	}
}

// thinned takes out every other frame of measurements.
func thinned(batches []plog.Logs) []plog.Logs {
	return changed(batches, func(_ string, records plog.LogRecordSlice) {
		records.RemoveIf(func(r plog.LogRecord) bool {
			seq, _ := r.Attributes().Get(semconv.FrameSeq)
			return r.EventName() == semconv.EventStats && seq.Int()%2 == 0
		})
	})
}

func changed(batches []plog.Logs, change func(user string, records plog.LogRecordSlice)) (out []plog.Logs) {
	for _, logs := range batches {
		own := plog.NewLogs()
		logs.CopyTo(own)
		for _, resource := range own.ResourceLogs().All() {
			user, _ := resource.Resource().Attributes().Get(semconv.UserID)
			for _, scope := range resource.ScopeLogs().All() {
				change(user.AsString(), scope.LogRecords())
			}
		}
		if own.LogRecordCount() > 0 {
			out = append(out, own)
		}
	}
	return out
}

// asFirefox takes out what Firefox does not measure.
func asFirefox(batches []plog.Logs) []plog.Logs {
	missing := []string{"limitation", "cpuLimitedMs", "bandwidthLimitedMs", "targetBitrateBps", "availableOutgoingBps"}
	return changed(batches, func(_ string, records plog.LogRecordSlice) {
		for _, r := range records.All() {
			for _, name := range missing {
				r.Attributes().Remove(semconv.Stats(name))
			}
			if kind, ok := r.Attributes().Get(semconv.StatsType); ok && kind.Str() == "outbound-rtp" {
				r.Attributes().Remove(semconv.Stats("audioLevel"))
			}
		}
	})
}

// skewed shifts what one user's clock says.
func skewed(batches []plog.Logs, who string, by time.Duration) []plog.Logs {
	return changed(batches, func(user string, records plog.LogRecordSlice) {
		for _, r := range records.All() {
			if user == who {
				r.SetTimestamp(pcommon.NewTimestampFromTime(r.Timestamp().AsTime().Add(by)))
			}
		}
	})
}
