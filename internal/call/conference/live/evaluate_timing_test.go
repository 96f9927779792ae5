//go:build linux

package live_test

import (
	"fmt"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// BenchmarkIssues evaluates conferences of two with ten streams once, as the conference processor
// does in each interval: those without a breach, which need no evaluation, and those in which one
// stream, or all ten, repeatedly pass a threshold, for a number of minutes. cpu-ns is the CPU
// time of this process.
func BenchmarkIssues(b *testing.B) {
	const conferences, everyMs = 200, 15_000
	for _, minutes := range []int{5, 60} {
		for _, name := range []string{"well", "one bad stream", "all bad"} {
			b.Run(fmt.Sprintf("%s/%dmin", name, minutes), func(b *testing.B) {
				set := live.NewSet(live.Config{MaxConferences: conferences, Labels: quality.DefaultBounds(), EvaluateMs: everyMs})
				var stats event.Measurement
				frames := uint64(minutes * 6)
				apply := func(seq uint64) {
					for c := range conferences {
						for _, session := range []string{"a", "b"} {
							for i := range 5 {
								e := conferencetest.Row(strconv.Itoa(c), session, seq+1, i, &stats)
								if seq/6%2 == 0 && (name == "all bad" || name == "one bad stream" && session == "a" && i == 1) {
									stats.Set(protocol.PacketsLost, 50)
									stats.Set(protocol.RTTMs, 400)
									stats.Set(protocol.JitterMs, 60)
								}
								set.Apply(&e, e.AtMs)
							}
						}
					}
				}
				for seq := range frames {
					apply(seq)
					set.Evaluate(conferencetest.Base+int64(seq+1)*10_000, conferences)
				}
				b.ReportAllocs()
				evaluations, intervals, cpu := 0, 0, int64(0)
				b.ResetTimer()
				for b.Loop() {
					b.StopTimer()
					frames++
					apply(frames)
					frames++
					apply(frames)
					intervals++
					b.StartTimer()
					before := cpuTime(b)
					evaluations += set.Evaluate(conferencetest.Base+int64(frames+1)*10_000, conferences).Conferences
					cpu += cpuTime(b) - before
				}
				require.Equal(b, name != "well", evaluations > 0)
				b.ReportMetric(float64(cpu)/float64(intervals*conferences), "cpu-ns/conference")
				b.ReportMetric(float64(evaluations)/float64(intervals*conferences), "evaluations")
			})
		}
	}
}

// cpuTime returns the CPU time of this process, ns.
func cpuTime(tb testing.TB) int64 {
	tb.Helper()
	var used syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}
