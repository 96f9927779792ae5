package timeseries

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/qosrtc/qos/exporters/timeseriesexporter"
	"github.com/qosrtc/qos/internal/freeport"
	"github.com/qosrtc/qos/internal/semconv"
)

const (
	patience = 2 * time.Minute
	pause    = 20 * time.Millisecond
)

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address()
	require.NoError(t, err)
	return address
}

// client keeps no connection: goroutines that are left fail the package.
var client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// process is a program that can be ended and started again.
type process struct {
	t     *testing.T
	line  []string
	ready string // URL that answers 200 when it serves
	cmd   *exec.Cmd
	log   *os.File
}

func newProcess(t *testing.T, ready string, line ...string) *process {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	p := &process{t: t, line: line, ready: ready, log: log}
	t.Cleanup(func() {
		p.end(syscall.SIGKILL)
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s:\n%s", filepath.Base(line[0]), text[max(0, len(text)-4000):])
		}
		_ = log.Close()
	})
	p.start()
	return p
}

func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(p.line[0], p.line[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	require.NoError(p.t, p.cmd.Start())
	require.Eventually(p.t, func() bool { return status(p.ready) == http.StatusOK }, patience, pause)
}

// end ends the program and waits for it.
func (p *process) end(signal syscall.Signal) {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(signal)
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

func status(url string) int {
	resp, err := client.Get(url)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// program returns the path of a program, or skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("QOS_PROMETHEUS") == "required" {
			t.Fatalf("%s is missing (make servers)", name)
		}
		t.Skipf("%s is missing (make servers)", name)
	}
	return path
}

// store is a time-series database.
type store struct {
	*process
	url string
}

// prometheus starts Prometheus, which scrapes the targets of jobs (YAML) and accepts remote write.
func prometheus(t *testing.T, scrape string) *store {
	t.Helper()
	path, dir, address := program(t, "prometheus"), t.TempDir(), freeAddress(t)
	config := filepath.Join(dir, "prometheus.yaml")
	require.NoError(t, os.WriteFile(config, []byte(scrape), 0o600))
	return &store{newProcess(t, "http://"+address+"/-/ready", path, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--enable-feature=exemplar-storage", "--web.enable-remote-write-receiver"), "http://" + address}
}

func victoria(t *testing.T) *store {
	t.Helper()
	path, dir, address := program(t, "victoria-metrics"), t.TempDir(), freeAddress(t)
	return &store{
		newProcess(t, "http://"+address+"/health", path, "-storageDataPath="+dir, "-httpListenAddr="+address, "-search.latencyOffset=1s", "-search.disableCache"),
		"http://" + address,
	}
}

// collector is the exporter, with a persistent queue in a directory.
type collector struct {
	t         *testing.T
	config    map[string]any
	storage   string
	telemetry *componenttest.Telemetry
	exporter  exporter.Logs
	extension component.Component
}

func newCollector(t *testing.T, config map[string]any) *collector {
	t.Helper()
	c := &collector{t: t, config: config, storage: t.TempDir()}
	c.start()
	t.Cleanup(c.end)
	return c
}

type host struct {
	component.Host
	extensions map[component.ID]component.Component
}

func (h host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func (c *collector) start() {
	c.t.Helper()
	c.telemetry = componenttest.NewTelemetry()
	files := filestorage.NewFactory()
	id := component.NewID(files.Type())
	cfg := files.CreateDefaultConfig()
	require.NoError(c.t, confmap.NewFromStringMap(map[string]any{"directory": c.storage}).Unmarshal(cfg))
	var err error
	c.extension, err = files.Create(c.t.Context(), extensiontest.NewNopSettings(files.Type()), cfg)
	require.NoError(c.t, err)
	require.NoError(c.t, c.extension.Start(c.t.Context(), componenttest.NewNopHost()))

	factory := timeseriesexporter.NewFactory()
	own := factory.CreateDefaultConfig()
	require.NoError(c.t, confmap.NewFromStringMap(c.config).Unmarshal(own))
	require.NoError(c.t, xconfmap.Validate(own))
	set := exportertest.NewNopSettings(factory.Type())
	set.ID = component.NewID(factory.Type()) // which names its queue
	set.TelemetrySettings = c.telemetry.NewTelemetrySettings()
	set.Resource.Attributes().PutStr("service.name", "qos")
	set.Resource.Attributes().PutStr("service.instance.id", "collector-1")
	c.exporter, err = factory.CreateLogs(c.t.Context(), set, own)
	require.NoError(c.t, err)
	require.NoError(c.t, c.exporter.Start(c.t.Context(), host{componenttest.NewNopHost(), map[component.ID]component.Component{id: c.extension}}))
}

// end ends the collector; what the store has not accepted remains in its queue.
func (c *collector) end() {
	if c.exporter == nil {
		return
	}
	ctx := context.WithoutCancel(c.t.Context())
	require.NoError(c.t, c.exporter.Shutdown(ctx))
	require.NoError(c.t, c.extension.Shutdown(ctx))
	require.NoError(c.t, c.telemetry.Shutdown(ctx))
	c.exporter = nil
}

func (c *collector) send(logs plog.Logs) {
	c.t.Helper()
	require.NoError(c.t, c.exporter.ConsumeLogs(c.t.Context(), logs))
}

// metric returns the sum of the data points of one of the collector's own metrics, 0 if it has none.
func (c *collector) metric(name string) (sum int64) {
	c.t.Helper()
	m, err := c.telemetry.GetMetric(name)
	if err != nil {
		return 0
	}
	switch data := m.Data.(type) {
	case metricdata.Gauge[int64]:
		for _, dp := range data.DataPoints {
			sum += dp.Value
		}
	case metricdata.Sum[int64]:
		for _, dp := range data.DataPoints {
			sum += dp.Value
		}
	}
	return sum
}

// add adds a record of the conference to logs.
func add(logs plog.Logs, conference, event string, attrs map[string]any) {
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr(semconv.AppID, "demo")
	rl.Resource().Attributes().PutStr(semconv.SiteID, `"Nord\Süd"`)
	r := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetEventName(event)
	r.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	r.SetTraceID(pcommon.TraceID(semconv.TraceID("demo", conference)))
	if err := r.Attributes().FromRaw(attrs); err != nil {
		panic(err)
	}
}

// ratings returns so many ratings of 5.
func ratings(n int) plog.Logs {
	logs := plog.NewLogs()
	for range n {
		add(logs, "rated", semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: 5})
	}
	return logs
}

// call returns records of most kinds, of known values.
func call() plog.Logs {
	logs := plog.NewLogs()
	add(logs, "c1", semconv.EventStats, map[string]any{
		semconv.StatsType: "inbound-rtp", semconv.MediaType: "video", semconv.QualityMOS: 2.5, semconv.QualityLabel: "bad", semconv.IntervalMs: 5000.0,
		semconv.Stats("rttMs"): 120.0, semconv.Stats("jitterMs"): 40.0, semconv.Stats("packets"): 90, semconv.Stats("packetsLost"): 10,
	})
	add(logs, "c1", semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":2750,"localCandidateType":"host"}`})
	add(logs, "c1", semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer"})
	add(logs, "c1", semconv.EventSummary, map[string]any{
		semconv.SummaryRevision: 1, semconv.SummaryStart: 1_000_000, semconv.SummaryEnd: 1_090_500, semconv.SummaryOutcome: "dropped",
		semconv.SummaryCause: "senderUplink", semconv.SummaryAdded: 3, semconv.SummaryMOS: 2.25, semconv.SummaryIssuesPrefix + "highJitter": 4,
	})
	add(logs, "c1", semconv.EventIssue, map[string]any{semconv.IssueID: "i1", semconv.IssueState: "raised", semconv.IssueKind: "highJitter"})
	return logs
}

// expected are queries, and their values after call. Each sum is in the unit of its metric's name.
var expected = map[string]float64{
	`sum(qos_measurements_total{app="demo"})`:                                                         1,
	`sum(qos_stream_mos_sum{media="video",direction="inbound",relay="unknown",site="\"Nord\\Süd\""})`: 2.5,
	`sum(qos_stream_rtt_seconds_sum)`:                                                                 0.12,
	`sum(qos_stream_jitter_seconds_sum)`:                                                              0.04,
	`sum(qos_stream_loss_ratio_sum)`:                                                                  0.1,
	`sum(qos_stream_loss_ratio_bucket{le="0.05"})`:                                                    0,
	`sum(qos_stream_loss_ratio_bucket{le="0.1"})`:                                                     1,
	`sum(qos_stream_loss_ratio_bucket{le="+Inf"})`:                                                    1,
	`sum(qos_stream_seconds_total{label="bad"})`:                                                      5,
	`sum(qos_fabric_setup_delay_seconds_sum{relay="none"})`:                                           2.75,
	`sum(qos_fabric_setup_delay_seconds_count)`:                                                       1,
	`sum(qos_reported_errors_total{function="createOffer"})`:                                          1,
	`sum(qos_conferences_total{outcome="dropped"})`:                                                   1,
	`sum(qos_conference_causes_total{cause="senderUplink"})`:                                          1,
	`sum(qos_conference_duration_seconds_sum)`:                                                        90.5,
	`sum(qos_conference_mos_sum)`:                                                                     2.25,
	`sum(qos_participants_total)`:                                                                     3,
	`sum(qos_issues_total{kind="highJitter"})`:                                                        4,
	`sum(qos_issues_raised_total{kind="highJitter"})`:                                                 1,
	`sum(qos_open_issues{kind="highJitter"})`:                                                         1,
	`histogram_quantile(0.5, sum by (le) (qos_fabric_setup_delay_seconds_bucket))`:                    2.5,
}
