package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/qosrtc/qos/tests/harness"
)

// stats is what the pages measure together.
type stats struct {
	mu sync.Mutex
	counts
}

type counts struct {
	latency        *hdrhistogram.Histogram // of acks, in µs from the time at which a frame was due
	lateness       *hdrhistogram.Histogram // of the starts of conferences, in µs
	conferences    int64
	notStarted     int64 // conferences of the plan: too many were live
	sessions       int64
	frames         int64
	acked          int64
	records        int64 // acknowledged
	unacknowledged int64
	slowed         int64
	refused        int64
	faults         map[string]int64
}

// The times that are counted apart: 1 µs to 5 min, with 3 digits.
const (
	leastLatency  = 1
	mostLatency   = 300_000_000
	latencyDigits = 3
)

func newStats() *stats {
	histogram := func() *hdrhistogram.Histogram { return hdrhistogram.New(leastLatency, mostLatency, latencyDigits) }
	return &stats{counts: counts{latency: histogram(), lateness: histogram(), faults: map[string]int64{}}}
}

func (s *stats) add(to *int64, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*to += n
}

func (s *stats) acknowledged(after time.Duration, records int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked++
	s.records += records
	record(s.latency, after)
}

// started counts a conference that started late by a time.
func (s *stats) started(late time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conferences++
	record(s.lateness, late)
}

func record(to *hdrhistogram.Histogram, d time.Duration) {
	_ = to.RecordValue(min(max(d.Microseconds(), leastLatency), mostLatency)) // it is in range
}

// maxFaults bounds the kinds of faults that are counted separately.
const maxFaults = 20

func (s *stats) fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _, _ := strings.Cut(err.Error(), ": read tcp") // without addresses
	if _, known := s.faults[text]; !known && len(s.faults) >= maxFaults {
		text = "others"
	}
	s.faults[text]++
}

// report is the result of a run.
type report struct {
	counts
	took    time.Duration
	written int64    // records, by the metrics; negative: not compared
	balance *balance // with the store; nil: not compared
}

func (s *stats) report(took time.Duration) *report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &report{counts: s.counts, took: took, written: -1}
}

// String returns the report as lines.
func (r *report) String() string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-22s "+format+"\n", append([]any{name}, args...)...)
	}
	row("conferences", "%d, %d sessions, in %s", r.conferences, r.sessions, r.took.Round(time.Second))
	row("late starts", "p99 %.1f ms, at most %.1f ms", inMs(r.lateness, 99), inMs(r.lateness, 100))
	row("not started", "%d conferences", r.notStarted)
	row("frames", "%d, %.1f/s", r.frames, float64(r.frames)/r.took.Seconds())
	row("acknowledged", "%d frames, %d records", r.acked, r.records)
	row("not acknowledged", "%d", r.unacknowledged)
	row("slow-downs, nacks", "%d, %d", r.slowed, r.refused)
	for _, q := range []float64{50, 90, 99, 99.9, 100} {
		row(fmt.Sprintf("ack, p%g", q), "%.1f ms", inMs(r.latency, q))
	}
	if r.written >= 0 {
		row("written by the store", "%d records", r.written)
	}
	if r.balance != nil {
		row("in the store", "%s", r.balance)
	}
	byCount := func(a, b string) int { return cmp.Or(cmp.Compare(r.faults[b], r.faults[a]), cmp.Compare(a, b)) }
	for _, text := range slices.SortedFunc(maps.Keys(r.faults), byCount) {
		row("fault", "%d times: %s", r.faults[text], text)
	}
	return b.String()
}

func inMs(h *hdrhistogram.Histogram, percentile float64) float64 {
	return float64(h.ValueAtPercentile(percentile)) / 1000
}

// written returns how many records the store exporters wrote, as the collector's metrics show; 0 without a URL.
func written(ctx context.Context, url string) (n int64, err error) {
	if url == "" {
		return 0, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("metrics: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("metrics: %s %w", resp.Status, err)
	}
	metrics, err := harness.ParseMetrics(string(body))
	if err != nil {
		return 0, err
	}
	found := false
	for sample, value := range metrics {
		if strings.HasPrefix(sample, "otelcol_qosstore_written_records") {
			n, found = n+int64(value), true
		}
	}
	if !found {
		return 0, fmt.Errorf("metrics: %s has no otelcol_qosstore_written_records", url)
	}
	return n, nil
}
