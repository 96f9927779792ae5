package cause

import (
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Variants of a trace: the records of a call with one thing less.

// shuffled gives the batches in another order, and some of them twice; all arrive after the last.
func shuffled(batches []plog.Logs, seed uint64) []plog.Logs {
	source := rand.New(rand.NewPCG(seed, 1))
	out := append(slices.Clone(batches), batches[:len(batches)/3]...)
	out = slices.DeleteFunc(out, func(l plog.Logs) bool { return l.LogRecordCount() == 0 }) // it has no time of arrival
	source.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// without takes out all records of one user.
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
				r.Attributes().Remove(eventtest.Stats(name))
			}
			if kind, ok := r.Attributes().Get(semconv.StatsType); ok && kind.Str() == "outbound-rtp" {
				r.Attributes().Remove(eventtest.Stats("audioLevel"))
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

// asSafari takes out what Safari's reports lack.
func asSafari(batches []plog.Logs) []plog.Logs {
	missing := []string{"freezes", "freezeMs", "freezes60s", "pauses", "pauseMs", "retransmittedPackets", "retransmittedBytes"}
	return changed(batches, func(_ string, records plog.LogRecordSlice) {
		for _, r := range records.All() {
			for _, name := range missing {
				r.Attributes().Remove(eventtest.Stats(name))
			}
		}
	})
}
