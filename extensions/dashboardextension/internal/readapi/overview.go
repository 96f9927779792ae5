package readapi

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/hours"
	"github.com/qosrtc/qos/extensions/dashboardextension/internal/overview"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

const (
	// week is how much earlier the baseline of the overview is: the same day of last week.
	week = 7 * 24 * time.Hour
	// maxCounted bounds the time whose conferences one request counts.
	maxCounted = 93 * 24 * time.Hour
	// maxGroups bounds the values of each list of counts, and the apps to choose from.
	maxGroups, maxApps = 20, 200
	// maxLiveCounted bounds the live conferences that are counted.
	maxLiveCounted = 1000
)

// overviewAnswer is the answer of /api/overview.
type overviewAnswer struct {
	At             int64       `json:"at"`                 // time of the answer, in ms since the Unix epoch
	From           int64       `json:"from"`               // start of the time, inclusive, in ms since the Unix epoch
	To             int64       `json:"to"`                 // end of the time, exclusive, in ms since the Unix epoch
	BaselineFrom   int64       `json:"baselineFrom"`       // from, a week earlier
	BaselineTo     int64       `json:"baselineTo"`         // to, a week earlier
	Live           int         `json:"live"`               // conferences that go on now, whatever the time
	MoreLive       bool        `json:"moreLive,omitempty"` // there are more than live
	Apps           []string    `json:"apps"`               // AppIDs to choose from
	Current        totals      `json:"current"`            // counts of the time
	Baseline       totals      `json:"baseline"`           // counts of the same time a week earlier
	Points         []hourPoint `json:"points"`             // the time by hour, ascending
	BaselinePoints []hourPoint `json:"baselinePoints"`     // the week earlier by hour, ascending
}

// totals is the counts of a time.
type totals struct {
	Conferences    int          `json:"conferences"`    // conferences that began in the time
	WithoutSummary int          `json:"withoutSummary"` // those of them that have no summary yet; no other count has them
	Participants   int          `json:"participants"`   // participants
	Failed         int          `json:"failed"`         // conferences that failed: totallyFailed, partiallyFailed or dropped
	Ratings        int          `json:"ratings"`        // number of ratings of users
	MOS            *float64     `json:"mos"`            // mean score, MOS 1 to 5; null: unknown
	Scored         int          `json:"scored"`         // conferences with a score
	Setup          *setup       `json:"setupMs"`        // setup delays of PeerConnections; null: none
	Outcomes       []group      `json:"outcomes"`       // by outcome
	Labels         []group      `json:"labels"`         // by label of the score
	Causes         []group      `json:"causes"`         // by likely cause
	Issues         []group      `json:"issues"`         // by kind of issue
	Errors         []errorGroup `json:"errors"`         // by function that failed
	Browsers       []group      `json:"browsers"`       // by browser of a participant
	Sites          []group      `json:"sites"`          // by siteID of a participant
	Versions       []group      `json:"versions"`       // by applicationVersion of a participant
}

// setup is the setup delays of PeerConnections.
type setup struct {
	Count int64   `json:"count"` // number of setup delays
	P50   float64 `json:"p50"`   // median, in ms
	P95   float64 `json:"p95"`   // 95th percentile, in ms
}

// group is the counts of the conferences with one value.
type group struct {
	Value       string   `json:"value"`           // the value; empty for other
	Other       bool     `json:"other,omitempty"` // all further values together
	Conferences int      `json:"conferences"`     // conferences with the value
	Failed      int      `json:"failed"`          // those of them that failed
	MOS         *float64 `json:"mos"`             // mean score, MOS 1 to 5; null: unknown
}

// errorGroup is the reported errors of one function.
type errorGroup struct {
	Value       string `json:"value"`       // function that failed
	Conferences int    `json:"conferences"` // conferences with such errors
	Errors      int    `json:"errors"`      // number of errors
}

// hourPoint is the counts of one hour.
type hourPoint struct {
	At          int64    `json:"at"`          // start of the hour, in ms since the Unix epoch
	Conferences int      `json:"conferences"` // conferences that began in it
	Failed      int      `json:"failed"`      // those of them that failed
	MOS         *float64 `json:"mos"`         // mean score, MOS 1 to 5; null: unknown
}

func (a *API) overview(ctx context.Context, r *http.Request) (any, error) {
	p := readParameters(r)
	now := p.period()
	before := p.baseline(now)
	if p.err != nil {
		return nil, p.err
	}
	view := a.view(ctx)
	current, baseline, err := a.countBoth(ctx, view.scope, now, before)
	if err != nil {
		return nil, err
	}
	out := overviewAnswer{
		At: a.now().UnixMilli(), From: now.From.UnixMilli(), To: now.To.UnixMilli(), BaselineFrom: before.From.UnixMilli(), BaselineTo: before.To.UnixMilli(),
		Apps: a.appsOf(view.scope, &current), Current: newTotals(&current.Total), Baseline: newTotals(&baseline.Total),
		Points: newPoints(&current), BaselinePoints: newPoints(&baseline),
	}
	out.Live, out.MoreLive, err = a.countLive(ctx, view, now.AppID)
	return out, err
}

// period is an app, empty for all, and a time, from inclusive and to exclusive.
type period struct {
	AppID    string
	From, To time.Time
}

// period reads the time to be counted.
func (p *parameters) period() (s period) {
	p.read(&s)
	p.counted(s)
	return s
}

// counted checks a time to be counted, both ends of which are required.
func (p *parameters) counted(s period) {
	p.required("from", "to")
	if p.err == nil && s.To.Sub(s.From) > maxCounted {
		p.fail("to", "must be at most 93 days after from")
	}
}

// adopt takes the fault of parameters that had no prefix.
func (p *parameters) adopt(other *parameters, prefix string) {
	if bad, ok := other.err.(*badParameter); ok { //nolint:errorlint // fail makes it
		p.fail(prefix+bad.field, bad.message)
	}
}

// baseline reads the time beside which another is counted: a week earlier unless the request has one. Where summer time began or
// ended in between, the same local hours are not 168 hours earlier, and only the client has the time zone.
func (p *parameters) baseline(now period) period {
	from, to := p.raw(prefixBaseline+"from"), p.raw(prefixBaseline+"to")
	if from == "" && to == "" {
		return period{now.AppID, now.From.Add(-week), now.To.Add(-week)}
	}
	own := &parameters{values: url.Values{"app": p.values["app"], "from": {from}, "to": {to}}}
	before := own.period()
	p.adopt(own, prefixBaseline)
	return before
}

// countBoth counts two times at once.
func (a *API) countBoth(ctx context.Context, scope access.Scope, now, before period) (current, baseline hours.Series, err error) {
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() { baseline, failed = a.count(ctx, scope, before) })
	current, err = a.count(ctx, scope, now)
	wg.Wait()
	return current, baseline, cmp.Or(err, failed)
}

// count counts conferences of the apps in a scope, or of one of them. An app that is not in it has none.
func (a *API) count(ctx context.Context, scope access.Scope, of period) (hours.Series, error) {
	apps := within(scope, of.AppID)
	if len(apps) == 0 {
		return hours.Series{}, nil
	}
	return a.hours.Count(ctx, apps, of.From, of.To)
}

// appsOf returns the apps to choose from: those in a scope, or without one those that had conferences.
func (a *API) appsOf(scope access.Scope, s *hours.Series) []string {
	if !scope.All {
		return append([]string{}, scope.Apps[:min(len(scope.Apps), maxApps)]...)
	}
	return s.Apps(maxApps)
}

// countLive counts conferences that are going on, up to maxLiveCounted.
func (a *API) countLive(ctx context.Context, v view, app string) (n int, more bool, err error) {
	s := &search{query: storage.Query{AppID: app, Limit: maxLimit}, view: v}
	a.searchLive(s)
	for n < maxLiveCounted {
		page, err := a.find(ctx, s)
		if err != nil {
			return 0, false, err
		}
		n += len(page.Conferences)
		if s.query.Before = page.Next; page.Next == (storage.Cursor{}) {
			return n, false, nil
		}
	}
	return n, true, nil
}

func newTotals(t *overview.Totals) totals {
	out := totals{
		Conferences: t.Conferences, WithoutSummary: t.WithoutSummary, Participants: t.Participants, Failed: t.Failed, Ratings: t.Ratings,
		MOS: t.Scores.Value(), Scored: t.Scores.Count,
		Outcomes: newGroups(&t.Outcomes), Labels: newGroups(&t.Labels), Causes: newGroups(&t.Causes), Issues: newGroups(&t.Issues),
		Errors: newErrors(t), Browsers: newGroups(&t.Browsers), Sites: newGroups(&t.Sites), Versions: newGroups(&t.Versions),
	}
	if t.Setup.Count > 0 {
		out.Setup = &setup{t.Setup.Count, t.Setup.Quantile(0.5), t.Setup.Quantile(0.95)}
	}
	return out
}

func newGroups(v *overview.Values) []group {
	top, rest := v.Top(maxGroups)
	out := make([]group, 0, len(top)+1)
	for _, one := range top {
		out = append(out, newGroup(one.Value, false, one.Group))
	}
	if rest.Conferences > 0 {
		out = append(out, newGroup("", true, rest))
	}
	return out
}

func newGroup(value string, other bool, g overview.Group) group {
	return group{Value: value, Other: other, Conferences: g.Conferences, Failed: g.Failed, MOS: g.Scores.Value()}
}

func newErrors(t *overview.Totals) []errorGroup {
	out := make([]errorGroup, 0, len(t.Errors))
	for _, one := range t.TopErrors(maxGroups) {
		out = append(out, errorGroup{one.Function, one.Conferences, one.Errors.Errors})
	}
	return out
}

func newPoints(s *hours.Series) []hourPoint {
	out := make([]hourPoint, 0, len(s.Points))
	for _, p := range s.Points {
		out = append(out, hourPoint{p.At.UnixMilli(), p.Totals.Conferences, p.Totals.Failed, p.Totals.Scores.Value()})
	}
	return out
}
