package series

import (
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// distribution is a histogram of the exposition: the sum and the number of its values, and
// the bound of the first bucket that holds one.
type distribution struct {
	sum, count float64
	first      string
}

// samples reads what is exposed: histograms by their name and labels, and all others by value, but for
// outcomes that no conference had.
func samples(t *testing.T, a *aggregates) (histograms map[string]distribution, others map[string]float64) {
	t.Helper()
	histograms, others = map[string]distribution{}, map[string]float64{}
	for line := range strings.Lines(exposition(t, a)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		series, text, ok := strings.Cut(strings.TrimSpace(line), "} ")
		require.True(t, ok, line)
		value, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err, line)
		metric, labels, _ := strings.Cut(series, "{")
		base, part := metric, ""
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if cut, ok := strings.CutSuffix(metric, suffix); ok {
				base, part = cut, suffix
			}
		}
		labels, le, _ := strings.Cut(labels, `,le=`)
		d := histograms[base+"{"+labels+"}"]
		switch part {
		case "":
			if value != 0 || metric != semconv.MetricConferences {
				others[series+"}"] = value
			}
			continue
		case "_sum":
			d.sum = math.Round(value*1e9) / 1e9 // sums of fractions that binary numbers only come near to
		case "_count":
			d.count = value
		case "_bucket":
			if value > 0 && d.first == "" {
				d.first = strings.Trim(le, `"`)
			}
		}
		histograms[base+"{"+labels+"}"] = d
	}
	return histograms, others
}

// withValues leaves out the histograms without a value.
func withValues(histograms map[string]distribution) map[string]distribution {
	maps.DeleteFunc(histograms, func(_ string, d distribution) bool { return d == distribution{} })
	return histograms
}

// TestSamplesOfStreams: each field of a measurement is in the metric of its name, in the
// metric's unit, and in no other. All values differ, so that no field can stand for another.
//
// spec: OUT-01
func TestSamplesOfStreams(t *testing.T) {
	logs := plog.NewLogs()
	measure := func(app, statsType, media string, n float64) {
		stats(logs, app, statsType, media, map[string]any{
			eventtest.Stats("packets"): 1000 - 10*n, eventtest.Stats("packetsLost"): 10 * n,
			eventtest.Stats("jitterMs"): 100 + n, eventtest.Stats("rttMs"): 200 + n,
			eventtest.Stats("remoteJitterMs"): 300 + n, eventtest.Stats("remoteLossFraction"): (40 + n) / 100,
			eventtest.Stats("jitterBufferDelayMs"): 500 + n, eventtest.Stats("bytes"): 6000 + n, semconv.QualityMOS: 3 + n/10,
		})
	}
	measure("demo", "inbound-rtp", "audio", 1)
	measure("demo", "inbound-rtp", "video", 2)
	measure("demo", "outbound-rtp", "audio", 3)
	measure("demo", "outbound-rtp", "video", 4)
	measure("next", "outbound-rtp", "video", 5)
	measure("demo", "inbound-rtp", "data", 6)          // of no medium that has a series
	measure("demo", "remote-inbound-rtp", "audio", 7)  // of no direction that has one
	measure("demo", "remote-outbound-rtp", "video", 8) // of none
	measure("demo", "candidate-pair", "", 9)           // of no stream
	a := newAggregates(10)
	require.Zero(t, a.observe(logs))
	histograms, others := samples(t, a)
	want := map[string]distribution{}
	for labels, values := range map[string][4]distribution{ // MOS, loss, jitter, round trip
		`app="demo",media="audio",direction="inbound",relay="unknown"`:  {{3.1, 1, "3.2"}, {0.01, 1, "0.01"}, {0.101, 1, "0.2"}, {0.201, 1, "0.3"}},
		`app="demo",media="video",direction="inbound",relay="unknown"`:  {{3.2, 1, "3.2"}, {0.02, 1, "0.02"}, {0.102, 1, "0.2"}, {0.202, 1, "0.3"}},
		`app="demo",media="audio",direction="outbound",relay="unknown"`: {{3.3, 1, "3.5"}, {0.43, 1, "0.5"}, {0.303, 1, "0.5"}, {0.203, 1, "0.3"}},
		`app="demo",media="video",direction="outbound",relay="unknown"`: {{3.4, 1, "3.5"}, {0.44, 1, "0.5"}, {0.304, 1, "0.5"}, {0.204, 1, "0.3"}},
		`app="next",media="video",direction="outbound",relay="unknown"`: {{3.5, 1, "3.5"}, {0.45, 1, "0.5"}, {0.305, 1, "0.5"}, {0.205, 1, "0.3"}},
	} {
		for i, metric := range []string{"qos_stream_mos", "qos_stream_loss_ratio", "qos_stream_jitter_seconds", "qos_stream_rtt_seconds"} {
			want[metric+"{"+labels+"}"] = values[i]
		}
	}
	require.Equal(t, want, withValues(histograms))
	require.Equal(t, map[string]float64{
		`qos_measurements_total{app="demo"}`: 8, `qos_client_dropped_frames_total{app="demo"}`: 0,
		`qos_measurements_total{app="next"}`: 1, `qos_client_dropped_frames_total{app="next"}`: 0,
	}, others)
}

// TestOutOfRangeValues: each value that cannot be true counts by its measure, those that the client named too; of a record that
// comes again none. Names that are no measure count nothing.
//
// spec: OUT-01, CONF-03
func TestOutOfRangeValues(t *testing.T) {
	logs := plog.NewLogs()
	add := func(attrs map[string]any) {
		attrs[semconv.IntervalMs] = 2000.0
		stats(logs, "demo", "inbound-rtp", "audio", attrs)
	}
	add(map[string]any{eventtest.Stats("packets"): 100, eventtest.Stats("packetsLost"): 32_000, eventtest.Stats("rttMs"): 65_536_000.0})
	add(map[string]any{eventtest.Stats("packets"): 100, eventtest.Stats("packetsLost"): 32_000})
	add(map[string]any{eventtest.Stats("outOfRange"): "bytes,userName"})
	add(map[string]any{eventtest.Stats("packets"): -1, semconv.Duplicate: true})
	stats(logs, "demo", "candidate-pair", "", map[string]any{semconv.IntervalMs: 2000.0, eventtest.Stats("rttMs"): -1.0})
	a := newAggregates(10)
	require.Zero(t, a.observe(logs))
	_, others := samples(t, a)
	require.Equal(t, map[string]float64{
		`qos_out_of_range_values_total{app="demo",measure="packetsLost"}`: 2,
		`qos_out_of_range_values_total{app="demo",measure="rttMs"}`:       2,
		`qos_out_of_range_values_total{app="demo",measure="bytes"}`:       1,
		`qos_measurements_total{app="demo"}`:                              4, `qos_client_dropped_frames_total{app="demo"}`: 0,
	}, others)
}

// TestSamplesOfConferences: all that is counted of conferences and their events, by value.
//
// spec: OUT-01, CONF-02
func TestSamplesOfConferences(t *testing.T) {
	logs := plog.NewLogs()
	add := func(event string, attrs map[string]any) { record(logs, "demo", event, attrs) }
	add(semconv.EventSummary, summary(1))
	second := summary(1)
	second[semconv.SummaryEnd], second[semconv.SummaryMOS], second[semconv.SummaryParticipants] = 1_123_456, 2.5, 9
	second[semconv.SummaryAdded] = 5 // the participants that no revision before had
	second[semconv.SummaryOutcome], second[semconv.SummaryCause] = "dropped", ""
	add(semconv.EventSummary, second)
	late := summary(2)
	late[semconv.SummaryAdded] = 1
	add(semconv.EventSummary, late)
	add(semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":1234,"gatheringMs":200,"connectivityMs":1034}`})
	add(semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetup", semconv.EventData: `{"setupMs":`})
	add(semconv.EventEvent, map[string]any{semconv.EventName: "fabricSetupFailed", semconv.EventData: `{"stage":"gathering","failureMs":77}`})
	for range 3 {
		add(semconv.EventEvent, map[string]any{semconv.EventName: "iceDisruptionStart"})
		add(semconv.EventEvent, map[string]any{semconv.EventName: "iceDisruptionEnd", semconv.EventData: `{"durationMs":40}`})
	}
	add(semconv.EventSkip, map[string]any{semconv.SkipStats: 30, semconv.SkipEvents: 7})
	add(semconv.EventSkip, map[string]any{semconv.SkipStats: -4, semconv.SkipEvents: 2})
	add(semconv.EventFeedback, map[string]any{semconv.FeedbackOverall: 2, semconv.FeedbackAudio: 5})
	add(semconv.EventError, map[string]any{semconv.ErrorFunction: "createAnswer"})
	a := newAggregates(10)
	require.Equal(t, Left{Dropped: [NumReasons]int64{ReasonAttribute: 1}}, a.observe(logs)) // a set-up without its delay
	histograms, others := samples(t, a)
	require.Equal(t, map[string]distribution{
		`qos_conference_duration_seconds{app="demo"}`:                {168.456, 2, "60"}, // 45 s and 123.456 s
		`qos_conference_mos{app="demo"}`:                             {6.75, 2, "2.6"},
		`qos_fabric_setup_delay_seconds{app="demo",relay="unknown"}`: {1.234, 1, "1.5"},
	}, withValues(histograms))
	require.Equal(t, map[string]float64{
		`qos_conferences_total{app="demo",outcome="success"}`:           1,
		`qos_conferences_total{app="demo",outcome="dropped"}`:           1,
		`qos_conference_causes_total{app="demo",cause="senderUplink"}`:  1,
		`qos_participants_total{app="demo"}`:                            8,
		`qos_issues_total{app="demo",kind="highPacketLoss"}`:            6,
		`qos_issues_total{app="demo",kind="frozenVideo"}`:               2,
		`qos_fabric_setup_failures_total{app="demo",stage="gathering"}`: 1,
		`qos_ice_disruptions_total{app="demo"}`:                         3,
		`qos_measurements_total{app="demo"}`:                            0,
		`qos_reported_errors_total{app="demo",function="createAnswer"}`: 1,
		`qos_feedback_total{app="demo",rating="2"}`:                     1,
		`qos_client_dropped_frames_total{app="demo"}`:                   39,
	}, others)
}

// TestUnitsOfNames: a name ends in the unit of its values, a counter in _total.
//
// spec: OUT-01
func TestUnitsOfNames(t *testing.T) {
	units := map[string]string{
		semconv.MetricConferenceDuration: "_seconds", semconv.MetricFabricSetup: "_seconds",
		semconv.MetricStreamJitter: "_seconds", semconv.MetricStreamRTT: "_seconds", semconv.MetricStreamLoss: "_ratio",
		semconv.MetricPreCallRTT: "_seconds", semconv.MetricPreCallLoss: "_ratio", semconv.MetricPreCallThroughput: "_bytes_per_second",
		semconv.MetricConferenceMOS: "_mos", semconv.MetricStreamMOS: "_mos",
	}
	for _, m := range semconv.Metrics {
		switch m.Type {
		case semconv.Counter:
			require.True(t, strings.HasSuffix(m.Name, "_total"), m.Name)
		case semconv.Histogram:
			require.NotEmpty(t, units[m.Name], m.Name)
			require.True(t, strings.HasSuffix(m.Name, units[m.Name]), m.Name)
		default:
			require.False(t, strings.HasSuffix(m.Name, "_total"), m.Name)
		}
	}
}

// TestLossIsARatio: what was lost of what was expected, never below 0 or above 1.
//
// spec: OUT-01
func TestLossIsARatio(t *testing.T) {
	for _, c := range []struct{ packets, lost, ratio, count float64 }{
		{0, 0, 0, 0}, {10, 0, 0, 1}, {0, 10, 1, 1}, {30, 10, 0.25, 1}, {10, -3, 0, 1}, {10, -10, 0, 1}, {3, -10, 0, 1},
	} {
		logs := plog.NewLogs()
		stats(logs, "demo", "inbound-rtp", "video", map[string]any{eventtest.Stats("packets"): c.packets, eventtest.Stats("packetsLost"): c.lost})
		a := newAggregates(1)
		a.observe(logs)
		histograms, _ := samples(t, a)
		got := histograms[`qos_stream_loss_ratio{app="demo",media="video",direction="inbound",relay="unknown"}`]
		require.Equal(t, [2]float64{c.ratio, c.count}, [2]float64{got.sum, got.count}, "%+v", c)
	}
}
