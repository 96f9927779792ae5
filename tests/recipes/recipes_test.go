package recipes

import (
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/timeseries/timeseriestest"
)

// recipe is what a reader of a README does with some of its blocks.
type recipe struct {
	name     string
	programs []string // beside the collector
	blocks   []string
	run      func(t *testing.T, blocks []string)
}

// recipes run all blocks that blocks finds.
var recipes = []recipe{
	{"scrape", []string{"prometheus"}, []string{"timeseriesexporter: qostimeseries exporter 1", "timeseriesexporter: Scrape 1"}, scrape},
	{"push", []string{"prometheus"}, []string{"timeseriesexporter: Push 1"}, push},
	{"victoriametrics", []string{"victoria-metrics"}, []string{"timeseriesexporter: Push 2"}, pushVictoria},
	{"connector", nil, []string{"seriesconnector: qosseries connector 1"}, connect},
}

// TestRecipes runs each recipe with a real collector and real servers, sends records of a call, and finds
// their values where the README says.
//
// spec: OUT-01
func TestRecipes(t *testing.T) {
	all := blocks(t)
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range r.programs {
				testenv.Program(t, name)
			}
			var texts []string
			for _, name := range r.blocks {
				require.NotEmpty(t, all[name], name)
				texts = append(texts, all[name])
			}
			isolated(t, func(t *testing.T) { t.Helper(); r.run(t, texts) })
		})
	}
}

const (
	logsAt   = "localhost:14318" // where the collector of pipeline receives records
	scrapeAt = "localhost:8482"  // of the time-series exporter, by default
)

// pipeline is the rest of the configuration of a reader of the exporter's README.
const pipeline = `
receivers: {otlp: {protocols: {http: {endpoint: "` + logsAt + `"}}}}
service:
  pipelines: {logs: {receivers: [otlp], exporters: [qostimeseries]}}
  ` + timeseriestest.Quiet

// collect starts a collector with blocks of the exporter's README, and sends it a call.
func collect(t *testing.T, blocks ...string) {
	t.Helper()
	timeseriestest.CollectorAt(t, "http://"+scrapeAt+"/metrics", append([]string{pipeline}, blocks...)...)
	require.Eventually(t, func() bool { // receivers start after exporters
		conn, err := net.Dial("tcp", logsAt)
		if err == nil {
			err = conn.Close()
		}
		return err == nil
	}, timeseriestest.Patience, timeseriestest.Pause)
	timeseriestest.Post(t, logsAt, timeseriestest.Call())
	timeseriestest.Post(t, logsAt, timeseriestest.Ratings(3))
}

// stored waits until a store has the values of the call, each from one collector.
func stored(t *testing.T, s *timeseriestest.Store) {
	t.Helper()
	s.AwaitAll(t, timeseriestest.Expected)
	s.Await(t, `sum(qos_feedback_total{rating="5"})`, 3)
	s.Await(t, `count(qos_feedback_total)`, 1)
}

// increased waits until a store has the increase to the first value: a series that is pushed begins with a
// zero.
func increased(t *testing.T, s *timeseriestest.Store) {
	t.Helper()
	s.Await(t, `sum(last_over_time(qos_feedback_total[5m]) - min_over_time(qos_feedback_total[5m]))`, 3)
}

func scrape(t *testing.T, blocks []string) {
	t.Helper()
	collect(t, blocks[0])
	s := timeseriestest.PrometheusAt(t, timeseriestest.Client, "http://localhost:9090", blocks[1])
	stored(t, s)
	s.Await(t, `sum(qos_measurements_total{job="qos",instance="`+scrapeAt+`"})`, 1)
}

func push(t *testing.T, blocks []string) {
	t.Helper()
	s := timeseriestest.PrometheusAt(t, timeseriestest.Client, "http://localhost:9090", "{}")
	collect(t, blocks[0])
	stored(t, s)
	increased(t, s)
	s.Await(t, `sum(qos_measurements_total{instance="collector-1"})`, 1)
	queue, err := os.ReadDir("/var/lib/qos/queue")
	require.NoError(t, err)
	require.NotEmpty(t, queue, "the queue is on the disk")
}

func pushVictoria(t *testing.T, blocks []string) {
	t.Helper()
	s := timeseriestest.VictoriaAt(t, "localhost:8428")
	collect(t, blocks[0])
	stored(t, s)
	increased(t, s)
}

// connect sends the call by gRPC, as the block receives it. The endpoint of the block's exporter is another
// collector, which passes on what it receives.
func connect(t *testing.T, blocks []string) {
	t.Helper()
	s := timeseriestest.NewSink(t)
	const health, healthOfNext = "localhost:13133", "localhost:13134"
	checked := func(health string) string {
		return `
extensions: {healthcheckv2: {use_v2: true, http: {endpoint: "` + health + `"}}}
service:
  extensions: [healthcheckv2]
  ` + timeseriestest.Quiet
	}
	timeseriestest.Collector(t, healthOfNext, checked(healthOfNext), `
receivers: {otlp: {protocols: {http: {}}}}
exporters: {otlp_http: {endpoint: "`+s.URL+`", compression: none}}
service: {pipelines: {metrics: {receivers: [otlp], exporters: [otlp_http]}}}`)
	timeseriestest.Collector(t, health, blocks[0], checked(health))
	conn, err := grpc.NewClient("localhost:4317", grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	for _, logs := range []plog.Logs{timeseriestest.Call(), timeseriestest.Ratings(3)} {
		_, err = plogotlp.NewGRPCClient(conn).Export(t.Context(), plogotlp.NewExportRequestFromLogs(logs))
		require.NoError(t, err)
	}
	const labels = `{app="demo",site="\"Nord\\Süd\""`
	for name, want := range map[string]float64{
		`qos_feedback_total` + labels + `,rating="5"}`:                3,
		`qos_issues_total{app="demo",kind="highJitter"}`:              4,
		`qos_conference_duration_seconds_sum{app="demo"}`:             90.5,
		`qos_conference_duration_seconds_bucket{app="demo",le="60"}`:  0,
		`qos_conference_duration_seconds_bucket{app="demo",le="120"}`: 1,
	} {
		require.Eventually(t, func() bool {
			value, there := s.Received().Values[name]
			return there && value == want
		}, timeseriestest.Patience, timeseriestest.Pause, name)
	}
	require.Equal(t, "s", s.Received().Units["qos_conference_duration_seconds"])
}
