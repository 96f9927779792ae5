package webhookexporter

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/exporters/webhookexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// undelivered is a store of which nothing is due. Its points cannot be read while it is away.
type undelivered struct {
	storage.Notices

	away *atomic.Bool // nil: never
}

func (u undelivered) Points(ctx context.Context, after int64, recorded time.Time, limit int) ([]storage.Point, error) {
	if u.away != nil && u.away.Load() {
		return nil, io.ErrClosedPipe
	}
	return u.Notices.Points(ctx, after, recorded, limit)
}

func (undelivered) NextNotices(context.Context, string, string, int) ([]storage.Notice, error) {
	return nil, nil
}

// setting is an individual rule of ratings.
type setting struct {
	from       time.Time
	individual bool
	limit      int
}

// course is a drawn sequence of what happens to two collectors that share a store. It notes by which rules notices are due.
type course struct {
	*rapid.T
	t         *testing.T
	store     *sqlite.Store
	telemetry *metadata.TelemetryBuilder
	apps      apps
	rules     *atomic.Pointer[override]
	set       *override // that collectors have at their next refresh
	now       time.Time
	base      [2]setting // of the configuration, by collector
	leader    int
	away      atomic.Bool // whether points cannot be read
	of        [2]*webhookExporter

	spans   []setting // in force, ascending
	applied setting   // the base that the last tick had
	ratings []rating
	judged  []string // bad by the rules that a tick had: rules that were set before it, and read after it, revoke nothing
}

// rating is one that was recorded, and the id of its notice.
type rating struct {
	overall      int
	at, recorded time.Time
	id           string
}

// start starts a collector with drawn rules in its configuration.
func (c *course) start(i int) {
	c.base[i] = setting{individual: rapid.Bool().Draw(c.T, "individual"), limit: rapid.IntRange(1, 4).Draw(c.T, "limit")}
	cfg, off, limit := createDefaultConfig().(*Config), false, float64(c.base[i].limit)
	cfg.DashboardURL = "http://localhost:8481"
	cfg.Rules.Reasons = map[string]RuleConfig{
		"dissatisfactoryUserFeedback": {Individual: &c.base[i].individual, Limit: &limit, Interval: &off}, "failedConferences": {Individual: &off},
	}
	e := &webhookExporter{cfg: cfg, logger: zap.NewNop(), telemetry: c.telemetry, apps: c.apps, store: c.store}
	var err error
	e.engine, err = newEngine(e, stored{Store: c.store}, nil)
	require.NoError(c.t, err)
	e.engine.store = undelivered{c.store, &c.away}
	c.of[i] = e
}

// change sets or removes rules by the management API.
func (c *course) change() {
	o := &override{set: c.now.Truncate(time.Millisecond)}
	if rapid.IntRange(0, 3).Draw(c.T, "removed") > 0 {
		o.rules = &notice.Override{Reasons: map[notice.Reason]notice.RuleOverride{notice.DissatisfactoryUserFeedback: {
			Individual: new(rapid.Bool().Draw(c.T, "on")), Limit: new(float64(rapid.IntRange(1, 4).Draw(c.T, "past"))),
		}}}
	}
	c.set = o
}

// refresh has the collectors read the rules that were set.
func (c *course) refresh() {
	if c.set != nil {
		c.rules.Store(c.set)
	}
}

// tick has the leader work, and notes the rules that are in force since they were set, or from now on where its configuration differs.
func (c *course) tick() {
	s := c.base[c.leader]
	s.from = time.Time{}
	if o := c.rules.Load(); o != nil {
		s.from = o.set
		if o.rules != nil {
			one := o.rules.Reasons[notice.DissatisfactoryUserFeedback]
			s.individual, s.limit = *one.Individual, int(*one.Limit)
		}
	}
	if last := len(c.spans) - 1; last < 0 || s.individual != c.spans[last].individual || s.individual && s.limit != c.spans[last].limit {
		if last >= 0 && (c.base[c.leader] != c.applied || !s.from.After(c.spans[last].from)) {
			s.from = c.now
		}
		c.spans = append(c.spans, s)
	}
	c.applied = c.base[c.leader]
	c.of[c.leader].engine.tick(c.t.Context(), c.now)
	c.judged = append(c.judged, c.expected()...)
}

// takeover gives the lease to the other collector; it may have lost it before.
func (c *course) takeover() {
	c.leader = 1 - c.leader
	c.of[c.leader].engine.leading = false
	c.tick()
}

func (c *course) restart() {
	c.start(c.leader)
	c.tick()
}

// end records a rating, which may be late or ahead of the collector's clock.
func (c *course) end() {
	age := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, 10 * time.Hour, -time.Minute}).Draw(c.T, "age")
	one := rating{overall: rapid.IntRange(1, 5).Draw(c.T, "rating"), at: c.now.Add(-age), recorded: c.now}
	session := fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012d", len(c.ratings))
	points, dropped := c.of[c.leader].read(feedbackOf(session, one.at, int64(one.overall)), c.now)
	require.Empty(c.t, dropped)
	c.of[c.leader].record(c.t.Context(), points)
	one.id = notice.ID("individual", "demo", "h", string(notice.DissatisfactoryUserFeedback), "c", points[0].ID, strconv.FormatInt(one.at.UnixMilli(), 10))
	c.ratings = append(c.ratings, one)
}

// expected returns the ids of the ratings that notify, by the rule that was in force when they were given.
func (c *course) expected() []string {
	out := []string{}
	for _, one := range c.ratings {
		at := earlier(one.at, one.recorded)
		var rule setting
		for _, s := range c.spans {
			if !s.from.After(at) {
				rule = s
			}
		}
		if rule.individual && one.overall <= rule.limit {
			out = append(out, one.id)
		}
	}
	return out
}

// notified returns the ids of the notices that there are.
func (c *course) notified() []string {
	out := []string{}
	for q := (storage.NoticeQuery{AppID: "demo"}); ; {
		page, err := c.store.NoticesPage(c.t.Context(), q)
		require.NoError(c.t, err)
		for i := range page {
			out = append(out, page[i].ID)
		}
		if len(page) < storage.MaxNoticesPage {
			return out
		}
		q.Before = page[len(page)-1].Key
	}
}

// Whatever changes of the rules, restarts, takeovers, late ratings and failures of the store there are, a rating notifies if it is bad by the
// rule that was in force when it was given. A restart or a takeover adds no notice and loses none.
//
// spec: OUT-02, OUT-03
func TestRulesNotifyNoPast(t *testing.T) {
	t.Parallel()
	telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	rapid.Check(t, func(r *rapid.T) {
		store := openStore(t, filepath.Join(t.TempDir(), "store"))
		defer func() { require.NoError(t, store.Close()) }()
		begin := time.Now().Truncate(time.Millisecond)
		rules := new(atomic.Pointer[override])
		c := &course{T: r, t: t, store: store, telemetry: telemetry, rules: rules, now: begin, apps: apps{
			hooks: []notice.Hook{{ID: "h", URL: "http://127.0.0.1:1", Secrets: []string{secret}, CreatedAt: begin.Add(-24 * time.Hour)}}, rules: rules,
		}}
		c.start(0)
		c.start(1)
		c.tick()
		steps := []func(){c.change, c.change, c.end, c.end, c.end, c.end, c.tick, c.tick, c.refresh, c.refresh, c.takeover, c.restart, func() { c.away.Store(!c.away.Load()) }}
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			c.now = c.now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, 3 * time.Second, 20 * time.Second, time.Hour}).Draw(r, "passes"))
			rapid.SampledFrom(steps).Draw(r, "step")()
		}
		c.away.Store(false)
		c.refresh()
		c.now = c.now.Add(2 * summaryPatience)
		c.tick()
		c.now = c.now.Add(2 * summaryPatience)
		c.tick() // ratings that were judged again
		notified := c.notified()
		require.Subset(r, notified, c.expected())
		require.Subset(r, c.judged, notified)
		c.takeover()
		c.restart()
		require.ElementsMatch(r, notified, c.notified(), "a restart and a takeover notify of nothing else")
	})
}

// A webhook gets notices of what was recorded since it was registered, also where this collector reads of the webhook
// later; it gets none of a conference before, which a scan records after that.
//
// spec: OUT-02, OUT-03
func TestNewWebhooksNotifyNoPast(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	old := notice.Hook{ID: "old", CreatedAt: now.Add(-2 * time.Hour)}
	e, store := stopped(t, apps{hooks: []notice.Hook{old}}, nil)
	e.engine.store = undelivered{Notices: store}
	hooks := func() (out []string) {
		page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo"})
		require.NoError(t, err)
		for i := range page {
			out = append(out, page[i].Hook)
		}
		return out
	}
	ends(t, e, "c", 1, now)
	e.engine.tick(t.Context(), now)
	require.Equal(t, []string{"old"}, hooks())
	e.apps = apps{hooks: []notice.Hook{old, {ID: "new", CreatedAt: now.Add(-time.Second)}}}
	e.engine.tick(t.Context(), now.Add(time.Second))
	require.ElementsMatch(t, []string{"old", "new"}, hooks(), "without a restart")

	summarised(t, store, now.Add(-10*time.Minute))
	e.engine.leading = false // a takeover scans
	e.engine.tick(t.Context(), now.Add(time.Minute))
	require.ElementsMatch(t, []string{"old", "new", "old"}, hooks())
}

// A webhook of the configuration that was removed for hours gets no notice of a conference that ended meanwhile, which a
// scan records after that, also where its app had no other webhook.
//
// spec: OUT-02, OUT-03
func TestReturnedWebhooksNotifyNoPast(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	e, store := stopped(t, apps{hooks: []notice.Hook{{ID: "h"}}}, nil)
	e.engine.store = undelivered{Notices: store}
	declared, at := e.apps, now.Add(-10*time.Hour)
	for _, step := range []struct {
		apps registry
		at   time.Time
	}{{declared, now.Add(-20 * time.Hour)}, {apps{}, now.Add(-15 * time.Hour)}, {declared, now}} {
		e.apps, e.engine.started, e.engine.leading = step.apps, step.at, false // a restart
		if step.at.Equal(now) {
			summarised(t, store, at)
		}
		e.engine.tick(t.Context(), step.at)
	}
	page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo"})
	require.NoError(t, err)
	require.Empty(t, page)
}

// summarised stores a conference "scanned" that failed, as a collector that ended before it was recorded.
func summarised(t *testing.T, store *sqlite.Store, at time.Time) {
	t.Helper()
	_, err := store.Append(t.Context(), []storage.Batch{{Session: storage.Session{ID: "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f", AppID: "demo"}, Records: []storage.Record{
		{Seq: 1, ConferenceID: "scanned", ConferenceAt: at, At: at, ObservedAt: at, Fabric: 1, Name: semconv.EventStats, Activity: true},
	}}})
	require.NoError(t, err)
	require.NoError(t, store.PutSummary(t.Context(), storage.Summary{
		AppID: "demo", ConferenceID: "scanned", Start: at, End: at, Revision: 1, Outcome: "totallyFailed",
		Document: []byte(`{"outcome":"totallyFailed","setupMs":[],"participants":[]}`),
	}))
}

// Rules that this collector reads some seconds after they were set apply to what ended since then, without a restart, also
// where the store is away when it reads them.
//
// spec: OUT-02
func TestRulesThatAreReadLater(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	rules := new(atomic.Pointer[override])
	set := func(individual bool, at time.Time) {
		rules.Store(&override{set: at, rules: &notice.Override{Reasons: map[notice.Reason]notice.RuleOverride{notice.FailedConferences: {Individual: &individual}}}})
	}
	set(false, now.Add(-time.Hour))
	e, store := stopped(t, apps{rules: rules, hooks: []notice.Hook{{ID: "h", CreatedAt: now.Add(-2 * time.Hour)}}}, nil)
	away := new(atomic.Bool)
	e.engine.store = undelivered{store, away}
	e.engine.tick(t.Context(), now)
	ends(t, e, "before", 1, now.Add(time.Second))
	ends(t, e, "after", 1, now.Add(5*time.Second))
	e.engine.tick(t.Context(), now.Add(6*time.Second))
	set(true, now.Add(3*time.Second))
	away.Store(true)
	e.engine.tick(t.Context(), now.Add(10*time.Second))
	away.Store(false)
	e.engine.tick(t.Context(), now.Add(20*time.Second))
	page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo"})
	require.NoError(t, err)
	require.Len(t, page, 1)
	require.Contains(t, string(page[0].Body), "after0")
}
