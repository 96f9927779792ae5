package readapi

import (
	"context"
	"net/http"
	"time"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/hours"
	"github.com/qosrtc/qos/extensions/dashboardextension/internal/overview"
)

const (
	// maxTrend bounds the values of a trend; conferences with others are counted together.
	maxTrend = 8
	// maxHourly is the longest time that is counted by hour. A longer one is counted by day.
	maxHourly = 3 * 24 * time.Hour
)

// trendAnswer is the answer of /api/trend.
type trendAnswer struct {
	At     int64        `json:"at"`     // time of the answer, in ms since the Unix epoch
	From   int64        `json:"from"`   // start of the time, inclusive, in ms since the Unix epoch
	To     int64        `json:"to"`     // end of the time, exclusive, in ms since the Unix epoch
	StepMs int64        `json:"stepMs"` // length of a step: an hour or a day
	Apps   []string     `json:"apps"`   // AppIDs to choose from
	Values []string     `json:"values"` // that the most conferences have, the most frequent first
	Other  bool         `json:"other"`  // there are further values: the last of each list of counts is of them
	Points []trendPoint `json:"points"` // ascending; the first and the last may be parts of a step
}

// trendPoint is the counts of one step.
type trendPoint struct {
	At          int64 `json:"at"`          // start of the step, in ms since the Unix epoch
	Conferences int   `json:"conferences"` // all conferences of the step
	Counts      []int `json:"counts"`      // conferences with each of values, in their order
	Failed      []int `json:"failed"`      // those of them that failed
}

// trends are the lists of values that a trend may have.
var trends = map[string]func(*overview.Totals) *overview.Values{
	"errors":   errorValues,
	"versions": func(t *overview.Totals) *overview.Values { return &t.Versions },
	"browsers": func(t *overview.Totals) *overview.Values { return &t.Browsers },
	"sites":    func(t *overview.Totals) *overview.Values { return &t.Sites },
	"outcomes": func(t *overview.Totals) *overview.Values { return &t.Outcomes },
	"causes":   func(t *overview.Totals) *overview.Values { return &t.Causes },
	"labels":   func(t *overview.Totals) *overview.Values { return &t.Labels },
}

// trendNames are the same in the order of the documentation.
var trendNames = []string{"errors", "versions", "browsers", "sites", "outcomes", "causes", "labels"}

// step returns the length of the steps of a time that is counted.
func (s period) step() time.Duration {
	if s.To.Sub(s.From) > maxHourly {
		return 24 * time.Hour
	}
	return time.Hour
}

// errorValues is the functions of errors. How their conferences ended is not counted.
func errorValues(t *overview.Totals) *overview.Values {
	var v overview.Values
	for function, e := range t.Errors {
		v.Put(function, overview.Group{Conferences: e.Conferences})
	}
	return &v
}

// trend answers how many conferences of an app had each value, by hour or by day.
func (a *API) trend(ctx context.Context, r *http.Request) (any, error) {
	p := readParameters(r)
	of, by, zone := p.period(), p.text("by"), p.zone()
	p.required("by")
	if p.err != nil {
		return nil, p.err
	}
	scope := a.view(ctx).scope
	series, err := a.count(ctx, scope, of)
	if err != nil {
		return nil, err
	}
	out := trendAnswer{At: a.now().UnixMilli(), From: of.From.UnixMilli(), To: of.To.UnixMilli(), StepMs: of.step().Milliseconds(), Apps: a.appsOf(scope, &series)}
	points := series.Points
	if of.step() > time.Hour {
		points = byDay(points, zone)
	}
	out.fill(trends[by], &series.Total, points)
	return out, nil
}

// fill adds the values that are the most frequent of the whole time, and their counts by step.
func (t *trendAnswer) fill(of func(*overview.Totals) *overview.Values, total *overview.Totals, points []hours.Point) {
	t.Values, t.Points = []string{}, make([]trendPoint, 0, len(points))
	top, rest := of(total).Top(maxTrend)
	for _, one := range top {
		t.Values = append(t.Values, one.Value)
	}
	t.Other = rest.Conferences > 0
	for _, p := range points {
		point := trendPoint{At: p.At.UnixMilli(), Conferences: p.Totals.Conferences, Counts: []int{}, Failed: []int{}}
		groups, others := of(p.Totals).Split(t.Values)
		if t.Other {
			groups = append(groups, others)
		}
		for _, g := range groups {
			point.Counts, point.Failed = append(point.Counts, g.Conferences), append(point.Failed, g.Failed)
		}
		t.Points = append(t.Points, point)
	}
}

// byDay merges hours into days of a time zone that is so far east of UTC. An hour belongs to the day in which it begins.
func byDay(points []hours.Point, zone time.Duration) (days []hours.Point) {
	last := time.Time{}
	for _, p := range points {
		day := p.At.Add(zone).Truncate(24 * time.Hour)
		if len(days) == 0 || !day.Equal(last) {
			days, last = append(days, hours.Point{At: p.At, Totals: &overview.Totals{}}), day
		}
		days[len(days)-1].Totals.Merge(p.Totals)
	}
	return days
}
