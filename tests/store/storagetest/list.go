package storagetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// named appends a conference of one record.
func (f *fixture) named(appID, conferenceID string, second float64) {
	f.t.Helper()
	r := activity(1, 0, second)
	r.ConferenceID = conferenceID
	f.count++
	r.Seq = f.count
	b := batch(1, r)
	b.Session.AppID = appID
	require.Equal(f.t, storage.Appended{New: 1}, f.append(b))
}

// lasting appends a conference with this span.
func (f *fixture) lasting(appID, conferenceID string, start, end float64) {
	f.t.Helper()
	b := batch(1)
	b.Session.AppID = appID
	for at := start; ; at = min(at+30, end) {
		r := activity(0, 0, at)
		f.count++
		r.ConferenceID, r.Seq = conferenceID, f.count
		b.Records = append(b.Records, r)
		if at == end {
			break
		}
	}
	require.Equal(f.t, storage.Appended{New: len(b.Records)}, f.append(b))
}

func ids(p storage.Page) (out []string) {
	for _, c := range p.Conferences {
		out = append(out, c.ConferenceID)
	}
	return out
}

func testPages(f *fixture) {
	t := f.t
	var want []string
	for i := range 230 {
		id := fmt.Sprintf("conf-%03d", i)
		f.named(app, id, float64(1000-i/3)) // three start at the same time
		want = append(want, id)
	}
	require.Len(t, f.list(storage.Query{}).Conferences, 50)
	require.Len(t, f.list(storage.Query{Limit: 1000}).Conferences, 200)
	var got []string
	q, pages := storage.Query{Limit: 23}, 0
	for {
		page := f.list(q)
		got = append(got, ids(page)...)
		pages++
		require.Len(t, page.Cursors, len(page.Conferences))
		if page.Next == (storage.Cursor{}) {
			break
		}
		require.Equal(t, page.Next, page.Cursors[len(page.Cursors)-1])
		require.Equal(t, got[len(got)-22:], ids(f.list(storage.Query{Limit: 22, Before: page.Cursors[0]})), "a row's cursor continues after it")
		q.Before = page.Next
		f.named(app, fmt.Sprint("new ", pages), float64(2000+pages)) // does not move the pages
	}
	require.Equal(t, 10, pages)
	require.ElementsMatch(t, want, got)
}

// testCrowdedPages: pages end before they have too many participants, and have every conference once, in order.
func testCrowdedPages(f *fixture) {
	t, r := f.t, rand.New(rand.NewPCG(40, 25))
	const most = 7
	var want, sizes []int
	for i := range 40 {
		id, size := strconv.Itoa(i), 1+r.IntN(most+2)
		for who := range size {
			record := activity(1, 0, float64(1000-i))
			record.ConferenceID = id
			f.count++
			record.Seq = f.count
			f.append(batch(who, record))
		}
		want, sizes = append(want, i), append(sizes, size)
		count, err := f.r.CountParticipants(t.Context(), storage.Ref{AppID: app, ConferenceID: id, At: at(float64(1000 - i))})
		require.NoError(t, err)
		require.Equal(t, size, count)
	}
	_, err := f.r.CountParticipants(t.Context(), storage.Ref{AppID: app, ConferenceID: "nobody", At: at(1000)})
	require.ErrorIs(t, err, storage.ErrNotFound)

	var got []int
	for q := (storage.Query{Limit: 5, MaxParticipants: most}); ; {
		page := f.list(q)
		people := 0
		for _, c := range page.Conferences {
			i, err := strconv.Atoi(c.ConferenceID)
			require.NoError(t, err)
			require.Len(t, c.Participants, sizes[i])
			people += sizes[i]
			got = append(got, i)
		}
		require.True(t, people <= most || len(page.Conferences) == 1, people)
		require.Len(t, page.Cursors, len(page.Conferences))
		if page.Next == (storage.Cursor{}) {
			break
		}
		require.True(t, len(page.Conferences) == q.Limit || people+sizes[len(got)] > most, "no page ends for nothing")
		q.Before = page.Next
	}
	require.Equal(t, want, got)
}

// spec: DASH-01
func testSearch(f *fixture) {
	t := f.t
	f.named(app, "Standup", 0)
	f.named(app, "standup", 100)
	f.named("App", "standup", 200)
	f.named(app, "stand_p", 300)
	f.named(app, "日本 'x' %", 400)
	f.put(func() storage.Summary { s := summary(100, 100, 1); s.Outcome = "dropped"; return s }())

	for name, c := range map[string]struct {
		q    storage.Query
		want []string
	}{
		"all":           {storage.Query{}, []string{"日本 'x' %", "stand_p", "standup", "standup", "Standup"}},
		"case":          {storage.Query{ConferenceID: "Standup"}, []string{"Standup"}},
		"no pattern":    {storage.Query{ConferenceID: "stand_p"}, []string{"stand_p"}},
		"unicode":       {storage.Query{ConferenceID: "日本 'x' %"}, []string{"日本 'x' %"}},
		"app":           {storage.Query{AppID: "App"}, []string{"standup"}},
		"app and id":    {storage.Query{AppID: app, ConferenceID: "standup"}, []string{"standup"}},
		"from":          {storage.Query{From: at(300)}, []string{"日本 'x' %", "stand_p"}},
		"from between":  {storage.Query{From: at(300).Add(time.Microsecond)}, []string{"日本 'x' %"}},
		"to":            {storage.Query{To: at(200)}, []string{"standup", "Standup"}},
		"from to":       {storage.Query{From: at(100), To: at(101)}, []string{"standup"}},
		"outcome":       {storage.Query{Outcome: "dropped"}, []string{"standup"}},
		"other outcome": {storage.Query{Outcome: "success"}, nil},
		"unsummarised":  {storage.Query{AppID: app, Unsummarised: true}, []string{"日本 'x' %", "stand_p", "Standup"}},
		"nothing":       {storage.Query{AppID: "nobody"}, nil},
	} {
		require.Equal(t, c.want, ids(f.list(c.q)), name)
	}

	f.append(batch(1, activity(800, 0, 130)))
	require.Equal(t, []string{"standup"}, ids(f.list(storage.Query{AppID: app, ConferenceID: "standup", Unsummarised: true})), "it went on")

	// A conference that began before From and has not ended is in the range.
	f.append(batch(1, activity(900, 0, 1000), activity(901, 0, 1025), activity(902, 0, 1050)))
	require.Equal(t, []string{call}, ids(f.list(storage.Query{From: at(1020), To: at(1030)})))
}

// entry is the model of a conference for testAnyQuery.
type entry struct {
	app, id, outcome string
	start, end       float64 // seconds
	mos              *float64
	open             bool
}

// matches reports whether a query selects the entry.
func (e entry) matches(q storage.Query) bool {
	return (q.AppID == "" || q.AppID == e.app) && (q.ConferenceID == "" || q.ConferenceID == e.id) &&
		(q.Outcome == "" || q.Outcome == e.outcome) && (!q.Unsummarised || e.open) &&
		(!q.Failed || slices.Contains([]string{"totallyFailed", "partiallyFailed", "dropped"}, e.outcome)) &&
		(q.MinMOS == nil || e.mos != nil && *e.mos >= *q.MinMOS) && (q.MaxMOS == nil || e.mos != nil && *e.mos <= *q.MaxMOS) &&
		(q.From.IsZero() || !at(e.end).Before(q.From)) && (q.To.IsZero() || at(e.start).Before(q.To))
}

// catalogue fills a store with conferences of all lengths; some have activity after their summary,
// some have no summary.
func (f *fixture) catalogue(r *rand.Rand) (out []entry) {
	const hour, day = 3600.0, 24 * 3600.0
	lengths := []float64{0, 60, hour, hour, 5 * hour, day - 0.001, day, day + 0.001, 30 * hour, 3 * day}
	for i := range 40 {
		e := entry{app: []string{"a", "a", "b"}[r.IntN(3)], id: fmt.Sprint("room ", i), start: float64(r.IntN(40)) * 6 * hour}
		e.end, e.outcome = e.start+lengths[r.IntN(len(lengths))], outcomes[r.IntN(len(outcomes))]
		e.mos = score(r)
		if i%7 == 0 { // the conferenceID of the preceding one, in another year
			e.app, e.id = "a", "used again"
			e.start, e.end = e.start+float64(i)*20*day, e.end+float64(i)*20*day
		}
		switch r.IntN(5) {
		case 0:
			e.outcome, e.mos, e.end, e.open = "", nil, e.start, true
			f.named(e.app, e.id, e.start)
		case 1:
			f.named(e.app, e.id, e.start)
			e.end, e.open = e.start, true
			f.put(e.summary(1))
		default:
			f.lasting(e.app, e.id, e.start, e.end)
			f.put(e.summary(0))
		}
		out = append(out, e)
	}
	return out
}

// summary returns a summary that ends some seconds late.
func (e entry) summary(late float64) storage.Summary {
	s := summary(e.start, e.end+late, 1)
	s.AppID, s.ConferenceID, s.Outcome, s.MOS, s.Digest = e.app, e.id, e.outcome, e.mos, []byte(e.id)
	return s
}

var outcomes = []string{"success", "success", "missed", "aborted", "dropped", "partiallyFailed", "totallyFailed"}

// score returns a score, at the limits of bands and beside them, also one that no model computes, or nil.
func score(r *rand.Rand) *float64 {
	scores := []float64{1, 1.5, 1.5, math.Nextafter(1.5, 2), math.Nextafter(2, 1), 2, 2, 2.25, 3.2, 4.4, 4.5, 5, -3, 1e9}
	if i := r.IntN(len(scores) + 4); i < len(scores) {
		return &scores[i]
	}
	return nil
}

// For any query and any page size, each conference that it selects is listed
// once, the newest first.
//
// spec: DASH-01
func testAnyQuery(f *fixture) {
	t := f.t
	random := rand.New(rand.NewPCG(1, 2))
	all := f.catalogue(random)
	some := func(n int) bool { return random.IntN(n) == 0 }
	found := 0
	queries := testenv.Pick(150, 500)
	for range queries {
		q := storage.Query{Limit: 1 + random.IntN(60)}
		e := all[random.IntN(len(all))]
		if some(2) {
			q.AppID = e.app
		}
		if some(6) {
			q.ConferenceID = e.id
		}
		if some(4) {
			q.Outcome = "dropped"
		}
		q.Unsummarised = some(6)
		q.Failed, q.Digests = some(4), some(2)
		if some(3) {
			q.MinMOS = score(random)
		}
		if some(3) {
			q.MaxMOS = score(random)
		}
		if from := at([]float64{e.start, e.end, e.end + 0.001, e.end + 24*3600, e.end - 3600}[random.IntN(5)]); !some(3) {
			q.From = from
			if some(2) {
				q.To = from.Add(time.Duration(random.IntN(3*24)) * time.Hour)
			}
		}
		var want []string
		for _, e := range all {
			if e.matches(q) {
				want = append(want, fmt.Sprint(e.app, e.id, at(e.start)))
			}
		}
		found += len(want)
		require.ElementsMatch(t, want, f.paged(q), "%+v", q)
	}
	require.Greater(t, found, 2*queries)
}

// paged returns all results of a query, page by page, and checks the order.
func (f *fixture) paged(q storage.Query) (out []string) {
	f.t.Helper()
	for last := (time.Time{}); ; {
		page := f.list(q)
		require.LessOrEqual(f.t, len(page.Conferences), q.Limit)
		for _, c := range page.Conferences {
			require.True(f.t, last.IsZero() || !c.Start.After(last), "the newest first")
			last = c.Start
			require.Equal(f.t, q.Digests && c.Summary != nil, c.Summary != nil && c.Summary.Digest != nil)
			out = append(out, fmt.Sprint(c.AppID, c.ConferenceID, c.Start))
		}
		if q.Before = page.Next; q.Before == (storage.Cursor{}) {
			return out
		}
	}
}

func testNotFound(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)))
	for _, r := range []storage.Ref{
		{AppID: "nobody", ConferenceID: call, At: at(0)},
		{AppID: app, ConferenceID: "STANDUP", At: at(0)},
		ref(-31), ref(31 + dayOf),
		{AppID: app, ConferenceID: call},
	} {
		_, err := f.r.Conference(t.Context(), r)
		require.ErrorIs(t, err, storage.ErrNotFound, r)
		require.ErrorIs(t, f.r.Records(t.Context(), r, nil), storage.ErrNotFound, r)
	}
}

// The time in a link may be any time in the conference, or near it.
//
// spec: CONF-01
func testNearTime(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0), activity(2, 0, 40)))
	require.Len(t, f.spans(), 2)
	for second, start := range map[float64]float64{-30: 0, 0: 0, 20: 0, 21: 40, 40: 40, 70: 40, 40 + dayOf: 40} {
		require.Equal(t, at(start), f.conference(second).Start, second)
	}
}
