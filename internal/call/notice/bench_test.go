package notice

import (
	"runtime"
	"strconv"
	"testing"
	"time"
)

// benchApps is how many apps the benchmarks have.
const benchApps = 1000

func benchTracker() (*Tracker, []string) {
	rules := DefaultRules()
	apps := make([]string, benchApps)
	for i := range apps {
		apps[i] = "app " + strconv.Itoa(i)
	}
	return NewTracker(func(string) *Rules { return &rules }), apps
}

// BenchmarkTracker counts conferences of 1,000 apps, 10,000 a second of event time, and evaluates all
// windows each 10 s of it. A conference counts in seven windows.
func BenchmarkTracker(b *testing.B) {
	t, apps := benchTracker()
	f := Fact{Outcome: "success", SetupMs: new(120.0), RTTMs: new(80.0), Loss: new(0.001), MOS: new(4.1)}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, app := range apps {
		t.Add(app, noon, noon, f)
		t.Add(app, noon, noon, Fact{Rating: new(5)})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportAllocs()
	now, i := noon, 0
	for b.Loop() {
		t.Add(apps[i%benchApps], now, now, f)
		now = now.Add(100 * time.Microsecond)
		if i++; i%100_000 == 0 {
			t.Evaluate(now)
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/benchApps, "B/app")
}

// BenchmarkTrackerEvaluate evaluates the eight windows of each of 1,000 apps.
func BenchmarkTrackerEvaluate(b *testing.B) {
	t, apps := benchTracker()
	for _, app := range apps {
		t.Add(app, noon, noon, Fact{Outcome: "success", SetupMs: new(120.0), RTTMs: new(80.0), Loss: new(0.001), MOS: new(4.1)})
		t.Add(app, noon, noon, Fact{Rating: new(5)})
	}
	b.ReportAllocs()
	for b.Loop() {
		t.Evaluate(noon)
	}
}
