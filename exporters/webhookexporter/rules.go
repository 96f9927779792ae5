package webhookexporter

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/notice"
	"github.com/qosrtc/qos/storage"
)

// ruled is the rules of one app, with the override of the management API and the newest webhook that it has.
type ruled struct {
	rules  notice.Rules
	own    *notice.Override
	newest time.Time // when the newest webhook was registered; zero where the configuration declares all
}

// rulesOf returns the rules by which an app is counted and evaluated.
func (e *engine) rulesOf(app string) *notice.Rules {
	if r := e.ruled[app]; r != nil {
		return &r.rules
	}
	return &e.rules
}

// resolve returns the rules that an app has now: those of the configuration, changed by those of the
// management API.
func (e *engine) resolve(app string, base notice.Rules, own *notice.Override) *ruled {
	r := &ruled{rules: base, own: own}
	for _, hook := range e.apps.Webhooks(app) {
		r.newest = later(r.newest, hook.CreatedAt)
	}
	if own == nil {
		return r
	}
	if fault := own.Check(); fault != nil { // another version wrote it
		e.logger.Warn("the webhook rules of an app are not valid: those of the configuration apply", zap.String("app", app), zap.Error(fault))
		return r
	}
	r.rules = own.Over(r.rules)
	return r
}

// applyRules makes changed rules those of their app, and applies them to points that were read before they were.
func (e *engine) applyRules(ctx context.Context, now time.Time) error {
	counted := map[string]*ruled{} // whose windows have other tallies
	next := map[string]*ruled{}
	hooked := e.apps.HookedApps()
	for _, app := range hooked {
		own, set := e.apps.WebhookRules(app)
		base := e.appRules[app].Over(e.rules)
		last, r := e.ruled[app], e.resolve(app, base, own)
		if last != nil && last.own == own && !r.newest.After(last.newest) {
			continue
		}
		if last == nil {
			e.tracker.Restore(app, e.state(app).Reasons)
		}
		if err := e.follow(ctx, app, &base, r, set, now); err != nil {
			return err
		}
		if next[app] = r; last != nil && !last.rules.CountsAs(&r.rules) {
			counted[app] = r
		}
	}
	if err := e.replay(ctx, now, counted); err != nil {
		return err
	}
	clear(e.unjudged)
	maps.Copy(e.ruled, next)
	maps.DeleteFunc(e.ruled, func(app string, _ *ruled) bool { _, found := slices.BinarySearch(hooked, app); return !found })
	return nil
}

// follow writes an app's rules into its history, and notes since when its points are to be judged again: since the
// rules were set or its newest webhook was registered, which this collector reads seconds later.
func (e *engine) follow(ctx context.Context, app string, base *notice.Rules, r *ruled, set, now time.Time) error {
	s := e.state(app)
	history, from := s.History.Follow(base, &r.rules, set, now)
	if last := e.ruled[app]; last == nil || r.newest.After(last.newest) {
		e.rejudge(app, r.newest)
	}
	if !from.IsZero() {
		e.rejudge(app, from)
	} else if history.Base == s.History.Base {
		return nil
	}
	s.History = history
	return e.writeState(ctx, app, s)
}

// rejudge has the points of an app judged again since a time, until a replay has done so.
func (e *engine) rejudge(app string, from time.Time) {
	if at, ok := e.unjudged[app]; ok {
		from = earlier(from, at)
	}
	e.unjudged[app] = from
}

// replay counts and judges points of apps again, up to the last that was read.
func (e *engine) replay(ctx context.Context, now time.Time, counted map[string]*ruled) error {
	since := now
	for _, from := range e.unjudged {
		since = earlier(since, later(from, now.Add(-keepPoints)))
	}
	for _, next := range counted {
		since = earlier(since, now.Add(-next.rules.Reach()-notice.MaxAhead))
	}
	tracker := notice.NewTracker(func(app string) *notice.Rules { return &counted[app].rules })
	for after := int64(0); after < e.after && since.Before(now); {
		points, err := e.store.Points(ctx, after, since, pageSize)
		if err != nil {
			return err
		}
		if len(points) == 0 {
			break
		}
		after = points[len(points)-1].Key
		if err := e.replayPage(ctx, now, points, counted, tracker); err != nil {
			return err
		}
	}
	for app := range counted {
		e.tracker.Recount(app, tracker)
	}
	return nil
}

func (e *engine) replayPage(ctx context.Context, now time.Time, points []storage.Point, counted map[string]*ruled, tracker *notice.Tracker) error {
	var judged []rated
	for i := range points {
		p := &points[i]
		f, err := notice.DecodeFact(p.Body)
		if err != nil || p.Key > e.after {
			continue
		}
		if counted[p.AppID] != nil {
			tracker.Add(p.AppID, p.End, now, f)
		}
		if _, ok := e.unjudged[p.AppID]; ok {
			judged = append(judged, rated{*p, f})
		}
	}
	return e.judge(ctx, now, judged)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
