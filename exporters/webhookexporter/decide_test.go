package webhookexporter

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// stopped is an exporter whose engine runs only when a test calls it.
func stopped(t *testing.T, a apps, change func(*Config)) (*webhookExporter, *sqlite.Store) {
	t.Helper()
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	e := startExporter(t, stored{Store: store}, a, change)
	require.NoError(t, e.shutdown(t.Context()))
	return e, store
}

// failing sets a rule of failed conferences: above the threshold from 4 samples on, without hold-down and
// recovery, and without notices of single conferences.
func failing(c *Config) {
	threshold, samples, off, at := 0.5, 4, false, time.Duration(0)
	c.AppRules = map[string]RulesConfig{"demo": {
		TimesConfig: TimesConfig{HoldDown: &at, Recovery: &at},
		Reasons:     map[string]RuleConfig{"failedConferences": {Threshold: &threshold, MinSamples: &samples, Individual: &off}},
	}}
}

// ends records n conferences that failed.
func ends(t *testing.T, e *webhookExporter, id string, n int, at time.Time) {
	t.Helper()
	for i := range n {
		points, dropped := e.read(summaryOf("demo", fmt.Sprint(id, i), at, at, 1, "totallyFailed"), at)
		require.Empty(t, dropped)
		e.record(t.Context(), points)
	}
}

// Each episode of a reason has its own notification, and the state survives the collector: another one
// neither repeats an episode nor takes the next one for it. So it survives a time without webhooks.
//
// spec: OUT-02, OUT-03
func TestEpisodes(t *testing.T) {
	r := newReceiver(t)
	a := apps{hooks: []notice.Hook{{ID: "ops", URL: r.URL, Secrets: []string{secret}}}}
	e, store := stopped(t, a, failing)
	now := time.Now()
	tick := func(e *webhookExporter, after time.Duration) {
		e.engine.tick(t.Context(), now.Add(after))
		e.engine.sending.Wait()
	}
	ends(t, e, "first ", 4, now)
	tick(e, 0)
	require.Len(t, r.all(), 1)
	states, err := e.engine.readStates(t.Context())
	require.NoError(t, err)
	require.Equal(t, notice.Status{Episode: 1, Firing: true, TriggeredMs: now.UnixMilli()}, states["demo"].Reasons[notice.FailedConferences])

	next := startExporter(t, stored{Store: store}, a, failing) // the same failures are in its window
	require.NoError(t, next.shutdown(t.Context()))
	tick(next, 10*time.Second)
	require.Equal(t, 1, next.engine.tracker.Statuses("demo")[notice.FailedConferences].Episode)
	require.Len(t, r.all(), 1, "of the same episode")
	tick(next, 2*time.Hour) // recovers
	require.False(t, next.engine.tracker.Statuses("demo")[notice.FailedConferences].Firing)
	ends(t, next, "second ", 4, now.Add(2*time.Hour))
	tick(next, 2*time.Hour+10*time.Second)
	got := r.all()
	require.Len(t, got, 2)
	require.NotEqual(t, got[0].id, got[1].id)

	next.apps = apps{} // deleted, and registered again later
	tick(next, 4*time.Hour)
	next.apps = a
	tick(next, 4*time.Hour+20*time.Second) // recovers
	ends(t, next, "third ", 4, now.Add(4*time.Hour))
	tick(next, 4*time.Hour+40*time.Second)
	require.Len(t, r.all(), 3)
}

// Windows are evaluated every 10 s, and at once after the clock was set back.
func TestEvaluationInterval(t *testing.T) {
	e, _ := stopped(t, apps{}, nil)
	now := time.Now()
	for _, step := range []struct{ at, evaluated time.Duration }{
		{0, 0}, {evaluateInterval - 1, 0}, {evaluateInterval, evaluateInterval}, {-time.Hour, -time.Hour}, {-time.Hour + 1, -time.Hour},
	} {
		e.engine.tick(t.Context(), now.Add(step.at))
		require.Equal(t, now.Add(step.evaluated), e.engine.evaluatedAt, step.at)
	}
}

// A conference that ended before a webhook was there notifies the others alone. Its id depends on the
// app's webhook, the reason, the conference's ID and start, and the rating.
//
// spec: OUT-02, OUT-03
func TestIndividualNotices(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	e, _ := stopped(t, apps{hooks: []notice.Hook{
		{ID: "old", CreatedAt: now.Add(-time.Hour)}, {ID: "new", CreatedAt: now.Add(time.Minute)},
	}}, nil)
	e.engine.tick(t.Context(), now)
	ids := map[string]bool{}
	made := func(p storage.Point) {
		p.AppID, p.RecordedAt = "demo", now
		notices := e.engine.individualNotices(&ratedPoint{p, notice.Fact{Outcome: "totallyFailed"}}, p.Start, p.End, notice.FailedConferences, now)
		require.Len(t, notices, 1)
		require.Equal(t, "old", notices[0].Hook)
		ids[notices[0].ID] = true
	}
	for range 2 {
		made(storage.Point{ConferenceID: "daily", Start: now, End: now})
		made(storage.Point{ConferenceID: "weekly", Start: now, End: now})
		made(storage.Point{ConferenceID: "daily", Start: now.Add(-24 * time.Hour), End: now})
		made(storage.Point{ConferenceID: "daily", ID: "session/1/0", Start: now, End: now})
	}
	require.Len(t, ids, 4, "each once, whenever it is made")
}

// What the store must not keep makes no notice.
func TestLargeNotice(t *testing.T) {
	now := time.Now()
	f := func(bytes, want int) {
		t.Helper()
		require.Len(t, newNotice("n", "demo", "ops", notice.Message{Text: strings.Repeat("x", bytes)}, now), want)
	}
	empty, err := notice.Message{}.Encode()
	require.NoError(t, err)
	f(storage.MaxNoticeBodyBytes-len(empty), 1)
	f(storage.MaxNoticeBodyBytes-len(empty)+1, 0)
}

// A tick counts all points, whatever their number, and a new leader counts them anew: nothing of its last
// time as the leader remains.
//
// spec: OUT-03
func TestCountsAllPages(t *testing.T) {
	e, store := stopped(t, apps{}, nil)
	now := time.Now()
	body, err := notice.Fact{Outcome: "success"}.Encode()
	require.NoError(t, err)
	points := make([]storage.Point, pageSize+1)
	for i := range points {
		points[i] = storage.Point{AppID: "demo", ConferenceID: fmt.Sprint("c", i), Start: now, End: now, RecordedAt: now, Body: body}
	}
	added, err := store.AddPoints(t.Context(), points)
	require.NoError(t, err)
	require.Equal(t, len(points), added)
	e.engine.tick(t.Context(), now)
	last := e.engine.lastKey
	left, err := store.Points(t.Context(), last, now.Add(-time.Hour), 10)
	require.NoError(t, err)
	require.Empty(t, left)

	e.engine.pending = []ratedPoint{{}}
	e.engine.unrecorded.Store("n", unrecordedAttempt{})
	e.engine.leading = false
	require.NoError(t, e.engine.lead(t.Context(), now))
	require.Zero(t, e.engine.lastKey)
	require.Empty(t, e.engine.pending)
	_, kept := e.engine.unrecorded.Load("n")
	require.False(t, kept, "another collector may have sent it")
}

// Apps without webhooks are forgotten.
func TestForgetsApps(t *testing.T) {
	e, _ := stopped(t, apps{}, nil)
	now := time.Now()
	e.engine.tick(t.Context(), now)
	for range 100 {
		e.engine.tracker.Add("gone", now, now, notice.Fact{Outcome: "totallyFailed"})
	}
	e.engine.tick(t.Context(), now.Add(evaluateInterval))
	states, err := e.engine.readStates(t.Context())
	require.NoError(t, err)
	require.NotContains(t, states, "gone")
}

// Points are kept for as long as windows reach, notices for as long as they are listed.
//
// spec: OUT-03
func TestForget(t *testing.T) {
	e, store := stopped(t, apps{}, nil)
	now := time.Now()
	body, err := notice.Fact{Outcome: "success"}.Encode()
	require.NoError(t, err)
	for id, age := range map[string]time.Duration{"kept": keepPoints - time.Minute, "forgotten": keepPoints + time.Minute} {
		at := now.Add(-age)
		_, err := store.AddPoints(t.Context(), []storage.Point{{AppID: "demo", ConferenceID: id, Start: at, End: at, RecordedAt: at, Body: body}})
		require.NoError(t, err)
	}
	for id, age := range map[string]time.Duration{"listed": e.cfg.Keep - time.Minute, "forgotten": e.cfg.Keep + time.Minute} {
		n := storage.Notice{ID: id, AppID: "demo", Hook: "ops", CreatedAt: now.Add(-age), DueAt: now, Body: []byte("{}")}
		_, err := store.AddNotices(t.Context(), []storage.Notice{n}, 9)
		require.NoError(t, err)
		n.State = storage.NoticeDelivered
		require.NoError(t, store.UpdateNotice(t.Context(), n, storage.NoticePending))
	}
	require.NoError(t, e.engine.forget(t.Context(), now))
	points, err := store.Points(t.Context(), 0, now.Add(-48*time.Hour), 9)
	require.NoError(t, err)
	require.Len(t, points, 1)
	require.Equal(t, "kept", points[0].ConferenceID)
	notices, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo"})
	require.NoError(t, err)
	require.Len(t, notices, 1)
	require.Equal(t, "listed", notices[0].ID)
}

// A webhook has at most max_pending notices that wait, and those of a webhook that is gone are dead letters.
//
// spec: OUT-03
func TestPendingNotices(t *testing.T) {
	e, store := stopped(t, apps{}, func(c *Config) { c.MaxPending = 2 })
	now := time.Now()
	var notices []storage.Notice
	for i := range 4 {
		notices = append(notices, newNotice(fmt.Sprint("n", i), "demo", "gone", notice.Message{}, now)...)
	}
	require.NoError(t, e.engine.queue(t.Context(), notices))
	for range 2 { // the next of a webhook is due when the last is settled
		require.NoError(t, e.engine.deliver(t.Context(), now))
	}
	page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo"})
	require.NoError(t, err)
	require.Len(t, page, 2)
	for _, n := range page {
		require.Equal(t, []any{storage.NoticeDead, 0, "the app has no such webhook any more"}, []any{n.State, n.Attempts, n.Error})
	}
}

// unreadable is a store of notices of which one cannot be read.
type unreadable struct {
	storage.Notices

	id string
}

func (s unreadable) Notice(ctx context.Context, id string) (storage.Notice, error) {
	if id == s.id {
		return storage.Notice{}, storage.ErrDamaged
	}
	return s.Notices.Notice(ctx, id)
}

// A notice of a removed webhook that cannot be settled holds up no other webhook.
//
// spec: OUT-03
func TestRemovedWebhookHoldsUpNoOther(t *testing.T) {
	e, store := stopped(t, apps{}, func(*Config) {})
	now := time.Now()
	require.NoError(t, e.engine.queue(t.Context(), slices.Concat(
		newNotice("first", "demo", "gone", notice.Message{}, now), newNotice("second", "demo", "gone too", notice.Message{}, now))))
	e.engine.store = unreadable{e.engine.store, "first"}
	require.NoError(t, e.engine.deliver(t.Context(), now))
	page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo"})
	require.NoError(t, err)
	states := map[string]storage.NoticeState{}
	for _, n := range page {
		states[n.ID] = n.State
	}
	require.Equal(t, map[string]storage.NoticeState{"first": storage.NoticePending, "second": storage.NoticeDead}, states)
}

// An attempt gives back its URL and its slot, also where there was no slot. A notice that is not due yet is
// not sent.
//
// spec: OUT-03
func TestAttemptsAtOnce(t *testing.T) {
	r := newReceiver(t)
	hook := notice.Hook{ID: "ops", URL: r.URL, Secrets: []string{secret}}
	e, store := stopped(t, apps{hooks: []notice.Hook{hook}}, nil)
	now := time.Now()
	require.NoError(t, e.engine.queue(t.Context(), newNotice("n", "demo", "ops", notice.Message{}, now)))
	require.NoError(t, e.engine.sendDue(t.Context(), "n", &hook, now.Add(-time.Second)))
	require.Empty(t, r.all())

	d := &dueNotice{id: "n", app: "demo", hook: hook}
	for i := range maxSending {
		require.True(t, e.engine.slots.begin(target{"demo", strconv.Itoa(i)}))
	}
	e.engine.attempt(t.Context(), d, now)
	e.engine.sending.Wait()
	require.Empty(t, r.all(), "all slots are in use")
	for i := range maxSending {
		e.engine.slots.end(target{"demo", strconv.Itoa(i)}, now)
	}
	e.engine.attempt(t.Context(), d, now)
	e.engine.sending.Wait()
	require.Len(t, r.all(), 1)
	require.Equal(t, newSlots(), e.engine.slots)
	n, err := store.Notice(t.Context(), "n")
	require.NoError(t, err)
	require.Equal(t, storage.NoticeDelivered, n.State)
}

// A notice that cannot be sent, such as with a secret that is no Base64, is a dead letter at once: its receiver gets
// no request.
//
// spec: OUT-03
func TestNoticeThatCannotBeSent(t *testing.T) {
	r := newReceiver(t)
	hook := notice.Hook{ID: "ops", URL: r.URL, Secrets: []string{"whsec_?"}}
	e, store := stopped(t, apps{hooks: []notice.Hook{hook}}, nil)
	now := time.Now()
	require.NoError(t, e.engine.queue(t.Context(), newNotice("n", "demo", "ops", notice.Message{}, now)))
	require.NoError(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	n, err := store.Notice(t.Context(), "n")
	require.NoError(t, err)
	require.Equal(t, []any{storage.NoticeDead, 1}, []any{n.State, n.Attempts})
	require.Contains(t, n.Error, "secret 0")
	require.Empty(t, r.all())
}

// A test, which the management API makes without knowing the dashboard, links to the conferences of its app.
//
// spec: OUT-04
func TestTestLinksToTheApp(t *testing.T) {
	r := newReceiver(t)
	hook := notice.Hook{ID: "ops", URL: r.URL, Secrets: []string{secret}}
	e, _ := stopped(t, apps{hooks: []notice.Hook{hook}}, nil)
	now := time.Now()
	require.NoError(t, e.engine.queue(t.Context(), newNotice("n", "demo", "ops", notice.TestMessage("demo", "ops", now), now)))
	require.NoError(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	require.Equal(t, "http://localhost:8481/search?app=demo", r.all()[0].body["url"])
}

// A notice to an address that the networks refuse is a dead letter at once, with the reason, and is delivered when it is
// replayed after allowed_networks has the address.
//
// spec: OUT-03
func TestRefusedAddressEndsAtOnce(t *testing.T) {
	r := newReceiver(t)
	hook := notice.Hook{ID: "ops", URL: r.URL, Secrets: []string{secret}}
	e, store := stopped(t, apps{hooks: []notice.Hook{hook}}, nil)
	allowed := e.engine.client
	e.engine.client = newClient(nil, nil, time.Minute, nil)
	now := time.Now()
	require.NoError(t, e.engine.queue(t.Context(), newNotice("n", "demo", "ops", notice.Message{}, now)))
	require.NoError(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	n, err := store.Notice(t.Context(), "n")
	require.NoError(t, err)
	require.Equal(t, []any{storage.NoticeDead, 1, 0, errAddress.Error()}, []any{n.State, n.Attempts, n.Status, n.Error})
	require.Empty(t, r.all())
	n.State, n.Attempts = storage.NoticePending, 0 // as the management API replays it
	require.NoError(t, store.UpdateNotice(t.Context(), n, storage.NoticeDead))
	e.engine.client = allowed
	require.NoError(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	require.Len(t, r.all(), 1)
}

// Slack and Teams verify nothing: without a secret their notices are sent without a signature.
//
// spec: OUT-03
func TestUnsignedFormats(t *testing.T) {
	r := newReceiver(t)
	for _, format := range []notice.Format{notice.Slack, notice.Teams} {
		hook := notice.Hook{ID: "ops", URL: r.URL, Format: format}
		e, _ := stopped(t, apps{hooks: []notice.Hook{hook}}, nil)
		now := time.Now()
		require.NoError(t, e.engine.queue(t.Context(), newNotice("n", "demo", "ops", notice.Message{}, now)))
		require.NoError(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	}
	got := r.all()
	require.Len(t, got, 2)
	for _, one := range got {
		require.Equal(t, []string{"n", ""}, []string{one.id, one.signature})
	}
}
