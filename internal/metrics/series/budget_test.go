package series

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// counts returns the ratings that each app has in series of its own and in its overflow series, and the
// number of the former.
func counts(s *Set) (own, beyond map[string]float64, series map[string]int) {
	own, beyond, series = map[string]float64{}, map[string]float64{}, map[string]int{}
	s.Each(func(_ *Metric, points []Point) bool {
		for i := range points {
			labels := points[i].Labels
			if app := labels[0].Value; labels[len(labels)-1].Name == semconv.LabelOverflow {
				beyond[app] += points[i].Value
			} else {
				own[app] += points[i].Value
				series[app]++
			}
		}
		return true
	})
	return own, beyond, series
}

// TestTheBudgetIsShared: however many label values some apps send and in whatever order, each app has
// all the series that it needs, or as many as the app that has most, less one (max-min fairness). So
// an app that needs no more than an equal share has all. The budget is used up before a record
// goes to an overflow series, and only series that made room lose their counts.
//
// spec: OUT-01
func TestTheBudgetIsShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demands := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 6).Draw(t, "demands")
		budget := rapid.IntRange(len(demands), 60).Draw(t, "budget")
		s := New(Config{MaxApps: 10, MaxSeries: budget, SeriesIdleTimeout: time.Hour}, testNow)
		type site struct{ app, n int }
		var sites []site
		for app, n := range demands {
			for i := range n {
				sites = append(sites, site{app, i})
			}
		}
		var displaced, overflow int64
		sent := map[string]float64{}
		for range 2 { // known series are sent again
			for _, at := range rapid.Permutation(sites).Draw(t, "order") {
				app := fmt.Sprint("app", at.app)
				left := s.Observe(fromSite(app, fmt.Sprint("site", at.n), 1), testNow)
				displaced += left.Displaced[semconv.MetricFeedback]
				overflow += left.Overflow[semconv.MetricFeedback]
				sent[app]++
			}
		}
		own, beyond, series := counts(s)
		total, most, lost := 0, 0, 0.0
		for _, n := range series {
			total, most = total+n, max(most, n)
		}
		require.Equal(t, min(budget, len(sites)), total)
		for app, needed := range demands {
			name := fmt.Sprint("app", app)
			if series[name] != needed {
				require.GreaterOrEqual(t, series[name], most-1, "app %d", app)
			}
			if needed <= budget/len(demands) {
				require.Equal(t, needed, series[name], "app %d", app)
			}
			lost += sent[name] - own[name] - beyond[name]
		}
		require.GreaterOrEqual(t, lost, 0.0)
		require.LessOrEqual(t, lost, 2*float64(displaced), "a series has two records at most")
		require.Equal(t, overflow > 0, len(beyond) > 0)
		if len(sites) <= budget {
			require.Zero(t, displaced+overflow)
		}
	})
}

// TestOpenIssuesMove: a gauge that makes room for another app's moves with its value, so that the issues
// that end are those that were raised.
//
// spec: OUT-01
func TestOpenIssuesMove(t *testing.T) {
	a := &aggregates{New(Config{MaxApps: 10, MaxSeries: 2, SeriesIdleTimeout: time.Hour}, testNow)}
	issue := func(app, id, kind, state string) {
		logs := plog.NewLogs()
		record(logs, app, semconv.EventIssue, map[string]any{semconv.IssueID: id, semconv.IssueState: state, semconv.IssueKind: kind})
		a.observe(logs)
	}
	open := func() map[string]float64 {
		_, others := samples(t, a)
		for name := range others {
			if name[:len("qos_open_issues")] != "qos_open_issues" {
				delete(others, name)
			}
		}
		return others
	}
	issue("demo", "1", "highJitter", "raised")
	issue("demo", "2", "highPacketLoss", "raised")
	issue("next", "3", "highJitter", "raised")
	got := open()
	require.Equal(t, 1.0, got[`qos_open_issues{app="demo",otel_metric_overflow="true"}`])
	require.Equal(t, 1.0, got[`qos_open_issues{app="next",kind="highJitter"}`])
	require.Len(t, got, 3)
	a.Sweep(testNow.Add(2 * time.Hour))
	require.Equal(t, got, open(), "open issues keep their series")
	issue("demo", "1", "highJitter", "resolved")
	issue("demo", "2", "highPacketLoss", "withdrawn")
	for name, value := range open() {
		if name != `qos_open_issues{app="next",kind="highJitter"}` {
			require.Zero(t, value, name)
		}
	}
}

// TestRoomIsKept: a series that was found before, and made room since, counts in the overflow
// series of its app; after a sweep all that is sent has series again.
//
// spec: OUT-01
func TestRoomIsKept(t *testing.T) {
	a := New(Config{MaxApps: 10, MaxSeries: 2, SeriesIdleTimeout: time.Hour}, testNow)
	stream := func(app string, site int) plog.Logs {
		logs := plog.NewLogs()
		records := call(logs, map[string]any{semconv.AppID: app, semconv.SiteID: fmt.Sprint("site", site)}, nil)
		put(records, semconv.EventStats, map[string]any{semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", eventtest.Stats("rttMs"): 10.0})
		return logs
	}
	total := func() (own, beyond float64) {
		histograms, _ := samples(t, &aggregates{a})
		for name, d := range histograms {
			switch name {
			case `qos_stream_rtt_seconds{app="demo",otel_metric_overflow="true"}`:
				beyond += d.count
			case `qos_stream_rtt_seconds{app="demo",site="site0",media="audio",direction="inbound",relay="unknown"}`,
				`qos_stream_rtt_seconds{app="demo",site="site1",media="audio",direction="inbound",relay="unknown"}`:
				own += d.count
			}
		}
		return own, beyond
	}
	for range 3 {
		a.Observe(stream("demo", 0), testNow)
		a.Observe(stream("demo", 1), testNow)
	}
	a.Observe(stream("next", 0), testNow)
	own, beyond := total()
	require.Equal(t, []float64{3, 0}, []float64{own, beyond})
	for range 5 {
		a.Observe(stream("demo", 0), testNow.Add(time.Minute))
		a.Observe(stream("demo", 1), testNow.Add(time.Minute))
	}
	own, beyond = total()
	require.Equal(t, []float64{8, 5}, []float64{own, beyond})
	a.Sweep(testNow.Add(time.Hour + time.Second)) // the series of "next" leaves
	a.Observe(stream("demo", 0), testNow.Add(time.Hour))
	a.Observe(stream("demo", 1), testNow.Add(time.Hour))
	own, beyond = total()
	require.Equal(t, []float64{10, 5}, []float64{own, beyond})
}

// outcomesOf returns the values of qos_conferences_total by site and outcome.
func outcomesOf(t *testing.T, s *Set) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	s.Each(func(m *Metric, points []Point) bool {
		for i := range points {
			if m.Name == semconv.MetricConferences {
				var site, last string
				for _, l := range points[i].Labels {
					last = l.Value
					if l.Name == "site" {
						site = l.Value
					}
				}
				out[site+" "+last] = points[i].Value
			}
		}
		return true
	})
	return out
}

// TestFailuresBeginAtZero: from the first measurement of a site on, each outcome of its conferences, and of those with
// other sites, has a series at 0, so that a store sees the increase to the first failure. They stay while the site sends, also
// without a failure for long, and leave with it. They make room for series that count.
//
// spec: OUT-01
func TestFailuresBeginAtZero(t *testing.T) {
	s := New(Config{MaxApps: 10, MaxSeries: 14, SeriesIdleTimeout: time.Hour}, testNow)
	at := testNow.Add
	measure := func(site string, now time.Time) {
		logs := plog.NewLogs()
		records := call(logs, map[string]any{semconv.AppID: "demo", semconv.SiteID: site}, nil)
		put(records, semconv.EventStats, map[string]any{semconv.StatsType: "candidate-pair"})
		require.Zero(t, s.Observe(logs, now))
	}
	fail := func(site string, now time.Time) {
		logs := plog.NewLogs()
		sum := summary(1)
		sum[semconv.SummarySite], sum[semconv.SummaryOutcome] = site, "totallyFailed"
		record(logs, "demo", semconv.EventSummary, sum)
		require.Zero(t, s.Observe(logs, now).Overflow[semconv.MetricConferences])
	}
	zero := map[string]float64{
		"north missed": 0, "north totallyFailed": 0, "north aborted": 0, "north dropped": 0, "north partiallyFailed": 0, "north success": 0,
	}
	for one := range maps.Clone(zero) {
		zero[strings.Replace(one, "north", "mixed", 1)] = 0
	}
	measure("north", at(0))
	require.Equal(t, zero, outcomesOf(t, s))
	for d := time.Duration(0); d < 3*time.Hour; d += 10 * time.Minute {
		measure("north", at(d))
		s.Sweep(at(d))
	}
	require.Equal(t, zero, outcomesOf(t, s))
	failed := map[string]float64{"north totallyFailed": 1, "mixed totallyFailed": 1}
	for _, site := range []string{"north", "mixed"} {
		fail(site, at(3*time.Hour))
		zero[site+" totallyFailed"] = 1
		require.Equal(t, zero, outcomesOf(t, s))
	}
	for i := range 12 { // with those two, as many as the budget
		fail(strconv.Itoa(i), at(3*time.Hour))
		failed[strconv.Itoa(i)+" totallyFailed"] = 1
	}
	require.Equal(t, failed, outcomesOf(t, s), "what counts has the room")
	s.Sweep(at(5 * time.Hour))
	require.Empty(t, outcomesOf(t, s))
	for f := range s.families {
		require.Empty(t, s.families[f].unused)
	}
}
