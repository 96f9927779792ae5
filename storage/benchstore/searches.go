package main

import (
	"math/rand/v2"
	"time"

	"github.com/qosrtc/qos/storage"
)

// search is a query with random parts.
type search struct {
	what  string
	query func(*catalogue, *rand.Rand) storage.Query
}

// constantSearch returns a search with constant parts.
func constantSearch(q storage.Query) func(*catalogue, *rand.Rand) storage.Query {
	return func(*catalogue, *rand.Rand) storage.Query { return q }
}

// appSearch returns a search in a random app.
func appSearch(q storage.Query) func(*catalogue, *rand.Rand) storage.Query {
	return func(c *catalogue, r *rand.Rand) storage.Query {
		q := q
		q.AppID = c.app(r)
		return q
	}
}

// siteSearch returns a search at a random site.
func siteSearch(q storage.Query) func(*catalogue, *rand.Rand) storage.Query {
	return func(_ *catalogue, r *rand.Rand) storage.Query {
		q := q
		q.SiteID = siteOf(r.IntN(sites))
		return q
	}
}

// deepSearch returns a search for a random page of the listing.
func deepSearch(of func(*catalogue, *rand.Rand) storage.Query) func(*catalogue, *rand.Rand) storage.Query {
	return func(c *catalogue, r *rand.Rand) storage.Query {
		q := of(c, r)
		q.Before = c.cursor(r)
		return q
	}
}

var searches = []search{
	{"newest of all", constantSearch(storage.Query{})},
	{"newest of an app", appSearch(storage.Query{})},
	{"newest of the smallest app", constantSearch(storage.Query{AppID: appName(apps - 1)})},
	{"an hour, all apps", func(c *catalogue, r *rand.Rand) storage.Query { return c.window(r, "", time.Hour) }},
	{"an hour of an app", func(c *catalogue, r *rand.Rand) storage.Query { return c.window(r, c.app(r), time.Hour) }},
	{"an hour of the smallest app", func(c *catalogue, r *rand.Rand) storage.Query { return c.window(r, appName(apps-1), time.Hour) }},
	{"a week of an app", func(c *catalogue, r *rand.Rand) storage.Query { return c.window(r, c.app(r), 7*day) }},
	{"conferenceID, used once", func(c *catalogue, r *rand.Rand) storage.Query {
		_, conference, _ := c.at(r, false)
		return storage.Query{ConferenceID: conference}
	}},
	{"conferenceID, used often", func(c *catalogue, r *rand.Rand) storage.Query {
		_, conference, _ := c.at(r, true)
		return storage.Query{ConferenceID: conference}
	}},
	{"app and conferenceID", func(c *catalogue, r *rand.Rand) storage.Query {
		app, conference, _ := c.at(r, true)
		return storage.Query{AppID: app, ConferenceID: conference}
	}},
	{"app, conferenceID, an hour", func(c *catalogue, r *rand.Rand) storage.Query {
		app, conference, start := c.at(r, true)
		return storage.Query{AppID: app, ConferenceID: conference, From: start.Add(-time.Hour / 2), To: start.Add(time.Hour / 2)}
	}},
	{"outcome, frequent", constantSearch(storage.Query{Outcome: frequent})},
	{"outcome, rare", constantSearch(storage.Query{Outcome: rare})},
	{"outcome that none has", constantSearch(storage.Query{Outcome: "unheard"})},
	{"outcome of an app, rare", appSearch(storage.Query{Outcome: rare})},
	{"outcome, rare, a week of an app", func(c *catalogue, r *rand.Rand) storage.Query {
		q := c.window(r, c.app(r), 7*day)
		q.Outcome = rare
		return q
	}},
	{"failed", constantSearch(storage.Query{Failed: true})},
	{"failed, of an app", appSearch(storage.Query{Failed: true})},
	{"failed, a week of an app", func(c *catalogue, r *rand.Rand) storage.Query {
		q := c.window(r, c.app(r), 7*day)
		q.Failed = true
		return q
	}},
	{"score up to 2, rare", constantSearch(storage.Query{MaxMOS: new(2.0)})},
	{"score up to 1.5, none", constantSearch(storage.Query{MaxMOS: new(1.5)})},
	{"score up to 2 of an app", appSearch(storage.Query{MaxMOS: new(2.0)})},
	{"score 2 to 3.1", constantSearch(storage.Query{MinMOS: new(2.0), MaxMOS: new(3.1)})},
	{"score from 3.2, frequent", constantSearch(storage.Query{MinMOS: new(3.2)})},
	{"score up to 2, failed", constantSearch(storage.Query{MaxMOS: new(2.0), Failed: true})},
	{"deep page of a score up to 3.3", deepSearch(constantSearch(storage.Query{MaxMOS: new(3.3)}))},
	{"user", func(c *catalogue, r *rand.Rand) storage.Query { return storage.Query{UserID: c.user(r)} }},
	{"user, as anything", func(c *catalogue, r *rand.Rand) storage.Query { return storage.Query{Any: c.user(r)} }},
	{"anything that nothing is", constantSearch(storage.Query{Any: "unheard"})},
	{"version that all have", constantSearch(storage.Query{ApplicationVersion: "4.2.0"})},
	{"version that all have, outcome rare", constantSearch(storage.Query{ApplicationVersion: "4.2.0", Outcome: rare})},
	{"version that all have, label of one in 100", constantSearch(storage.Query{ApplicationVersion: "4.2.0", Label: "poor"})},
	{"version that all have, label of one in 100, failed", constantSearch(storage.Query{ApplicationVersion: "4.2.0", Label: "poor", Failed: true})},
	{"site", siteSearch(storage.Query{})},
	{"site, version that all have", siteSearch(storage.Query{ApplicationVersion: "4.2.0"})},
	{"site, label of one in 100", siteSearch(storage.Query{Label: "poor"})},
	{"site, label of one in 100, version that all have", siteSearch(storage.Query{Label: "poor", ApplicationVersion: "4.2.0"})},
	{"site, failed", siteSearch(storage.Query{Failed: true})},
	{"site, failed, score up to 3.3", siteSearch(storage.Query{Failed: true, MaxMOS: new(3.3)})},
	{"site, score up to 3.3", siteSearch(storage.Query{MaxMOS: new(3.3)})},
	{"site, outcome frequent, label of one in 100", siteSearch(storage.Query{Outcome: frequent, Label: "poor"})},
	{"site, a week", func(c *catalogue, r *rand.Rand) storage.Query {
		q := c.window(r, "", 7*day)
		q.SiteID = siteOf(r.IntN(sites))
		return q
	}},
	{"site, label of one in 100, of an app", func(c *catalogue, r *rand.Rand) storage.Query {
		return storage.Query{AppID: c.app(r), SiteID: siteOf(r.IntN(sites)), Label: "poor"}
	}},
	{"unsummarised", constantSearch(storage.Query{Unsummarised: true})},
	{"unsummarised of an app", appSearch(storage.Query{Unsummarised: true})},
	{"deep page of all", deepSearch(constantSearch(storage.Query{}))},
	{"deep page of an app", deepSearch(appSearch(storage.Query{}))},
	{"deep page of a rare outcome", deepSearch(constantSearch(storage.Query{Outcome: rare}))},
}
