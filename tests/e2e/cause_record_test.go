package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/eventlog"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
)

var recordCauses = flag.String("record-causes", "", "the directory to record the traces of harmed calls in (package tests/cause)")

// TestRecordCauses makes every harmed call of which there is no trace, and writes what the
// receiver emitted of it. It does so only when it is asked to: all of them take half an hour.
func TestRecordCauses(t *testing.T) {
	if *recordCauses == "" {
		t.Skip("no -record-causes")
	}
	recordAll(t, causeScenes(), *recordCauses)
}

// recordAll makes calls on one stage, one after the other: two at a time leave a machine of two processors no time.
func recordAll(t *testing.T, scenes []causeScene, dir string) {
	t.Helper()
	browser.Require(t, browser.Chromium)
	sink := new(recordSink)
	server := httptest.NewServer(sink)
	t.Cleanup(server.Close)
	c := newCollector(t)
	c.records = server.URL
	stage := newCauseStage(t, c)
	c.start()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) { s.record(t, stage, sink, dir) })
	}
}

func (s *causeScene) record(t *testing.T, stage *causeStage, sink *recordSink, dir string) {
	t.Helper()
	trace := &cause.Trace{Name: s.name, Label: s.label}
	if trace.Recorded(dir) {
		t.Skip("recorded before")
	}
	kind := s.browser
	if kind == "" {
		kind = browser.Chromium
	}
	room := s.name
	waited, began := waitedForProcessors(t), time.Now()
	s.play(t, stage, room, browser.Start(t, kind), full)
	var logs []plog.Logs
	browser.Eventually(t, patience, "all have said what they think", func() (bool, string) {
		logs = sink.of(room)
		opinions := count(logs, semconv.EventFeedback)
		return opinions == len(s.users)-s.gone, strconv.Itoa(opinions)
	})
	if late := lateShare(logs, s.starved.who); late > maxLate {
		t.Fatalf("%.0f %% of the measurements came late: this machine had no time for the call; record it again", 100*late)
	}
	trace.Load = &cause.Load{
		Pressure: math.Round(1000*(waitedForProcessors(t)-waited).Seconds()/time.Since(began).Seconds()) / 1000,
		Late:     math.Round(1000*lateShare(logs, s.starved.who)) / 1000,
	}
	if trace.Load.Starved() {
		t.Fatalf("tasks waited for a processor in %.0f %% of the time, of at most %.0f: record it again", 100*trace.Load.Pressure, 100*cause.MaxPressure)
	}
	for _, l := range logs {
		trim(l)
	}
	trace.Logs = logs
	require.NoError(t, trace.Write(dir))
	t.Logf("%d batches, %d measurements, %+v", len(logs), count(logs, semconv.EventStats), *trace.Load)
}

// waitedForProcessors returns for how long so far some task has waited for a processor: the kernel's
// pressure stall information, 0 if the kernel has none.
func waitedForProcessors(t *testing.T) time.Duration {
	t.Helper()
	raw, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0
	}
	var ten, minute, five float64
	var total int64
	_, err = fmt.Sscanf(string(raw), "some avg10=%f avg60=%f avg300=%f total=%d", &ten, &minute, &five, &total)
	require.NoError(t, err)
	return time.Duration(total) * time.Microsecond
}

// maxLate is how many measurements of a recording may be late. More mean that other work on
// the machine harmed the call, which nobody arranged.
const maxLate = 0.12

// lateShare is that of all but one who was to have no time.
func lateShare(logs []plog.Logs, starved string) float64 {
	late, all := 0.0, 0.0
	for _, l := range logs {
		eachRecordOf(l, func(user string, r plog.LogRecord) {
			if user == starved && starved != "" {
				return
			}
			if interval, ok := r.Attributes().Get(semconv.IntervalMs); ok {
				all++
				if interval.Double() > 1.075*float64(statsInterval.Milliseconds()) {
					late++
				}
			}
		})
	}
	return late / max(1, all)
}

func count(logs []plog.Logs, name string) (n int) {
	for _, l := range logs {
		eachRecord(l, func(_ pcommon.Map, r plog.LogRecord) {
			if r.EventName() == name {
				n++
			}
		})
	}
	return n
}

func eachRecordOf(logs plog.Logs, do func(user string, r plog.LogRecord)) {
	for _, resource := range logs.ResourceLogs().All() {
		user := eventlog.Text(resource.Resource().Attributes(), semconv.UserID)
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				do(user, record)
			}
		}
	}
}

func eachRecord(logs plog.Logs, do func(scope pcommon.Map, r plog.LogRecord)) {
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				do(scope.Scope().Attributes(), record)
			}
		}
	}
}

// trim takes out what says where and when it was recorded, and the opinions, which nobody had.
func trim(logs plog.Logs) {
	for _, resource := range logs.ResourceLogs().All() {
		resource.Resource().Attributes().Remove(semconv.UserAgent)
		resource.Resource().Attributes().Remove(semconv.LibraryVersion)
		for _, scope := range resource.ScopeLogs().All() {
			scope.LogRecords().RemoveIf(func(r plog.LogRecord) bool { return r.EventName() == semconv.EventFeedback })
			for _, r := range scope.LogRecords().All() {
				r.Attributes().Remove(semconv.ErrorLocalSDP)
				r.Attributes().Remove(semconv.ErrorRemoteSDP)
			}
		}
	}
}

// recordSink takes what the receiver emits, by conference.
type recordSink struct {
	mu    sync.Mutex
	rooms map[string][]plog.Logs
}

// ServeHTTP implements http.Handler: OTLP over HTTP, as JSON.
func (s *recordSink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	form := new(plog.JSONUnmarshaler)
	logs, err := form.UnmarshalLogs(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rooms == nil {
		s.rooms = make(map[string][]plog.Logs)
	}
	eachRecord(logs, func(scope pcommon.Map, _ plog.LogRecord) {
		room := eventlog.Text(scope, semconv.ConferenceID)
		if have := s.rooms[room]; len(have) == 0 || have[len(have)-1] != logs {
			s.rooms[room] = append(have, logs)
		}
	})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct{}{})
}

func (s *recordSink) of(room string) []plog.Logs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rooms[room])
}
