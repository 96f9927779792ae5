package live_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

func BenchmarkApply(b *testing.B) {
	set := newSet(10, 0)
	var stats event.Measurement
	b.ReportAllocs()
	seq, i := uint64(1), 0
	for b.Loop() {
		e := conferencetest.Row("c", "s", seq, i, &stats)
		set.Apply(&e, e.AtMs)
		if i++; i == 5 {
			i, seq = 0, seq+1
		}
	}
}

// heapOf returns the bytes that one of n conferences of two participants and five minutes
// holds.
func heapOf(tb testing.TB, n int) float64 {
	tb.Helper()
	before := conferencetest.Heap()
	set := newSet(2*n, 0) // an application may hold three quarters
	var stats event.Measurement
	for c := range n {
		for participant := range 2 {
			session := fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", 2*c+participant)
			for seq := range uint64(30) {
				for i := range 5 {
					e := conferencetest.Row(fmt.Sprint("conference-", c), session, seq+1, i, &stats)
					require.Equal(tb, live.Applied, set.Apply(&e, e.AtMs))
				}
			}
		}
	}
	after := conferencetest.Heap()
	runtime.KeepAlive(set)
	return float64(after-before) / float64(n)
}

// TestHeapPerConference is a budget: 100000 live conferences, the default limit, must fit
// in a few GiB. Raise it in the change that needs it.
func TestHeapPerConference(t *testing.T) {
	const budget = 20 << 10
	got := heapOf(t, 300)
	t.Logf("%.0f bytes for a conference of two participants and ten streams", got)
	require.Less(t, got, float64(budget))
}

func BenchmarkHeapPerConference(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(heapOf(b, 1000), "B/conference")
	}
}

func BenchmarkSummary(b *testing.B) {
	c := conference.New("app", "c", nil, quality.DefaultBounds())
	var stats event.Measurement
	for seq := range uint64(30) {
		for i := range 5 {
			e := conferencetest.Row("c", "a", seq+1, i, &stats)
			c.Apply(&e)
			e.Session = "b"
			c.Apply(&e)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Summary([4]float64{4.2, 3.8, 3.2, 2.6})
	}
}

// BenchmarkTick checks 10000 live conferences that are not due.
func BenchmarkTick(b *testing.B) {
	set := newSet(10_000, 0)
	var stats event.Measurement
	for c := range 10_000 {
		e := conferencetest.Row(strconv.Itoa(c), "a", 1, 0, &stats)
		set.Apply(&e, e.AtMs)
	}
	tick(set, conferencetest.Base+10_000)
	for b.Loop() {
		tick(set, conferencetest.Base+10_001)
	}
}
