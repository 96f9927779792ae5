package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/network"
	"github.com/qosrtc/qos/tests/scenario"
)

const (
	liveRoom = "goes bad and good again"
	lossKind = "highPacketLoss"
)

// liveCall is a call of two, of which one hears a third less for a while, and who looks on.
type liveCall struct {
	*scenario.Call
	collector *collector
	records   *scenario.Records // of issues
	page      *page             // of the conference, on the dashboard
	at        int64
}

// TestLiveIssues: what goes wrong in a call between two browsers is reported while it goes on, by
// records, in the metrics and on the page, and so is its end; the summary agrees.
//
// spec: CONF-03, DASH-02, QUAL-01
func TestLiveIssues(t *testing.T) {
	browser.Require(t, browser.Chromium)
	c := startLiveCall(t)
	// A busy machine may have issues of its own, such as a long delay in the jitter buffer.
	c.page.Until(patience, "document.querySelector('[data-testid=so-far] time') && !document.querySelector('[data-testid=issue][data-kind=highPacketLoss]')")
	require.Zero(t, ofIssues(c.metrics(), semconv.MetricOpenIssues))
	c.drawsWithCare()
	c.drawsNoIssues()
	c.showsLatestValues()
	c.focusLowest()

	scenario.Down("ada", network.Harm{Loss: .3})(c.Call)
	c.page.Until(patience, issuesAre(lossKind, "Open"))
	browser.Eventually(t, patience, "the metrics tell of it", func() (bool, string) {
		m := c.metrics()
		return ofIssues(m, semconv.MetricOpenIssues) >= 1 && ofIssues(m, semconv.MetricIssuesRaised) >= 1, fmt.Sprint(ofIssues(m, semconv.MetricOpenIssues), ofIssues(m, semconv.MetricIssuesRaised))
	})
	require.Contains(t, c.text("#news"), "High packet loss")
	c.keepsLowest()
	c.focusIssue()

	scenario.Down("ada", network.Harm{})(c.Call)
	c.page.Until(patience, issuesAre(lossKind, "Resolved"))
	browser.Eventually(t, patience, "the metrics tell that it is over", func() (bool, string) {
		return ofIssues(c.metrics(), semconv.MetricOpenIssues) == 0, fmt.Sprint(ofIssues(c.metrics(), semconv.MetricOpenIssues))
	})
	c.keepsIssue()
	c.Leave()
	c.page.Until(patience, "!document.querySelector('[data-testid=so-far]') && document.querySelector('[data-testid=outcome]').dataset.outcome === 'success'")
	c.agree()
}

// ofIssues sums a metric over the sites.
func ofIssues(m harness.Metrics, metric string) float64 {
	return m.Sum(metric, fmt.Sprintf("app=%q", appID), fmt.Sprintf("kind=%q", lossKind))
}

// issuesAre is that the page lists issues of that kind at Ada, all in that state.
func issuesAre(kind, word string) string {
	return fmt.Sprintf(`((all) => all.length > 0 && all.every((text) => text === %q))(
		[...document.querySelectorAll('[data-testid=issue][data-kind=%s]')].filter((one) => one.textContent.includes('ada'))
			.map((one) => one.querySelector('[data-testid=issue-state]')?.textContent))`, word, kind)
}

func startLiveCall(t *testing.T) *liveCall {
	t.Helper()
	records := scenario.StartRecords(t)
	collector := newCollector(t)
	stage := scenario.NewStage(t, collector.receiver)
	collector.origins = append(collector.origins, stage.URL)
	collector.more = fmt.Sprintf(`
processors: {conference: {issues: {interval: 2s}}}
exporters: {otlp_http/issues: {logs_endpoint: %q, encoding: json, compression: none, sending_queue: {enabled: false}}}
service: {pipelines: {logs: {exporters: [qosstore, qostimeseries, otlp_http/issues]}}}
`, records.URL)
	collector.start()
	call := &scenario.Call{T: t, Stage: stage, Room: liveRoom, Topology: scenario.Mesh{}}
	c := &liveCall{Call: call, collector: collector, records: records}
	for _, user := range scenario.Two {
		call.People = append(call.People, scenario.Person(user))
	}
	scenario.ForAll(scenario.SoundOnly)(call)
	scenario.EdgeFor("ada")(call)
	call.Connect()
	b := browser.Start(t, browser.Chromium)
	call.Join(b, nil)
	call.Flow("audio")
	browser.Eventually(t, patience, "the conference is listed", func() (bool, string) {
		var list struct{ Conferences []row }
		collector.ask("/api/conferences", url.Values{"app": {appID}, "id": {liveRoom}}, &list)
		if len(list.Conferences) == 1 {
			c.at = list.Conferences[0].StartAt
		}
		return c.at > 0, fmt.Sprintf("%+v", list)
	})
	c.page = openPage(t, b, "dashboard", collector.dashboard+"/conference?"+c.query().Encode())
	return c
}

func (c *liveCall) query() url.Values {
	return url.Values{"app": {appID}, "id": {liveRoom}, "at": {strconv.FormatInt(c.at, 10)}}
}

func (c *liveCall) metrics() harness.Metrics {
	c.T.Helper()
	return samples(c.T, c.collector.read(c.collector.metrics+"/metrics"))
}

func (c *liveCall) text(selector string) (text string) {
	c.T.Helper()
	c.page.Get("document.querySelector("+quote(selector)+").textContent", &text)
	return text
}

// drawsWithCare: what has the focus keeps it wherever it moves, and what took its place gets it
// when it is gone, or the part of the page.
func (c *liveCall) drawsWithCare() {
	c.T.Helper()
	var focused []string
	c.page.Get(`(async () => {
		const { drawOnChange, h } = await import(new URL('assets/js/dom.js', location));
		const box = document.body.appendChild(h('div', { id: 'box' }));
		const draw = (...keys) => {
			drawOnChange(box, keys, () => keys.map((key) => h('button', { 'data-key': key, id: key }, key)));
			return document.activeElement.id;
		};
		draw('a', 'b', 'c');
		box.children[1].focus();
		const ids = [draw('x', 'a', 'b', 'c'), draw('x', 'a', 'c'), draw('x'), draw(), draw('y')];
		box.remove();
		return ids;
	})()`, &focused)
	require.Equal(c.T, []string{"b", "c", "x", "box", "box"}, focused)
}

// drawsNoIssues: the page says that nothing went wrong as long as that is so.
func (c *liveCall) drawsNoIssues() {
	c.T.Helper()
	var text string
	c.page.Get(`(async () => {
		const { drawIssues } = await import(new URL('assets/js/issues.js', location));
		return drawIssues({ soFar: { summary: true }, summary: { issues: [] }, leftOut: {} }, {}).filter(Boolean).map((one) => one.textContent).join();
	})()`, &text)
	require.Equal(c.T, "Nothing went wrongSo far", text)
}

// showsLatestValues: a stream's table opens by keyboard, follows the call in place, and fits into
// a narrow window. Its card is drawn anew when streams or measures come, open and focused as it was.
func (c *liveCall) showsLatestValues() {
	c.T.Helper()
	const first = "document.querySelector('[data-testid=latest]')"
	c.page.Until(patience, first+"?.querySelector('summary')")
	c.page.Run(fmt.Sprintf(`(() => {
		const key = %s.dataset.key;
		window.latest = () => document.querySelector('[data-testid=latest][data-key="' + CSS.escape(key) + '"]');
		window.was = {};
		latest().querySelector('summary').focus();
	})()`, first))
	tools := openCDP(c.page)
	for _, kind := range []string{"keyDown", "keyUp"} {
		tools.do("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}, nil)
	}
	c.page.Until(patience, "latest().open && latest().querySelector('tbody tr')")
	c.page.Until(patience, `(() => {
		const row = latest().querySelector('tbody tr'), at = latest().querySelector('time').dateTime;
		if (row !== was.row) was = { row, at };
		return at > was.at;
	})()`) // written in place
	var kept bool
	c.page.Get("latest().open && document.activeElement === latest().querySelector('summary')", &kept)
	require.True(c.T, kept, "still open and in focus")
	tools.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": false}, nil)
	c.page.Until(patience, "innerWidth === 360")
	c.page.Until(patience, "document.documentElement.scrollWidth <= 360 && latest().getBoundingClientRect().right <= 360")
	tools.do("Emulation.clearDeviceMetricsOverride", map[string]any{}, nil)
}

// focusLowest opens what went into the lowest score of a stream, by keyboard as it were.
func (c *liveCall) focusLowest() {
	c.T.Helper()
	c.page.Until(patience, "document.querySelector('[data-testid=lowest] summary')")
	c.page.Run(`((one) => { one.focus(); one.click(); window.was = { key: one.parentElement.dataset.key, element: one } })(
		[...document.querySelectorAll('[data-testid=lowest] summary')].at(-1))`)
}

// keepsLowest: it was drawn anew with every measurement, and is open and in focus as it was.
func (c *liveCall) keepsLowest() {
	c.T.Helper()
	c.page.Until(patience, "!was.element.isConnected")
	c.page.Until(patience, "document.activeElement.parentElement.dataset.key === was.key && document.activeElement.parentElement.open")
}

func (c *liveCall) focusIssue() {
	c.T.Helper()
	c.page.Run(`((one) => { one.focus(); window.was = { key: one.dataset.key, element: one } })(
		document.querySelector('[data-testid=issue][data-kind=highPacketLoss] .when'))`)
}

func (c *liveCall) keepsIssue() {
	c.T.Helper()
	c.page.Until(patience, "!was.element.isConnected")
	c.page.Until(patience, "document.activeElement.dataset.key === was.key")
}

// reportedIssue is what was reported of one span of an issue.
type reportedIssue struct {
	kind, user string
	sinceMs    int64
	states     []string
}

// reported returns what was reported while the call went on, by id.
func (c *liveCall) reported() map[string]*reportedIssue {
	all := map[string]*reportedIssue{}
	for _, l := range c.records.Of(liveRoom) {
		scenario.EachRecord(l, func(_ string, r plog.LogRecord) {
			if r.EventName() != semconv.EventIssue {
				return
			}
			get := func(name string) pcommon.Value {
				v, _ := r.Attributes().Get(name)
				return v
			}
			id := get(semconv.IssueID).Str()
			if all[id] == nil {
				all[id] = &reportedIssue{kind: get(semconv.IssueKind).Str(), user: get(semconv.IssueUserID).Str(), sinceMs: get(semconv.IssueSince).Int()}
			}
			all[id].states = append(all[id].states, get(semconv.IssueState).Str())
		})
	}
	return all
}

// agree: each span was reported as raised once and as resolved once, the metric counts them, and the
// summary has each of what Ada heard.
func (c *liveCall) agree() {
	c.T.Helper()
	var d detail
	c.collector.ask("/api/conference", c.query(), &d)
	spans := 0
	for id, one := range c.reported() {
		require.Equal(c.T, []string{string(live.IssueRaised), string(live.IssueResolved)}, one.states, "%s %+v", id, one)
		if one.kind != lossKind {
			continue
		}
		spans++
		require.Equal(c.T, "ada", one.user)
		require.True(c.T, slices.ContainsFunc(d.Summary.Issues, func(i conference.Issue) bool {
			return i.Kind == lossKind && i.Alias == "ada" && i.Direction == conference.DirectionInbound && !i.Open &&
				slices.ContainsFunc(i.Spans, func(span conference.IssueSpan) bool { return span.StartMs == one.sinceMs })
		}), "%+v in %+v", one, d.Summary.Issues)
	}
	require.Positive(c.T, spans)
	m := c.metrics()
	require.InDelta(c.T, spans, ofIssues(m, semconv.MetricIssuesRaised), 0)
	require.Positive(c.T, ofIssues(m, semconv.MetricIssues))
	require.Zero(c.T, ofIssues(m, semconv.MetricOpenIssues))
}
