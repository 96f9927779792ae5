package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/qosrtc/qos/storage"
)

// search is a question with random parts.
type search struct {
	what  string
	query func(*catalogue, *rand.Rand) storage.Query
}

var searches = []search{
	{"newest of all", func(*catalogue, *rand.Rand) storage.Query { return storage.Query{} }},
	{"newest of an app", func(c *catalogue, r *rand.Rand) storage.Query { return storage.Query{AppID: c.app(r)} }},
	{"newest of the smallest app", func(*catalogue, *rand.Rand) storage.Query { return storage.Query{AppID: appName(apps - 1)} }},
	{"an hour, all apps", func(c *catalogue, r *rand.Rand) storage.Query { return c.window(r, "", time.Hour) }},
	{"an hour of an app", func(c *catalogue, r *rand.Rand) storage.Query { return c.window(r, c.app(r), time.Hour) }},
	{"an hour of the smallest app", func(c *catalogue, r *rand.Rand) storage.Query { return c.window(r, appName(apps-1), time.Hour) }},
	{"a week of an app", func(c *catalogue, r *rand.Rand) storage.Query { return c.window(r, c.app(r), 7*day) }},
	{"conferenceID, used once", func(c *catalogue, r *rand.Rand) storage.Query {
		return storage.Query{ConferenceID: c.at(r.IntN(c.n), false).conference}
	}},
	{"conferenceID, used often", func(c *catalogue, r *rand.Rand) storage.Query {
		return storage.Query{ConferenceID: c.at(r.IntN(c.n), true).conference}
	}},
	{"app and conferenceID", func(c *catalogue, r *rand.Rand) storage.Query {
		l := c.at(r.IntN(c.n), true)
		return storage.Query{AppID: l.app, ConferenceID: l.conference}
	}},
	{"app, conferenceID, an hour", func(c *catalogue, r *rand.Rand) storage.Query {
		l := c.at(r.IntN(c.n), true)
		q := storage.Query{AppID: l.app, ConferenceID: l.conference}
		q.From, q.To = l.start.Add(-time.Hour/2), l.start.Add(time.Hour/2)
		return q
	}},
	{"outcome, frequent", func(*catalogue, *rand.Rand) storage.Query { return storage.Query{Outcome: frequent} }},
	{"outcome, rare", func(*catalogue, *rand.Rand) storage.Query { return storage.Query{Outcome: rare} }},
	{"outcome that none has", func(*catalogue, *rand.Rand) storage.Query { return storage.Query{Outcome: "unheard"} }},
	{"outcome of an app, rare", func(c *catalogue, r *rand.Rand) storage.Query { return storage.Query{AppID: c.app(r), Outcome: rare} }},
	{"outcome, rare, a week of an app", func(c *catalogue, r *rand.Rand) storage.Query {
		q := c.window(r, c.app(r), 7*day)
		q.Outcome = rare
		return q
	}},
	{"user", func(c *catalogue, r *rand.Rand) storage.Query { return storage.Query{UserID: c.user(r)} }},
	{"user, an hour", func(c *catalogue, r *rand.Rand) storage.Query {
		q := c.window(r, "", time.Hour)
		q.UserID = c.user(r)
		return q
	}},
	{"user, as anything", func(c *catalogue, r *rand.Rand) storage.Query { return storage.Query{Any: c.user(r)} }},
	{"anything that nothing is", func(*catalogue, *rand.Rand) storage.Query { return storage.Query{Any: "unheard"} }},
	{"version that all have", func(*catalogue, *rand.Rand) storage.Query {
		return storage.Query{ApplicationVersion: applicationVersion}
	}},
	{"version that all have, of an app", func(c *catalogue, r *rand.Rand) storage.Query {
		return storage.Query{AppID: c.app(r), ApplicationVersion: applicationVersion}
	}},
	{"version that all have, outcome rare", func(*catalogue, *rand.Rand) storage.Query {
		return storage.Query{ApplicationVersion: applicationVersion, Outcome: rare}
	}},
	{"label that none has", func(*catalogue, *rand.Rand) storage.Query { return storage.Query{Label: "unheard"} }},
	{"unsummarised", func(*catalogue, *rand.Rand) storage.Query { return storage.Query{Unsummarised: true} }},
	{"unsummarised of an app", func(c *catalogue, r *rand.Rand) storage.Query {
		return storage.Query{AppID: c.app(r), Unsummarised: true}
	}},
	{"deep page of all", func(c *catalogue, r *rand.Rand) storage.Query { return storage.Query{Before: c.cursor(r)} }},
	{"deep page of an app", func(c *catalogue, r *rand.Rand) storage.Query {
		return storage.Query{AppID: c.app(r), Before: c.cursor(r)}
	}},
	{"deep page of a rare outcome", func(c *catalogue, r *rand.Rand) storage.Query {
		return storage.Query{Outcome: rare, Before: c.cursor(r)}
	}},
}

const mostSearches = 1000 // of each kind

// measureSearch fills a store with conferences in bulk and asks.
func measureSearch(ctx context.Context, e *env) error {
	s, err := e.engine.open(ctx, true) // makes the tables
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	c, err := newCatalogue(e.conferences, e.now)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := e.engine.bulk(ctx, c.n, func(i int) listing { return c.listing(i) }); err != nil {
		return err
	}
	if err := e.report.add("made in bulk", "conferences/s", float64(c.n)/time.Since(began).Seconds()); err != nil {
		return err
	}
	if s, err = e.engine.open(ctx, false); err != nil {
		return err
	}
	for _, search := range searches {
		if err := e.ask(ctx, s, c, search); err != nil {
			return fmt.Errorf("%s: %w", search.what, err)
		}
	}
	return s.Close()
}

// ask asks one kind of question for a time, not counting the first.
func (e *env) ask(ctx context.Context, s store, c *catalogue, search search) error {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same questions each time
	var took latencies
	rows := 0
	for began := time.Now(); len(took) < mostSearches && (len(took) < 2 || time.Since(began) < e.seconds/2); {
		q := search.query(c, random)
		asked := time.Now()
		page, err := s.Conferences(ctx, q)
		if err != nil {
			return err
		}
		took = append(took, time.Since(asked))
		rows += len(page.Conferences)
	}
	n := float64(len(took))
	if err := e.report.latency(search.what, took[1:]); err != nil {
		return err
	}
	if err := e.report.add(search.what, "rows", float64(rows)/n); err != nil {
		return err
	}
	return e.report.add(search.what, "asked", n)
}
