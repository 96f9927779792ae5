package lab

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/mediaserver"
	"github.com/qosrtc/qos/tests/scenario"
)

var (
	into    = flag.String("into", "", "record into this folder of tests/cause/testdata: the calls of a draw, which has its name, with . the listed calls, or with servers those through real media servers")
	seed    = flag.Uint64("seed", 1, "of the draw")
	calls   = flag.Int("calls", 60, "of the draw")
	kinds   = flag.String("kinds", ".", "draw only kinds whose name matches this regular expression")
	traces  = filepath.Join("..", "cause", "testdata")
	servers = "servers"       // the folder of the calls through real media servers
	measure = 2 * time.Second // interval of measurements, the shortest that an app can have
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(browser.Main(m, func() (env []string, cleanUp func()) { return nil, func() {} }))
}

// drawn returns the calls that the flags describe.
func drawn(t *testing.T) []scenario.Scenario {
	t.Helper()
	switch *into {
	case ".":
		return scenario.Listed()
	case servers:
		return scenario.Recorded(scenario.LiveKit{LiveKit: mediaserver.StartLiveKit(t)}, scenario.Janus{Janus: mediaserver.StartJanus(t)})
	}
	pattern, err := regexp.Compile(*kinds)
	require.NoError(t, err)
	list := Draw(filepath.Base(*into), *seed, *calls, pattern.MatchString)
	require.Len(t, list, *calls, "no kind matches %q", *kinds)
	if strings.Contains(textOf(list), "served, ") {
		Through(list, scenario.LiveKit{LiveKit: mediaserver.StartLiveKit(t)}, scenario.Janus{Janus: mediaserver.StartJanus(t)})
	}
	return list
}

// TestRecord makes each call that has no trace, one after the other: two at a time leave a machine of two processors no time.
func TestRecord(t *testing.T) {
	if *into == "" {
		t.Skip("no -into")
	}
	browser.Require(t, browser.Chromium)
	require.NotEmpty(t, os.Getenv("QOS_COLLECTOR"), "the path of the binary; `make record-causes` builds it")
	list, dir := drawn(t), filepath.Join(traces, *into)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	if *into != "." && *into != servers {
		writeList(t, list, dir)
	}
	r := startRecorder(t)
	for _, s := range list {
		t.Run(s.Name, func(t *testing.T) { r.record(t, &s, dir) })
	}
}

// writeList writes the list of a draw. A folder with the list of another draw is an error.
func writeList(t *testing.T, list []scenario.Scenario, dir string) {
	t.Helper()
	text, file := textOf(list), filepath.Join(dir, "draw.txt")
	if have, err := os.ReadFile(file); err == nil {
		require.Equal(t, string(have), text, "another draw is in %s: give its seed, number of calls and kinds", dir)
		return
	}
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func textOf(list []scenario.Scenario) string {
	var text strings.Builder
	for _, s := range list {
		fmt.Fprintf(&text, "%s\t%s\t%s\t%s\n", s.Name, s.Label.Kind, s.Label.Cause, s.Label.Did)
	}
	return text.String()
}

// recorder makes calls on one stage and keeps what the receiver emits.
type recorder struct {
	stage   *scenario.Stage
	emitted *scenario.Records
}

func startRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{emitted: scenario.StartRecords(t)}
	c := harness.NewCollector(t, harness.Options{Storage: harness.SQLite(t.TempDir())})
	r.stage = scenario.NewStage(t, c.URL())
	c.Configure(func(o *harness.Options) {
		o.Apps = fmt.Sprintf("{key_file: %q, apps: [{id: %s, secrets: [%s], origins: [%q]}]}", o.KeyFile, harness.AppID, harness.AppSecret, r.stage.URL)
		o.More = fmt.Sprintf(`
receivers: {qoswss: {stats_interval: %s}}
exporters: {otlp_http: {logs_endpoint: %q, encoding: json, compression: none, sending_queue: {enabled: false}}}
service: {pipelines: {logs/records: {receivers: [qoswss], exporters: [otlp_http]}}}
`, measure, r.emitted.URL)
	})
	c.Start()
	return r
}

// record makes a call in a browser of its own and writes its trace, unless it exists or this machine had too little time.
func (r *recorder) record(t *testing.T, s *scenario.Scenario, dir string) {
	t.Helper()
	trace := &cause.Trace{Name: s.Name, Label: s.Label}
	if trace.Recorded(dir) {
		t.Skip("it has a trace")
	}
	kind := s.Browser
	if kind == "" {
		kind = browser.Chromium
	}
	b := browser.Start(t, kind)
	pressure := scenario.MeasurePressure(t) // of the call: a browser that starts needs all processors
	s.Play(t, r.stage, s.Name, b, scenario.Full)
	var logs []plog.Logs
	browser.Eventually(t, browser.Patience, "all have sent feedback", func() (bool, string) {
		sent := 0
		logs = r.emitted.Of(s.Name)
		for _, l := range logs {
			scenario.EachRecord(l, func(_ string, r plog.LogRecord) {
				if r.EventName() == semconv.EventFeedback {
					sent++
				}
			})
		}
		return sent == len(s.Users)-s.Gone, strconv.Itoa(sent)
	})
	trace.Load = &cause.Load{Late: thousandths(lateShare(logs, s.Starved.Who))}
	if s.Starved.Who == "" { // the tasks of a starved browser wait, and the kernel counts them
		trace.Load.Pressure = thousandths(pressure())
	}
	require.LessOrEqual(t, trace.Load.Late, maxLate, "too many measurements were late: this machine had no time for the call; record it again")
	require.False(t, trace.Load.Starved(), "tasks waited for a processor in %.0f %% of the time: record it again", 100*trace.Load.Pressure)
	for _, l := range logs {
		trim(l)
	}
	trace.Logs = logs
	require.NoError(t, trace.Write(dir))
	t.Logf("%d batches, %+v", len(logs), *trace.Load)
}

func thousandths(share float64) float64 { return math.Round(1000*share) / 1000 }

// maxLate is the highest share of late measurements of a recording: more show that other work on the machine impaired the call.
const maxLate = 0.12

// lateShare is the share of late measurements, without those of the participant whose machine is starved.
func lateShare(logs []plog.Logs, starved string) float64 {
	late, all := 0.0, 0.0
	for _, l := range logs {
		scenario.EachRecord(l, func(user string, r plog.LogRecord) {
			interval, ok := r.Attributes().Get(semconv.IntervalMs)
			if !ok || user == starved {
				return
			}
			all++
			if interval.Double() > 1.075*float64(measure.Milliseconds()) {
				late++
			}
		})
	}
	return late / max(1, all)
}

// trim removes attributes of the machine that recorded, and the feedback, which nobody gave.
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

// TestDraw checks that a seed gives the same calls each time, that another seed gives others, and that the draw has
// each kind, with a label.
func TestDraw(t *testing.T) {
	all := func(string) bool { return true }
	n := 3 * len(catalogue())
	list := Draw("draw", *seed, n, all)
	require.Equal(t, textOf(list), textOf(Draw("draw", *seed, n, all)))
	require.NotEqual(t, textOf(list), textOf(Draw("draw", *seed+1, n, all)))
	require.Len(t, list, n)
	t.Log(textOf(list))
	names := map[string]int{}
	for _, s := range list {
		names[s.Label.Kind]++
		require.NotEmpty(t, s.Label.Did)
		require.NotContains(t, s.Label.Did, "%!")
		require.Equal(t, slices.ContainsFunc(catalogue(), func(k kind) bool { return k.control && k.name == s.Label.Kind }), s.Label.Cause == "none")
		require.Subset(t, s.Users, s.Label.Users)
	}
	require.Len(t, names, len(catalogue()))
}

// TestListed compares the labels of listed calls with those of their traces.
func TestListed(t *testing.T) {
	for dir, list := range map[string][]scenario.Scenario{
		traces: scenario.Listed(), filepath.Join(traces, servers): scenario.Recorded(scenario.LiveKit{}, scenario.Janus{}),
	} {
		recorded, err := cause.ReadAll(dir)
		require.NoError(t, err)
		for _, trace := range recorded {
			i := slices.IndexFunc(list, func(s scenario.Scenario) bool { return s.Name == trace.Name })
			require.GreaterOrEqual(t, i, 0, trace.Name)
			want, got := list[i].Label, trace.Label
			want.Did, got.Did = "", ""
			require.Equal(t, want, got, trace.Name)
		}
		require.Len(t, list, len(recorded), dir)
	}
}
