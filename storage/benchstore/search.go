package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/qosrtc/qos/storage"
)

const (
	apps         = 20
	rooms        = 50_000 // number of reused conferenceIDs
	span         = 90 * day
	live         = 30 // conferences without a summary yet, the newest
	together     = 500
	putting      = 64
	mostSearches = 1000 // of each kind
)

const (
	frequent = "success"
	rare     = "totallyFailed"
)

// rareScore is the score of one conference in a thousand; all others have at least 3.
const rareScore = 1.75

// catalogue is conferences to search. Conference i is the same in each run.
type catalogue struct {
	n        int
	first    time.Time
	document json.RawMessage // of each summary
}

func newCatalogue(n int, now time.Time) *catalogue {
	return &catalogue{n, now.Add(-span), document()}
}

// document returns a document as long as the summary of a call: names that repeat, and numbers that
// do not.
func document() json.RawMessage {
	r := random(9)
	out := []byte(`{"streams":[`)
	for i := range 60 {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"statsType":"inbound-rtp","mediaType":"audio","bitrateKbps":{"mean":%.4f,"p5":%.4f,"p50":%.4f,"p95":%.4f,"max":%.4f}}`,
			r.Float64(), r.Float64(), r.Float64(), r.Float64(), r.Float64())
	}
	return append(out, "]}"...)
}

func random(seed int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), 7)) //nolint:gosec // the same each time
}

func appName(i int) string { return fmt.Sprintf("app-%02d", i) }

// app returns a random app, large ones more often: the largest has 28 %, by Zipf's law.
func (c *catalogue) app(r *rand.Rand) string {
	at := r.Float64() * harmonic(apps)
	for i := range apps {
		if at < harmonic(i+1) {
			return appName(i)
		}
	}
	return appName(apps - 1)
}

func harmonic(n int) (sum float64) {
	for i := range n {
		sum += 1 / float64(i+1)
	}
	return sum
}

func (c *catalogue) start(i int) time.Time {
	return c.first.Add(time.Duration(i) * (span / time.Duration(c.n))).Truncate(time.Millisecond)
}

func (c *catalogue) cursor(r *rand.Rand) storage.Cursor {
	return storage.Cursor{Start: c.start(r.IntN(c.n)), Key: math.MaxInt64}
}

func (c *catalogue) window(r *rand.Rand, app string, long time.Duration) storage.Query {
	from := c.first.Add(time.Duration(r.Int64N(int64(span - long))))
	return storage.Query{AppID: app, From: from, To: from.Add(long)}
}

// named returns the app and the conferenceID of conference i: three of ten have reused
// conferenceIDs, within one app and hours apart.
func (c *catalogue) named(i int) (app, conference string) {
	if i%10 < 3 {
		return c.app(random(i % rooms)), fmt.Sprintf("room-%d", i%rooms)
	}
	return c.app(random(i)), fmt.Sprintf("meeting-%d", i)
}

// at returns a conference with a reused conferenceID, or with a unique one.
func (c *catalogue) at(r *rand.Rand, again bool) (app, conference string, start time.Time) {
	i := r.IntN(c.n/10) * 10
	if !again {
		i += 5
	}
	app, conference = c.named(i)
	return app, conference, c.start(i)
}

func (c *catalogue) user(r *rand.Rand) string { return fmt.Sprintf("user-%d", r.IntN(c.n)) }

// sites is the number of sites; all have the same number of conferences.
const sites = 61

func siteOf(i int) string { return fmt.Sprintf("site-%d", i%sites) }

// details returns the details of the sessions of conference i.
func details(i int) map[string]string {
	return map[string]string{"qos.application.version": "4.2.0", "qos.library.version": "0.1.0", "qos.site.id": siteOf(i)}
}

// batches returns the sessions of conference i: two to eight, with one record each.
func (c *catalogue) batches(i int) (out []storage.Batch) {
	r := random(i)
	app, conference := c.named(i)
	for p := range takePart(r) {
		start := c.start(i)
		user := c.user(r)
		if p == 0 {
			user = fmt.Sprintf("user-%d", i)
		}
		out = append(out, storage.Batch{
			Session: storage.Session{ID: sessionID(start, uint64(8*i+p)), AppID: app, UserID: user, UserAlias: user, Details: details(i)},
			Records: []storage.Record{{Seq: 1, ConferenceID: conference, ConferenceAt: start, At: start, ObservedAt: start, Activity: true, Name: "qos.fabric"}},
		})
	}
	return out
}

// takePart returns the number of participants.
func takePart(r *rand.Rand) int {
	if r.IntN(5) == 0 {
		return 2 + r.IntN(7)
	}
	return 2
}

// summary returns the summary of conference i, nil for the newest.
func (c *catalogue) summary(i int) *storage.Summary {
	if i >= c.n-live {
		return nil
	}
	app, conference := c.named(i)
	mos := 3 + 1.4*random(i).Float64()
	if i%1000 == 7 {
		mos = rareScore
	}
	s := &storage.Summary{
		AppID: app, ConferenceID: conference, Start: c.start(i), End: c.start(i), Revision: 1,
		Outcome: frequent, Participants: 2, MOS: &mos, Label: "good", Document: c.document, Digest: digestOf(i),
	}
	if i%100 == 50 {
		s.Label = "poor"
	}
	switch {
	case i%2000 == 1:
		s.Outcome = rare
	case i%15 == 2:
		s.Outcome = "partiallyFailed"
	}
	return s
}

// lengthen sets the end of the conferences, which have a record at their start alone, and of their
// summaries: up to 40 minutes later, for one in 10,000 26 hours. One summary in 50,000 ends earlier.
const lengthen = `UPDATE %[1]sconference SET
	end_ms = start_ms + CASE WHEN start_ms / 7 %% 10000 = 3 THEN 93600000 ELSE start_ms / 7 %% 2400 * 1000 END,
	summary_end = CASE WHEN start_ms / 7 %% 50000 = 4 THEN summary_end
		ELSE start_ms + CASE WHEN start_ms / 7 %% 10000 = 3 THEN 93600000 ELSE start_ms / 7 %% 2400 * 1000 END END`

// fill creates a store with the conferences.
func (e *env) fill(c *catalogue) (store, error) {
	s, err := e.create(e.ctx)
	if err != nil {
		return nil, err
	}
	for i := 0; i < c.n; i += together {
		var some []storage.Batch
		for j := i; j < min(c.n, i+together); j++ {
			some = append(some, c.batches(j)...)
		}
		if _, err := s.Append(e.ctx, some); err != nil {
			return nil, err
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, putting)
	for worker := range putting {
		wg.Go(func() {
			for i := worker; i < c.n && errs[worker] == nil; i += putting {
				if sum := c.summary(i); sum != nil {
					errs[worker] = s.PutSummary(e.ctx, *sum)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	if err := e.exec(e.ctx, e.dsn, fmt.Sprintf(lengthen, e.prefix), "ANALYZE"); err != nil {
		return nil, err
	}
	return e.open(e.ctx)
}

// measureSearch fills a store and measures searches.
func measureSearch(e *env) error {
	c := newCatalogue(e.conferences, e.now)
	began := time.Now()
	s, err := e.fill(c)
	if err != nil {
		return err
	}
	e.add("made", "conferences/s", float64(c.n)/time.Since(began).Seconds())
	for _, search := range searches {
		if err := e.ask(s, c, search); err != nil {
			return fmt.Errorf("%s: %w", search.what, err)
		}
	}
	if err := e.readDigests(s, c); err != nil {
		return fmt.Errorf("digests: %w", err)
	}
	if err := e.makeHours(s); err != nil {
		return fmt.Errorf("hours: %w", err)
	}
	if err := e.askPages(s, c, span/time.Duration(c.n)*time.Duration(min(aDay, c.n/4))); err != nil {
		return err
	}
	return s.Close()
}

// ask repeats one kind of search for a time, without counting the first.
func (e *env) ask(s store, c *catalogue, search search) error {
	r := random(1)
	var took latencies
	rows := 0
	for began := time.Now(); len(took) < mostSearches && (len(took) < 2 || time.Since(began) < e.seconds/2); {
		q := search.query(c, r)
		asked := time.Now()
		page, err := s.Conferences(e.ctx, q)
		if err != nil {
			return err
		}
		took = append(took, time.Since(asked))
		rows += len(page.Conferences)
	}
	e.latency(search.what, took[1:])
	e.add(search.what, "rows", float64(rows)/float64(len(took)))
	e.add(search.what, "asked", float64(len(took)))
	return nil
}
