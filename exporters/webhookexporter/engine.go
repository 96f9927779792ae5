package webhookexporter

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

const (
	tickInterval     = time.Second      // between reads of points of other collectors
	evaluateInterval = 10 * time.Second // between evaluations of windows
	forgetInterval   = time.Hour
	// keepPoints is longer than the longest window plus the delay of late data.
	keepPoints = 25 * time.Hour
	pageSize   = 1000 // of points, and of webhooks with notices
)

// engine queues notifications and delivers them. Of several collectors that share a store, the one
// with the lease does. Except for send, it is used by one goroutine.
type engine struct {
	*webhookExporter

	dashboard string
	store     storage.Notices
	reader    storage.Reader
	client    *client
	lease     *lease
	rules     notice.Rules
	appRules  map[string]*notice.Override
	wakeup    chan struct{}
	started   time.Time

	// Valid while the collector has the lease.
	leading     bool
	tracker     *notice.Tracker
	states      map[string]*appState
	ruleSets    map[string]*appRuleSet
	judgeFrom   map[string]time.Time // apps whose points must be judged again, and since when
	lastKey     int64                // key of the last point that was counted
	evaluatedAt time.Time
	scannedAt   time.Time
	forgottenAt time.Time
	recent      map[string]time.Time // conferences that a scan has read, by key
	pending     []ratedPoint         // bad ratings that wait for the end of their conference

	slots      *slots
	unrecorded sync.Map // unrecordedAttempt by ID, at most one of each webhook
	sending    sync.WaitGroup
}

func newEngine(e *webhookExporter, store storageExtension, c *client) (*engine, error) {
	rules, own, err := e.cfg.rules()
	if err != nil {
		return nil, err
	}
	return &engine{
		webhookExporter: e, dashboard: e.cfg.DashboardURL, store: store.Notices(), reader: store.Reader(), client: c,
		lease: newLease(store.Settings(), store.Shared()), rules: rules, appRules: own,
		wakeup: make(chan struct{}, 1), started: time.Now(), slots: newSlots(),
	}, nil
}

// wake triggers the next tick immediately.
func (e *engine) wake() {
	select {
	case e.wakeup <- struct{}{}:
	default: // it is triggered already
	}
}

func (e *engine) run(ctx context.Context) {
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	for {
		e.tick(ctx, time.Now())
		select {
		case <-ticker.C:
		case <-e.wakeup:
		case <-ctx.Done():
			e.sending.Wait()
			e.lease.release(context.WithoutCancel(ctx))
			return
		}
	}
}

// tick does everything that is due. A failed step is repeated at the next tick and does not prevent others.
func (e *engine) tick(ctx context.Context, now time.Time) {
	e.retry(ctx)
	if !e.lease.hold(ctx, now) {
		e.leading = false
		return
	}
	for _, step := range []struct {
		name string
		run  func(context.Context, time.Time) error
	}{
		{"read state", e.lead},
		{"scan conferences", e.scan},
		{"read points", e.count},
		{"notify ratings", e.notifyRatings},
		{"evaluate windows", e.evaluate},
		{"deliver", e.deliver},
		{"forget", e.forget},
	} {
		if err := step.run(ctx, now); err != nil {
			e.reportFailure(ctx, step.name, err)
		}
		if !e.leading {
			return
		}
	}
}

// lead reads the state from the store if the lease is new.
func (e *engine) lead(ctx context.Context, _ time.Time) error {
	if !e.leading {
		states, err := e.readStates(ctx)
		if err != nil {
			return err
		}
		e.states, e.lastKey, e.pending, e.recent = states, 0, nil, map[string]time.Time{}
		e.ruleSets, e.judgeFrom = map[string]*appRuleSet{}, map[string]time.Time{}
		e.unrecorded.Clear() // another collector may have sent them
		e.evaluatedAt, e.scannedAt = time.Time{}, time.Time{}
		e.tracker = notice.NewTracker(e.rulesOf)
		e.leading = true
	}
	return e.seeHooks(ctx)
}

// count counts the new points of all collectors by the current rules of their apps, page by page, so that a failure
// repeats one page.
func (e *engine) count(ctx context.Context, now time.Time) error {
	if err := e.applyRules(ctx, now); err != nil {
		return err
	}
	for {
		points, err := e.store.Points(ctx, e.lastKey, now.Add(-keepPoints), pageSize)
		if err != nil {
			return err
		}
		if err := e.countPage(ctx, now, points); err != nil || len(points) < pageSize {
			return err
		}
	}
}

func (e *engine) countPage(ctx context.Context, now time.Time, points []storage.Point) error {
	read := make([]ratedPoint, 0, len(points))
	for i := range points {
		if f, err := notice.DecodeFact(points[i].Body); err == nil {
			read = append(read, ratedPoint{points[i], f})
		}
	}
	if err := e.judge(ctx, now, read); err != nil {
		return err
	}
	for i := range read {
		e.tracker.Add(read[i].point.AppID, read[i].point.End, now, read[i].fact)
	}
	if len(points) > 0 {
		e.lastKey = points[len(points)-1].Key
	}
	return nil
}

// judge queues the notices of single conferences and tests. Ratings wait for the end of their conference.
func (e *engine) judge(ctx context.Context, now time.Time, read []ratedPoint) error {
	var notices []storage.Notice
	var ratings []ratedPoint
	for i := range read {
		r := &read[i]
		for _, reason := range notice.Reasons {
			limit, individual := e.limit(&r.point, reason)
			switch {
			case !individual || !r.fact.Counts(reason, limit):
			case r.point.ID != "":
				ratings = append(ratings, *r)
			default:
				notices = append(notices, e.individualNotices(r, r.point.Start, r.point.End, reason, now)...)
			}
		}
	}
	if err := e.queue(ctx, notices); err != nil {
		return err
	}
	e.pending = append(e.pending, ratings...)
	return nil
}

// limit returns the limit of a conference, a rating or a test, and whether it notifies at all: by the rule that was in
// force at its end, or at its recording if the end is ahead of the collector's clock.
func (e *engine) limit(p *storage.Point, reason notice.Reason) (limit float64, individual bool) {
	if s := e.states[p.AppID]; s != nil {
		return s.History.Limit(reason, earlier(p.End, p.RecordedAt))
	}
	return 0, false
}

// individualNotices returns the notices of one conference, rating or test, to the app's webhooks that
// existed when it was recorded.
func (e *engine) individualNotices(r *ratedPoint, start, end time.Time, reason notice.Reason, now time.Time) []storage.Notice {
	p := &r.point
	limit, _ := e.limit(p, reason)
	m := notice.Individual(p.AppID, p.ConferenceID, start, end, reason, limit, r.fact, e.dashboard)
	var out []storage.Notice
	for _, hook := range e.apps.Webhooks(p.AppID) {
		if p.RecordedAt.Before(e.existsSince(p.AppID, &hook)) {
			continue
		}
		id := notice.ID("individual", p.AppID, hook.ID, string(reason), p.ConferenceID, p.ID, strconv.FormatInt(p.Start.UnixMilli(), 10))
		out = append(out, newNotice(id, p.AppID, hook.ID, m, now)...)
	}
	return out
}

// newNotice returns a notice that is due now, none if it is too large.
func newNotice(id, app, hook string, m notice.Message, now time.Time) []storage.Notice {
	body, err := m.Encode()
	if err != nil || len(body) > storage.MaxNoticeBodyBytes {
		return nil
	}
	return []storage.Notice{{ID: id, AppID: app, Hook: hook, CreatedAt: now, DueAt: now, Body: body}}
}

// queue writes notices. The store accepts each ID once.
func (e *engine) queue(ctx context.Context, notices []storage.Notice) error {
	if len(notices) == 0 {
		return nil
	}
	done, err := e.store.AddNotices(ctx, notices, e.cfg.MaxPending)
	if err != nil {
		return err
	}
	e.telemetry.QoswebhookNotices.Add(ctx, int64(done.New))
	e.telemetry.QoswebhookDroppedNotices.Add(ctx, int64(done.Dropped))
	return nil
}

// evaluate queues the notices of windows. Their IDs contain the number of the episode, so a crash
// before the state is written leads to the same IDs again.
func (e *engine) evaluate(ctx context.Context, now time.Time) error {
	if since := now.Sub(e.evaluatedAt); since >= 0 && since < evaluateInterval {
		return nil
	}
	hooked := e.apps.HookedApps()
	e.tracker.Retain(func(app string) bool { _, found := slices.BinarySearch(hooked, app); return found })
	for _, c := range e.tracker.Evaluate(now) {
		m, kind := notice.Interval(c, e.dashboard), "trigger"
		if c.Resolved {
			kind = "resolve"
		}
		var notices []storage.Notice
		for _, hook := range e.apps.Webhooks(c.AppID) {
			if hook.Takes(m) {
				id := notice.ID(kind, c.AppID, hook.ID, c.About(), strconv.Itoa(c.Next.Episode))
				notices = append(notices, newNotice(id, c.AppID, hook.ID, m, now)...)
			}
		}
		if err := e.queue(ctx, notices); err != nil {
			return err
		}
		if err := e.writeChange(ctx, c); err != nil {
			return err
		}
		e.tracker.Commit(c)
	}
	e.evaluatedAt = now
	return nil
}

func (e *engine) forget(ctx context.Context, now time.Time) error {
	if now.Sub(e.forgottenAt) < forgetInterval {
		return nil
	}
	if err := e.store.ForgetNotices(ctx, now.Add(-keepPoints), now.Add(-e.cfg.Keep)); err != nil {
		return err
	}
	e.forgottenAt = now
	return nil
}
