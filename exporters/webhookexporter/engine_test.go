package webhookexporter

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap/zaptest"

	"github.com/qosrtc/qos/exporters/webhookexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

const secret = "0123456789abcdef0123456789abcdef"

// stored is a storage extension.
type stored struct {
	component.StartFunc
	component.ShutdownFunc
	*sqlite.Store
	shared bool
}

func (s stored) Reader() storage.Reader     { return s.Store }
func (s stored) Settings() storage.Settings { return s.Store }
func (s stored) Notices() storage.Notices   { return s.Store }
func (s stored) Shared() bool               { return s.shared }

// apps is an apps extension with one app.
type apps struct {
	component.StartFunc
	component.ShutdownFunc
	hooks []notice.Hook
	rules *atomic.Pointer[override] // nil: none
}

// override is rules of the management API, and when they were set.
type override struct {
	rules *notice.Override
	set   time.Time
}

func (a apps) WebhookRules(string) (*notice.Override, time.Time) {
	if a.rules == nil || a.rules.Load() == nil {
		return nil, time.Time{}
	}
	return a.rules.Load().rules, a.rules.Load().set
}

func (a apps) Webhooks(app string) []notice.Hook {
	if app == "demo" {
		return a.hooks
	}
	return nil
}

func (a apps) HookedApps() []string {
	if len(a.hooks) == 0 {
		return nil
	}
	return []string{"demo"}
}

// received is a request to a receiver.
type received struct {
	id, signature, timestamp string
	body                     map[string]any
}

// receiver collects notifications; fail answers instead while it is set.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  []received
	fail atomic.Int64
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		one := received{id: req.Header.Get("webhook-id"), signature: req.Header.Get("webhook-signature"), timestamp: req.Header.Get("webhook-timestamp")}
		_ = json.Unmarshal(text, &one.body)
		r.mu.Lock()
		r.got = append(r.got, one)
		r.mu.Unlock()
		if status := r.fail.Load(); status != 0 {
			w.WriteHeader(int(status))
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received{}, r.got...)
}

// await returns the first n requests.
func (r *receiver) await(t *testing.T, n int) []received {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.all()) >= n }, time.Minute, 5*time.Millisecond)
	return r.all()
}

func openStore(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.NoError(t, err)
	return s
}

// startExporter starts an exporter on a store. It is not shut down.
func startExporter(t *testing.T, store component.Component, a apps, change func(*Config)) *webhookExporter {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.DashboardURL, cfg.AllowedNetworks = "http://localhost:8481", []string{"127.0.0.0/8"}
	if change != nil {
		change(cfg)
	}
	require.NoError(t, cfg.Validate())
	telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	e := &webhookExporter{cfg: cfg, logger: zaptest.NewLogger(t), telemetry: telemetry, grace: time.Millisecond}
	require.NoError(t, e.start(t.Context(), hosttest.Host{cfg.Storage: store, cfg.Apps: a}))
	return e
}

// summary is a summary record.
func summaryOf(app, conference string, start, end time.Time, revision int, outcome string) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr(semconv.AppID, app)
	scope := resource.ScopeLogs().AppendEmpty()
	scope.Scope().Attributes().PutStr(semconv.ConferenceID, conference)
	r := scope.LogRecords().AppendEmpty()
	r.SetEventName(semconv.EventSummary)
	r.Attributes().PutInt(semconv.SummaryStart, start.UnixMilli())
	r.Attributes().PutInt(semconv.SummaryEnd, end.UnixMilli())
	r.Attributes().PutInt(semconv.SummaryRevision, int64(revision))
	r.Body().SetStr(fmt.Sprintf(`{"outcome":%q,"setupMs":[],"participants":[]}`, outcome))
	return logs
}

func feedbackOf(session string, at time.Time, rating int64) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr(semconv.AppID, "demo")
	resource.Resource().Attributes().PutStr(semconv.SessionID, session)
	scope := resource.ScopeLogs().AppendEmpty()
	scope.Scope().Attributes().PutStr(semconv.ConferenceID, "c")
	r := scope.LogRecords().AppendEmpty()
	r.SetEventName(semconv.EventFeedback)
	r.SetTimestamp(pcommon.NewTimestampFromTime(at))
	r.Attributes().PutInt(semconv.FeedbackOverall, rating)
	return logs
}

// A failed conference notifies once: not again for a revision, a duplicate, the other start of
// another collector, or a restart. A receiver that was down gets it under the same id, after another
// process started too.
//
// spec: OUT-02, OUT-03
func TestOneNotificationAcrossRestarts(t *testing.T) {
	t.Parallel()
	r, path := newReceiver(t), filepath.Join(t.TempDir(), "store")
	a := apps{hooks: []notice.Hook{{ID: "ops", URL: r.URL, Secrets: []string{secret}}}}
	now := time.Now()
	start, end := now.Add(-2*time.Minute).Truncate(time.Millisecond), now.Add(-time.Minute).Truncate(time.Millisecond)
	r.fail.Store(http.StatusServiceUnavailable)
	store := openStore(t, path)
	e := startExporter(t, stored{Store: store}, a, nil)
	for revision := range 3 {
		require.NoError(t, e.consume(t.Context(), summaryOf("demo", "c", start.Add(time.Duration(-revision)*time.Second), end, revision+1, "totallyFailed")))
	}
	first := r.await(t, 1)[0]
	require.Eventually(t, func() bool {
		page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo"})
		require.NoError(t, err)
		return len(page) == 1 && page[0].Attempts > 0
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, e.shutdown(t.Context()))
	require.NoError(t, store.Close())

	r.fail.Store(0)
	store = openStore(t, path)
	e = startExporter(t, stored{Store: store}, a, nil)
	require.NoError(t, e.consume(t.Context(), summaryOf("demo", "c", start, end, 4, "totallyFailed")))
	require.NoError(t, e.consume(t.Context(), summaryOf("demo", "d", start, end, 1, "totallyFailed")))
	got := r.await(t, 3)
	ids := map[string]bool{}
	for _, one := range got {
		ids[one.id] = true
	}
	require.Len(t, ids, 2)
	require.True(t, ids[first.id])
	require.Equal(t, map[string]any{
		"reason": "failedConferences", "appId": "demo", "triggerType": "individual", "actualValue": 1.0, "threshold": 1.0, "fractionalValue": 1.0,
		"period": map[string]any{"start": float64(start.Unix()), "end": float64(end.Unix())}, "timestamp": first.body["timestamp"],
		"url":  fmt.Sprintf("http://localhost:8481/search?app=demo&from=%d&id=c&to=%d", start.UnixMilli(), start.UnixMilli()+1),
		"text": first.body["text"],
	}, first.body)
	require.InDelta(t, float64(now.Unix()), first.body["timestamp"], 60)
	state := storage.NoticeDelivered
	require.Eventually(t, func() bool { // the answer is recorded after it arrived
		page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo", State: &state})
		return err == nil && len(page) == 2
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, e.shutdown(t.Context()))
	require.NoError(t, store.Close())
}

// The window notifies when its share is above the app's threshold, once, and a template gets the
// resolve notice that the native form does not have.
//
// spec: OUT-02, OUT-05
func TestInterval(t *testing.T) {
	native, slack := newReceiver(t), newReceiver(t)
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	a := apps{hooks: []notice.Hook{{ID: "n", URL: native.URL, Secrets: []string{secret}}, {ID: "s", URL: slack.URL, Format: notice.Slack, Secrets: []string{secret}}}}
	threshold, samples, off := 0.25, 4, false
	e := startExporter(t, stored{Store: store}, a, func(c *Config) {
		zero := time.Duration(0)
		c.AppRules = map[string]RulesConfig{"demo": {TimesConfig: TimesConfig{Recovery: &zero}, Reasons: map[string]RuleConfig{
			"failedConferences": {Threshold: &threshold, MinSamples: &samples, Individual: &off},
		}}}
	})
	// The engine's goroutine must not evaluate in between.
	require.NoError(t, e.shutdown(t.Context()))
	now := time.Now()
	tick := func(after time.Duration) { e.engine.tick(t.Context(), now.Add(after)); e.engine.sending.Wait() }
	consume := func(i int, outcome string) {
		at := now.Add(-time.Minute)
		points, _ := e.read(summaryOf("demo", fmt.Sprint("c", i), at, at, 1, outcome), now)
		e.record(t.Context(), points)
	}
	for i := range 3 {
		consume(i, "success")
	}
	consume(3, "totallyFailed")
	tick(10 * time.Second)
	require.Empty(t, native.all(), "a quarter is not above a quarter")
	consume(4, "totallyFailed")
	tick(20 * time.Second)
	tick(30 * time.Second)
	got := native.all()
	require.Len(t, got, 1)
	require.Equal(t, []any{"interval", 2.0, 0.25, 0.4}, []any{got[0].body["triggerType"], got[0].body["actualValue"], got[0].body["threshold"], got[0].body["fractionalValue"]})
	require.Len(t, slack.all(), 1)
	for i := range 10 {
		consume(10+i, "success")
	}
	tick(40 * time.Second)
	tick(50 * time.Second)
	require.Len(t, native.all(), 1)
	got = slack.all()
	require.Len(t, got, 2)
	require.Contains(t, got[1].body["text"], "Resolved: failedConferences")
}

// A dead URL delays no other, and a notice that fails for good is a dead letter with the last answer.
//
// spec: OUT-03
func TestDeadURLDelaysNobody(t *testing.T) {
	good := newReceiver(t)
	release := make(chan struct{})
	var hanging atomic.Int64
	dead := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hanging.Add(1); <-release }))
	t.Cleanup(dead.Close)
	t.Cleanup(func() { close(release) })
	gone := newReceiver(t)
	gone.fail.Store(http.StatusGone)
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	a := apps{hooks: []notice.Hook{
		{ID: "dead", URL: dead.URL, Secrets: []string{secret}},
		{ID: "dead2", URL: dead.URL, Secrets: []string{secret}},
		{ID: "good", URL: good.URL, Secrets: []string{secret}},
		{ID: "gone", URL: gone.URL, Secrets: []string{secret}},
	}}
	e := startExporter(t, stored{Store: store}, a, func(c *Config) { c.Timeout = time.Minute })
	const conferences = 19 // one more, and the window may notify too
	for i := range conferences {
		at := time.Now().Add(-time.Minute)
		require.NoError(t, e.consume(t.Context(), summaryOf("demo", fmt.Sprint("c", i), at, at, 1, "totallyFailed")))
	}
	good.await(t, conferences)
	require.EqualValues(t, 1, hanging.Load(), "one attempt at once for one URL")
	gone.await(t, conferences)
	require.NoError(t, e.shutdown(t.Context()))
	state := storage.NoticeDead
	page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo", State: &state})
	require.NoError(t, err)
	require.NotEmpty(t, page)
	for _, n := range page {
		require.Equal(t, []any{"gone", 1, 410, "status 410"}, []any{n.Hook, n.Attempts, n.Status, n.Error})
	}
	pending := storage.NoticePending
	page, err = store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo", Hook: "dead", State: &pending})
	require.NoError(t, err)
	require.Len(t, page, conferences, "a stopped collector counts no attempt")
	require.Zero(t, page[0].Attempts)
}

// A notice that was read before its last attempt ended is not sent again.
//
// spec: OUT-03
func TestStaleNoticeIsNotSent(t *testing.T) {
	r := newReceiver(t)
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	hook := notice.Hook{ID: "h", URL: r.URL, Secrets: []string{secret}}
	e := startExporter(t, stored{Store: store}, apps{hooks: []notice.Hook{hook}}, nil)
	at := time.Now().Add(-time.Minute)
	require.NoError(t, e.consume(t.Context(), summaryOf("demo", "c", at, at, 1, "totallyFailed")))
	id := r.await(t, 1)[0].id
	require.Eventually(t, func() bool {
		n, err := store.Notice(t.Context(), id)
		return err == nil && n.State == storage.NoticeDelivered
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, e.shutdown(t.Context()))
	require.NoError(t, e.engine.sendDue(t.Context(), id, &hook, time.Now()))
	require.Len(t, r.await(t, 1), 1)
}

// A bad rating notifies with the span of its conference, a good one does not; the summary's list
// of feedback makes no second one.
//
// spec: OUT-02
func TestFeedback(t *testing.T) {
	const session = "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f"
	r := newReceiver(t)
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	now := time.Now().UTC().Truncate(time.Second)
	start, end := now.Add(-3*time.Minute), now.Add(-time.Minute)
	var records []storage.Record
	for i, at := range []time.Time{start, end} {
		records = append(records, storage.Record{Seq: uint64(i + 1), ConferenceID: "c", ConferenceAt: at, At: at, ObservedAt: at, Fabric: 1, Name: semconv.EventStats, Activity: true})
	}
	for i := 1; i < 7; i++ { // no silence longer than 30 s
		at := start.Add(time.Duration(i) * 20 * time.Second)
		records = append(records, storage.Record{Seq: uint64(i + 9), ConferenceID: "c", ConferenceAt: at, At: at, ObservedAt: at, Fabric: 1, Name: semconv.EventStats, Activity: true})
	}
	_, err := store.Append(t.Context(), []storage.Batch{{Session: storage.Session{ID: session, AppID: "demo"}, Records: records}})
	require.NoError(t, err)
	require.NoError(t, store.PutSummary(t.Context(), storage.Summary{
		AppID: "demo", ConferenceID: "c", Start: start, End: end, Revision: 1, Outcome: "success",
		Document: []byte(fmt.Sprintf(`{"outcome":"success","setupMs":[],"participants":[{"session":%q,"fabrics":[],"feedback":[{"atMs":%d,"overall":2}]}]}`, session, end.Add(-time.Second).UnixMilli())),
	}))
	e := startExporter(t, stored{Store: store}, apps{hooks: []notice.Hook{{ID: "h", URL: r.URL, Secrets: []string{secret}, CreatedAt: now.Add(-time.Hour)}}}, nil)
	for _, rating := range []int64{3, 5} {
		require.NoError(t, e.consume(t.Context(), feedbackOf(session, end.Add(time.Duration(rating)*time.Second), rating)))
	}
	require.NoError(t, e.consume(t.Context(), feedbackOf(session, end.Add(-time.Second), 2)))
	got := r.await(t, 1)
	require.NoError(t, e.shutdown(t.Context()))
	require.Len(t, r.all(), 1)
	require.Equal(t, "dissatisfactoryUserFeedback", got[0].body["reason"])
	require.Equal(t, map[string]any{"start": float64(start.Unix()), "end": float64(end.Unix())}, got[0].body["period"])
	require.Contains(t, got[0].body["text"], "rated 2 of 5")
	points, err := store.Points(t.Context(), 0, start, 100)
	require.NoError(t, err)
	require.Len(t, points, 4, "the conference by the scan, and three ratings")
}

// Records that make no sense are counted with a reason and write nothing.
func TestBadRecords(t *testing.T) {
	e := &webhookExporter{apps: apps{hooks: []notice.Hook{{ID: "h"}}}}
	now := time.Now()
	good := func() plog.Logs { return summaryOf("demo", "c", now.Add(-time.Minute), now, 1, "success") }
	record := func(l plog.Logs) plog.LogRecord { return l.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0) }
	scope := func(l plog.Logs) pcommon.Map { return l.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes() }
	for name, c := range map[string]struct {
		why    dropReason
		change func(plog.Logs)
	}{
		"no conference":  {dropConferenceID, func(l plog.Logs) { scope(l).Clear() }},
		"1 MB":           {dropConferenceID, func(l plog.Logs) { scope(l).PutStr(semconv.ConferenceID, strings.Repeat("x", 1<<20)) }},
		"an id of a map": {dropConferenceID, func(l plog.Logs) { scope(l).PutEmptyMap(semconv.ConferenceID) }},
		"no start":       {dropSummary, func(l plog.Logs) { record(l).Attributes().Remove(semconv.SummaryStart) }},
		"ends before":    {dropSummary, func(l plog.Logs) { record(l).Attributes().PutInt(semconv.SummaryEnd, 1) }},
		"1970": {dropLate, func(l plog.Logs) {
			record(l).Attributes().PutInt(semconv.SummaryStart, 0)
			record(l).Attributes().PutInt(semconv.SummaryEnd, 0)
		}},
		"2100":         {dropAhead, func(l plog.Logs) { record(l).Attributes().PutInt(semconv.SummaryEnd, 4102444800000) }},
		"end of time":  {dropAhead, func(l plog.Logs) { record(l).Attributes().PutInt(semconv.SummaryEnd, 1<<62) }},
		"no JSON":      {dropSummary, func(l plog.Logs) { record(l).Body().SetStr("{") }},
		"bytes":        {dropSummary, func(l plog.Logs) { record(l).Body().SetEmptyBytes() }},
		"long outcome": {dropSummary, func(l plog.Logs) { record(l).Body().SetStr(`{"outcome":"` + strings.Repeat("x", 1<<20) + `"}`) }},
	} {
		logs := good()
		c.change(logs)
		points, dropped := e.read(logs, now)
		require.Empty(t, points, name)
		require.Equal(t, map[dropReason]int{c.why: 1}, dropped, name)
	}
	for name, logs := range map[string]plog.Logs{
		"no session": feedbackOf("x", now, 1), "rating 0": feedbackOf("019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f", now, 0),
		"rating 6": feedbackOf("019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f", now, 6),
	} {
		points, dropped := e.read(logs, now)
		require.Empty(t, points, name)
		require.LessOrEqual(t, len(dropped), 1, name)
	}
	points, dropped := e.read(summaryOf("other", "c", now, now, 1, "success"), now)
	require.Empty(t, points, "an app without webhooks")
	require.Empty(t, dropped)
	points, _ = e.read(good(), now)
	require.Len(t, points, 1)
}

// spec: OUT-03
func TestBackOff(t *testing.T) {
	var total time.Duration
	for n, seconds := range []int{5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600} {
		want := time.Duration(seconds) * time.Second
		require.Equal(t, want, backOff(n+1, 0.5), n)
		require.Equal(t, want/2, backOff(n+1, 0), n)
		require.Equal(t, want*3/2, backOff(n+1, 1), n)
	}
	for n := 1; n < 32; n++ {
		total += backOff(n, 0.5)
	}
	require.Greater(t, total, 20*time.Hour)
	require.Equal(t, time.Hour, backOff(1<<40, 0.5))
	for n := 11; n < 200; n++ { // max_attempts has no upper bound
		require.Equal(t, time.Hour, backOff(n, 0.5), n)
	}
	now := time.Now()
	n, outcome := afterAttempt(storage.Notice{}, answer{status: 429, retryAfter: time.Hour, failure: "status 429"}, now, time.Second, 2)
	require.Equal(t, "failed", outcome)
	require.Equal(t, now.Add(time.Hour+time.Second), n.DueAt)
	n, outcome = afterAttempt(n, answer{failure: "no answer in time"}, now, time.Second, 2)
	require.Equal(t, []any{"dead", storage.NoticeDead, 2, 0}, []any{outcome, n.State, n.Attempts, n.Status})
}

// Of two exporters on one store one has the lease and notifies; when it ends the other does. A
// notification of both has one id.
//
// spec: OUT-03
func TestLease(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	now := time.Now()
	a, b := newLease(store, true), newLease(store, true)
	at := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	require.True(t, a.hold(t.Context(), at(0)))
	for s := range 60 {
		require.True(t, a.hold(t.Context(), at(s)), s)
		require.False(t, b.hold(t.Context(), at(s)), s)
	}
	// a is frozen from 60 s on.
	taken := 0
	for s := 60; s < 120 && taken == 0; s++ {
		if b.hold(t.Context(), at(s)) {
			taken = s
		}
	}
	require.InDelta(t, 85, taken, 4)
	require.False(t, a.hold(t.Context(), at(taken)), "it thaws and has lost it")
	require.True(t, b.hold(t.Context(), at(taken+6)))
	b.release(t.Context())
	require.True(t, a.hold(t.Context(), at(taken+9)), "a release is taken up at once")

	// A holder that cannot write stops before another may take it.
	require.NoError(t, store.Close())
	require.True(t, a.hold(t.Context(), at(taken+9+14)))
	require.False(t, a.hold(t.Context(), at(taken+9+15)))
	require.Less(t, holdFor, takeFor)
}

// A holder whose lease another collector has taken stops at its next renewal.
//
// spec: OUT-03
func TestLostLease(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	now := time.Now()
	a, b := newLease(store, true), newLease(store, true)
	require.True(t, a.hold(t.Context(), now))
	b.revision = a.revision
	b.write(t.Context(), now)
	require.True(t, b.holding)
	require.True(t, a.hold(t.Context(), now.Add(renewEvery-1)))
	require.False(t, a.hold(t.Context(), now.Add(renewEvery)))
	require.True(t, b.hold(t.Context(), now.Add(renewEvery)))
}

func TestConfig(t *testing.T) {
	good := func() *Config {
		c := createDefaultConfig().(*Config)
		c.DashboardURL = "https://qos.example"
		return c
	}
	require.NoError(t, good().Validate())
	for text, change := range map[string]func(*Config){
		"dashboard_url":       func(c *Config) { c.DashboardURL = "" },
		"without query":       func(c *Config) { c.DashboardURL = "https://x/?a=b" },
		"timeout must":        func(c *Config) { c.Timeout = time.Hour },
		"max_attempts":        func(c *Config) { c.MaxAttempts = 0 },
		"keep must":           func(c *Config) { c.Keep = time.Hour },
		"allowed_networks[0]": func(c *Config) { c.AllowedNetworks = []string{"10.0.0.1"} },
		"rules.reasons.fails must be left out: known here are failedConferences": func(c *Config) { c.Rules.Reasons = map[string]RuleConfig{"fails": {}} },
		`app_rules["a"].window must be 60000 to 86400000 ms (got 0)`: func(c *Config) {
			c.AppRules = map[string]RulesConfig{"a": {TimesConfig: TimesConfig{Window: new(time.Duration)}}}
		},
		"rules.reasons.lowQuality.min_samples must be 1 to 1000000 (got 0)": func(c *Config) {
			c.Rules.Reasons = map[string]RuleConfig{"lowQuality": {MinSamples: new(int)}}
		},
		"storage and apps must": func(c *Config) { c.Storage = component.ID{} },
	} {
		c := good()
		change(c)
		require.ErrorContains(t, c.Validate(), text)
	}
	c := good()
	own := 0.5
	c.AppRules = map[string]RulesConfig{"a": {Reasons: map[string]RuleConfig{"lowQuality": {Threshold: &own}}}}
	all, rules, err := c.rules()
	require.NoError(t, err)
	require.InDelta(t, 0.1, all.Of(notice.LowQuality).Threshold, 0)
	one := rules["a"].Over(all)
	require.InDelta(t, 0.5, one.Of(notice.LowQuality).Threshold, 0)
	require.InDelta(t, 3.2, one.Of(notice.LowQuality).Limit, 0)
}
