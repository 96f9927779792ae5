package readapi

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

const (
	// maxTests bounds the tests that one answer counts, the newest.
	maxTests = 10_000
	// maxProviders bounds the providers of one answer.
	maxProviders = 8
)

// providersAnswer is the answer of /api/precalls/providers.
type providersAnswer struct {
	At        int64            `json:"at"`        // time of the answer, in ms since the Unix epoch
	From      int64            `json:"from"`      // start of the time, inclusive, in ms since the Unix epoch
	To        int64            `json:"to"`        // end of the time, exclusive, in ms since the Unix epoch
	StepMs    int64            `json:"stepMs"`    // length of a step: an hour or a day
	Tests     int              `json:"tests"`     // tests that were read
	Complete  bool             `json:"complete"`  // all tests of the time were read; false: the newest 10,000
	Providers []providerSeries `json:"providers"` // those with the most tests, the most frequent first, 8 at most
}

// providerSeries is one provider over the time, and over each step of it.
type providerSeries struct {
	Provider string `json:"provider"` // name of the provider

	providerCounts

	Points []providerPoint `json:"points"` // steps with tests, ascending
}

type providerPoint struct {
	At int64 `json:"at"` // start of the step, in ms since the Unix epoch

	providerCounts
}

// providerCounts is what tests say of a provider. Tests that were interrupted do not count.
type providerCounts struct {
	Tests          int      `json:"tests"`          // tests of the provider that were not interrupted
	Failed         int      `json:"failed"`         // those whose result was not acceptable
	FailedFraction float64  `json:"failedFraction"` // failed over tests, 0 to 1
	MedianRTTMs    *float64 `json:"medianRTTMs"`    // median of the round-trip times; null: no test has one
}

// providers answers how providers did in the pre-call tests of a time, by hour or by day.
func (a *API) providers(ctx context.Context, r *http.Request) (any, error) {
	p := readParameters(r)
	of, zone := p.period(), p.zone()
	if p.err != nil {
		return nil, p.err
	}
	out := providersAnswer{At: a.now().UnixMilli(), From: of.From.UnixMilli(), To: of.To.UnixMilli(), StepMs: of.step().Milliseconds(), Complete: true}
	view := a.view(ctx)
	count := counter{names: view.names, zone: zone, step: of.step(), byName: map[string]*perProvider{}}
	var err error
	out.Complete, err = a.eachPreCall(ctx, storage.PreCallQuery{AppID: of.AppID, From: of.From, To: of.To, Limit: maxLimit}, view.scope, count.add)
	if err != nil {
		return nil, err
	}
	out.Tests, out.Providers = count.tests, count.series()
	return out, nil
}

// eachPreCall calls add for the tests of a query, the newest first, and reports whether these are all. What is damaged is
// left out.
func (a *API) eachPreCall(ctx context.Context, q storage.PreCallQuery, scope access.Scope, add func(*storage.PreCall)) (complete bool, err error) {
	for n := 0; n < maxTests; {
		page, err := a.listPreCalls(ctx, q, scope)
		if err != nil && !errors.Is(err, storage.ErrDamaged) {
			return false, err
		}
		for i := range page.PreCalls {
			add(&page.PreCalls[i])
		}
		n += len(page.PreCalls)
		if q.Before = page.Next; page.Next == (storage.Cursor{}) {
			return true, nil
		}
	}
	return false, nil
}

// counter counts tests by provider and step.
type counter struct {
	names      names
	zone, step time.Duration
	tests      int
	byName     map[string]*perProvider
}

// perProvider is one provider.
type perProvider struct {
	all     tally
	byStart map[int64]*tally
}

// tally is the tests of a provider in a time.
type tally struct {
	tests, failed int
	rtts          []float64
}

func (c *counter) add(p *storage.PreCall) {
	c.tests++
	hidden := c.names.of(storage.Participant{Session: p.Session})
	start := p.At.Add(c.zone).Truncate(c.step).Add(-c.zone).UnixMilli()
	for i := range p.Result.Providers {
		provider := &p.Result.Providers[i]
		counts, failed := p.Result.Failed(provider.Provider)
		if !counts {
			continue
		}
		name := hidden.Text(provider.Provider)
		of := c.byName[name]
		if of == nil {
			of = &perProvider{byStart: map[int64]*tally{}}
			c.byName[name] = of
		}
		if of.byStart[start] == nil {
			of.byStart[start] = &tally{}
		}
		of.all.add(failed, provider.RTTMs)
		of.byStart[start].add(failed, provider.RTTMs)
	}
}

func (t *tally) add(failed bool, rtt *float64) {
	t.tests++
	if failed {
		t.failed++
	}
	if rtt != nil {
		t.rtts = append(t.rtts, *rtt)
	}
}

func (t *tally) counts() providerCounts {
	out := providerCounts{Tests: t.tests, Failed: t.failed, FailedFraction: float64(t.failed) / float64(t.tests)}
	if n := len(t.rtts); n > 0 {
		slices.Sort(t.rtts)
		median := (t.rtts[(n-1)/2] + t.rtts[n/2]) / 2
		out.MedianRTTMs = &median
	}
	return out
}

// series returns the providers with the most tests.
func (c *counter) series() []providerSeries {
	out := make([]providerSeries, 0, len(c.byName))
	for name, of := range c.byName {
		out = append(out, providerSeries{Provider: name, providerCounts: of.all.counts()})
	}
	slices.SortFunc(out, func(a, b providerSeries) int {
		return cmp.Or(cmp.Compare(b.Tests, a.Tests), cmp.Compare(a.Provider, b.Provider))
	})
	out = out[:min(len(out), maxProviders)]
	for i := range out {
		byStart := c.byName[out[i].Provider].byStart
		for _, start := range slices.Sorted(maps.Keys(byStart)) {
			out[i].Points = append(out[i].Points, providerPoint{start, byStart[start].counts()})
		}
	}
	return out
}
