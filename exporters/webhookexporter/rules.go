package webhookexporter

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

// appRuleSet is the rules of one app, with the override of the management API and the time of its newest webhook.
type appRuleSet struct {
	rules    notice.Rules
	override *notice.Override
	newest   time.Time // registration of the newest webhook; zero: all are configured
}

// rulesOf returns the rules by which an app is counted and evaluated.
func (e *engine) rulesOf(app string) *notice.Rules {
	if r := e.ruleSets[app]; r != nil {
		return &r.rules
	}
	return &e.rules
}

// resolve returns the current rules of an app: the configured ones, changed by those of the
// management API.
func (e *engine) resolve(app string, base notice.Rules, own *notice.Override) *appRuleSet {
	r := &appRuleSet{rules: base, override: own}
	for _, hook := range e.apps.Webhooks(app) {
		r.newest = later(r.newest, hook.CreatedAt)
	}
	if own == nil {
		return r
	}
	if fault := own.Check(); fault != nil { // written by another version
		e.logger.Warn("the webhook rules of an app are not valid: those of the configuration apply", zap.String("app", app), zap.Error(fault))
		return r
	}
	r.rules = own.Over(r.rules)
	return r
}

// applyRules applies changed rules, also to points that were read before the change.
func (e *engine) applyRules(ctx context.Context, now time.Time) error {
	counted := map[string]*appRuleSet{} // apps whose windows have to be counted again
	next := map[string]*appRuleSet{}
	hooked := e.apps.HookedApps()
	for _, app := range hooked {
		own, set := e.apps.WebhookRules(app)
		base := e.appRules[app].Over(e.rules)
		last, r := e.ruleSets[app], e.resolve(app, base, own)
		if last != nil && last.override == own && !r.newest.After(last.newest) {
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
	clear(e.judgeFrom)
	maps.Copy(e.ruleSets, next)
	maps.DeleteFunc(e.ruleSets, func(app string, _ *appRuleSet) bool { _, found := slices.BinarySearch(hooked, app); return !found })
	return nil
}

// follow adds an app's rules to its history, and schedules judging its points again: since the rules were set or its
// newest webhook was registered, which this collector reads seconds later.
func (e *engine) follow(ctx context.Context, app string, base *notice.Rules, r *appRuleSet, set, now time.Time) error {
	s := e.state(app)
	history, from := s.History.Follow(base, &r.rules, set, now)
	if last := e.ruleSets[app]; last == nil || r.newest.After(last.newest) {
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

// rejudge schedules judging the points of an app again since a time, at the next replay.
func (e *engine) rejudge(app string, from time.Time) {
	if at, ok := e.judgeFrom[app]; ok {
		from = earlier(from, at)
	}
	e.judgeFrom[app] = from
}

// replay counts and judges points of apps again, up to the last one that was read.
func (e *engine) replay(ctx context.Context, now time.Time, counted map[string]*appRuleSet) error {
	since := now
	for _, from := range e.judgeFrom {
		since = earlier(since, later(from, now.Add(-keepPoints)))
	}
	for _, next := range counted {
		since = earlier(since, now.Add(-next.rules.Reach()-notice.MaxAhead))
	}
	tracker := notice.NewTracker(func(app string) *notice.Rules { return &counted[app].rules })
	for after := int64(0); after < e.lastKey && since.Before(now); {
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

func (e *engine) replayPage(ctx context.Context, now time.Time, points []storage.Point, counted map[string]*appRuleSet, tracker *notice.Tracker) error {
	var judged []ratedPoint
	for i := range points {
		p := &points[i]
		f, err := notice.DecodeFact(p.Body)
		if err != nil || p.Key > e.lastKey {
			continue
		}
		if counted[p.AppID] != nil {
			tracker.Add(p.AppID, p.End, now, f)
		}
		if _, ok := e.judgeFrom[p.AppID]; ok {
			judged = append(judged, ratedPoint{*p, f})
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
