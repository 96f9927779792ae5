package webhookexporter

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/notice"
)

// ruled is the rules of one app, and the override of the management API that they have.
type ruled struct {
	rules notice.Rules
	own   *notice.Override
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
func (e *engine) resolve(app string, own *notice.Override) *ruled {
	r := &ruled{e.appRules[app].Over(e.rules), own}
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

// applyRules makes changed rules those of their app. Where its windows have other tallies by them, its
// points are counted again.
func (e *engine) applyRules(ctx context.Context, now time.Time) error {
	changed := map[string]*ruled{}
	hooked := e.apps.HookedApps()
	for _, app := range hooked {
		last, own := e.ruled[app], e.apps.WebhookRules(app)
		if last != nil && last.own == own {
			continue
		}
		next := e.resolve(app, own)
		if last == nil || last.rules.CountsAs(&next.rules) {
			e.ruled[app] = next
		} else {
			changed[app] = next
		}
	}
	maps.DeleteFunc(e.ruled, func(app string, _ *ruled) bool { _, found := slices.BinarySearch(hooked, app); return !found })
	if len(changed) == 0 {
		return nil
	}
	return e.recount(ctx, now, changed)
}

// recount counts the points of apps by other rules, up to the last point that was counted.
func (e *engine) recount(ctx context.Context, now time.Time, changed map[string]*ruled) error {
	tracker := notice.NewTracker(func(app string) *notice.Rules { return &changed[app].rules })
	since := now
	for _, next := range changed {
		since = earlier(since, now.Add(-next.rules.Reach()-notice.MaxAhead))
	}
	for after, done := int64(0), false; !done; {
		points, err := e.store.Points(ctx, after, since, pageSize)
		if err != nil {
			return err
		}
		done = len(points) < pageSize
		for i := range points {
			p := &points[i]
			if after = p.Key; after > e.after {
				done = true
				break
			}
			if changed[p.AppID] == nil {
				continue
			}
			if f, err := notice.DecodeFact(p.Body); err == nil {
				tracker.Add(p.AppID, p.End, now, f)
			}
		}
	}
	for app, next := range changed {
		e.tracker.Recount(app, tracker)
		e.ruled[app] = next
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
