package storagetest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/storage"
)

// Names of attributes by which conferences are found.
const (
	siteID     = "qos.site.id"
	version    = "qos.application.version"
	customerID = "qos.additional.customerID"
	tenantID   = "qos.additional.tenantID"
	remoteUser = "qos.remote.user.id"
	remoteName = "qos.remote.user.alias"
	eventName  = "qos.event.name"
	eventData  = "qos.event.data"
)

// withAttributes adds attributes to a record.
func withAttributes(r storage.Record, attributes ...string) storage.Record {
	r.Attributes = maps.Clone(r.Attributes)
	for pair := range slices.Chunk(attributes, 2) {
		r.Attributes[pair[0]] = pair[1]
	}
	return r
}

// fabricEvent returns an event of a fabric.
func fabricEvent(seq uint64, second float64, name, data string) storage.Record {
	r := withAttributes(activity(seq, 0, second), eventName, name, eventData, data)
	r.Name = "qos.event"
	return r
}

// finds requires the conferences of the test's only conferenceID that a query finds, by their starts.
func (f *fixture) finds(q storage.Query, seconds ...float64) {
	f.t.Helper()
	var got []float64
	for _, c := range f.list(q).Conferences {
		got = append(got, c.Start.Sub(epoch).Seconds())
	}
	require.Equal(f.t, seconds, got, "%+v", q)
}

// A conference without an end is found by each value of its participants, by no other value, and not by another kind.
//
// spec: INIT-08 API-06 DASH-01
func testFind(f *fixture) {
	t := f.t
	b := batch(1, withAttributes(activity(1, 0, 0), remoteUser, "Bob Real", remoteName, "bob"),
		fabricEvent(2, 1, "userIDChange", `{"userIDType":"local","newUserID":{"userName":"Ann New","aliasName":"ann-new"}}`),
		fabricEvent(3, 2, "userIDChange", `{"userIDType":"remote","newUserID":"robert"}`),
		fabricEvent(4, 3, "associateMstWithUserID", `{"userID":"carol","ssrc":7}`),
		fabricEvent(5, 4, "somethingElse", `{"userID":"dave","newUserID":"eve"}`),
		fabricEvent(6, 5, "userIDChange", `no JSON`))
	b.Session.UserID, b.Session.UserAlias = "Ann Real", "ann"
	b.Session.Details = map[string]string{siteID: "hq", version: "2.3", customerID: "c 1", tenantID: "", "user_agent.original": "browser", "qos.additional.unheard": "x"}
	f.append(b)

	for _, user := range []string{"Ann Real", "ann", "Ann New", "ann-new", "Bob Real", "bob", "robert", "carol"} {
		f.finds(storage.Query{UserID: user}, 0)
		f.finds(storage.Query{AppID: app, UserID: user}, 0)
		f.finds(storage.Query{AppID: "App", UserID: user})
		f.finds(storage.Query{SiteID: user})
		real := strings.Contains(user, " ")
		require.Equal(t, !real, len(f.list(storage.Query{UserID: user, AliasesOnly: true}).Conferences) == 1, user)
		require.Equal(t, !real, len(f.list(storage.Query{Any: user, AliasesOnly: true}).Conferences) == 1, user)
	}
	for _, user := range []string{"Ann", "ANN", "ann ", "dave", "eve", "browser", "hq", "2.3", "c 1"} {
		f.finds(storage.Query{UserID: user})
	}
	f.finds(storage.Query{SiteID: "hq"}, 0)
	f.finds(storage.Query{SiteID: "HQ"})
	f.finds(storage.Query{ApplicationVersion: "2.3"}, 0)
	f.finds(storage.Query{ApplicationVersion: "hq"})
	f.finds(storage.Query{AdditionalID: "c 1"}, 0)
	f.finds(storage.Query{AdditionalID: "x"}, 0)
	f.finds(storage.Query{AdditionalID: "c 1", AdditionalKey: "customerID"}, 0)
	f.finds(storage.Query{AdditionalID: "c 1", AdditionalKey: "tenantID"})
	f.finds(storage.Query{AdditionalID: "hq"})
	f.finds(storage.Query{UserID: "ann", SiteID: "hq", ApplicationVersion: "2.3", AdditionalID: "c 1", Any: call, ConferenceID: call}, 0)
	f.finds(storage.Query{UserID: "ann", SiteID: "elsewhere"})
	f.finds(storage.Query{Any: "nothing"})
	for value, matched := range map[string]string{
		"hq": storage.MatchedSite, "2.3": storage.MatchedVersion, "c 1": "customerID", "x": storage.MatchedAdditional,
		"Ann New": storage.MatchedUser, call: storage.MatchedConferenceID,
	} {
		page := f.list(storage.Query{Any: value})
		require.Len(t, page.Conferences, 1, value)
		require.Equal(t, []string{matched}, page.Conferences[0].Matched, value)
	}
}

// A session with a new description is found by both descriptions, in the conferences in which it takes part
// afterwards.
func testFindDescribedAnew(f *fixture) {
	for i, site := range []string{"hq", "hq", "branch"} {
		b := batch(1, activity(uint64(1+i), 0, float64(i)))
		b.Session.Details = map[string]string{siteID: site}
		f.append(b)
	}
	f.finds(storage.Query{SiteID: "hq"}, 0)
	f.finds(storage.Query{SiteID: "branch"}, 0)
}

// A merge of conferences merges their search terms, and a start that moves changes the order.
//
// spec: CONF-02
func testFindMerged(f *fixture) {
	said := func(n int, second float64, who string) storage.Batch {
		b := batch(n, withAttributes(activity(uint64(1+second), 0, second), remoteUser, who, remoteName, who))
		b.Session.Details = map[string]string{siteID: fmt.Sprint("site ", n)}
		return b
	}
	f.append(said(1, 100, "a"))
	f.append(said(2, 200, "b"))
	f.append(said(3, 150, "c"))
	f.append(said(3, 175, "c"))
	f.finds(storage.Query{UserID: "c"}, 150)
	f.append(said(3, 125, "c"))
	for _, q := range []storage.Query{{UserID: "a"}, {UserID: "b"}, {UserID: "c"}, {SiteID: "site 1"}, {SiteID: "site 2"}, {SiteID: "site 3"}} {
		f.finds(q, 100)
	}
	f.append(said(4, 300, "c"))
	f.append(said(5, 80, "c")) // moves the start
	f.finds(storage.Query{UserID: "c"}, 300, 80)
	f.finds(storage.Query{UserID: "c", To: at(90)}, 80)
	f.finds(storage.Query{UserID: "b", From: at(210)})
	f.finds(storage.Query{UserID: "b", From: at(190)}, 80)

	// Annotations add participants to the nearest conference.
	f.append(said(6, 1000, "d"))
	annotation := batch(7, annotation(1, 1020, 1020))
	annotation.Session.Details = map[string]string{siteID: "site 7"}
	f.append(annotation)
	f.finds(storage.Query{SiteID: "site 7"}, 1000)
	f.append(said(6, 1035, "e"))
	f.finds(storage.Query{SiteID: "site 7"}, 1035)
	f.finds(storage.Query{UserID: "d"}, 1000)
}

// A conference is found by the values of the newest revision of its summary only.
//
// spec: DASH-01
func testFindSummary(f *fixture) {
	f.named(app, call, 0)
	f.named(app, call, 1000)
	first := summary(0, 0, 1)
	first.Label, first.Cause, first.Outcome = "bad", "senderUplink", "dropped"
	f.put(first)
	f.finds(storage.Query{Label: "bad"}, 0)
	f.finds(storage.Query{Cause: "senderUplink"}, 0)
	f.finds(storage.Query{Label: "bad", Cause: "senderUplink", Outcome: "dropped", UserID: "alias 1", AppID: app}, 0)
	f.finds(storage.Query{Label: "bad", UserID: "alias 2"})
	f.finds(storage.Query{Label: "Bad"})
	second := first
	second.Revision, second.Label, second.Cause = 2, "good", ""
	f.put(second)
	f.finds(storage.Query{Label: "bad"})
	f.finds(storage.Query{Cause: "senderUplink"})
	f.finds(storage.Query{Label: "good"}, 0)
	require.Equal(f.t, "good", f.conference(0).Summary.Label)
}

// A conference has the score and outcome of its newest summary; a range without an order or a number has none.
//
// spec: DASH-01
func testFindScores(f *fixture) {
	t := f.t
	at := func(mos float64) *float64 { return &mos }
	f.named(app, call, 0)
	f.named(app, call, 1000)
	first := summary(0, 0, 1)
	first.MOS, first.Outcome = at(1.75), "dropped"
	f.put(first)
	f.finds(storage.Query{MaxMOS: at(2)}, 0)
	f.finds(storage.Query{MinMOS: at(1.75), MaxMOS: at(1.75)}, 0)
	f.finds(storage.Query{MinMOS: at(1), AppID: app, UserID: "alias 1", Failed: true}, 0)
	f.finds(storage.Query{Failed: true, Outcome: "dropped"}, 0)
	f.finds(storage.Query{Failed: true, Outcome: "success"})
	for _, q := range []storage.Query{
		{MaxMOS: at(1.74)}, {MinMOS: at(1.76)}, {MinMOS: at(2), MaxMOS: at(1)}, {MinMOS: at(math.NaN())}, {MaxMOS: at(math.NaN())}, {MinMOS: at(math.Inf(1))}, {MaxMOS: at(math.Inf(-1))},
	} {
		f.finds(q)
	}
	f.finds(storage.Query{MinMOS: at(math.Inf(-1)), MaxMOS: at(math.Inf(1))}, 0)
	for revision, outcome := range []string{"totallyFailed", "partiallyFailed", "missed", "aborted", "success"} {
		first.Revision, first.Outcome, first.MOS = revision+2, outcome, at(float64(revision)+1)
		f.put(first)
		require.Equal(t, revision < 2, len(f.list(storage.Query{Failed: true}).Conferences) == 1, outcome)
		f.finds(storage.Query{MinMOS: first.MOS, MaxMOS: first.MOS}, 0)
	}
	first.Revision, first.MOS = 9, nil
	f.put(first)
	f.finds(storage.Query{MinMOS: at(-10)})
	f.finds(storage.Query{MaxMOS: at(10)})
}

// The number of terms of a conference is limited, and dropped terms are
// counted.
func testFindTooMany(f *fixture) {
	t := f.t
	const most = 4096
	b := batch(1)
	for i := range most + 10 {
		b.Records = append(b.Records, fabricEvent(uint64(i+1), 0, "userIDChange", fmt.Sprintf(`{"newUserID":"name %d"}`, i)))
	}
	got := f.append(b)
	over := 10 + 2 // the session's name and alias
	require.Equal(t, storage.Appended{New: most + 10, TermsDropped: over}, got)
	require.Equal(t, over, f.conference(0).TermsDropped)
	found := 0
	for i := 0; i < most+10; i += 100 {
		found += len(f.list(storage.Query{UserID: fmt.Sprint("name ", i)}).Conferences)
	}
	require.InDelta(t, most/100, found, 3)
	f.append(batch(1, activity(9000, 0, 1)))
	require.Equal(t, over, f.conference(0).TermsDropped, "terms that are written are not counted again")
}

// searchSession returns session n with the details of the search tests.
func searchSession(n int) storage.Session {
	s := session(n)
	s.UserID = []string{"Ann Real", "bob", "x"}[n%3]
	s.UserAlias = []string{"ann", "bob", "x"}[n%3]
	s.Details = map[string]string{siteID: []string{"hq", "x", "Ann Real", "x"}[n%4], version: "2.3"}
	if n%3 > 0 {
		s.Details[customerID] = fmt.Sprint("c ", n)
	}
	return s
}

// After any sequence of appends, packs, deletions and reopening, a search finds the same
// as a list of all records.
//
// spec: INIT-08 API-06 CONF-02 SRV-03
func testFindAnyOrder(f *packFixture) {
	runs, hits := 0, 0
	rapid.Check(f.t, func(rt *rapid.T) {
		runs++
		m := &packModel{f: f, app: fmt.Sprint("found app ", runs), items: generateFrames(rt), live: map[int]bool{}, session: searchSession}
		for i := range m.items {
			m.items[i].record = speak(rt, m.items[i].record)
		}
		for range rapid.IntRange(2, 8).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				m.delete(rt)
			case 1:
				f.reopen()
			case 2, 3:
				m.pack(rt)
			default:
				m.append(rt)
			}
			hits += m.search(rt)
		}
		_, err := f.s.DeleteBefore(f.t.Context(), at(hour))
		require.NoError(rt, err)
		require.Zero(rt, f.engine.Rows(f.t, f.s))
	})
	require.Greater(f.t, hits, runs)
}

// speak adds search terms to a record; those of annotations have no effect.
func speak(rt *rapid.T, r storage.Record) storage.Record {
	who := rapid.SampledFrom([]string{"ann", "zoe", "x", "hq"}).Draw(rt, "who")
	switch rapid.IntRange(0, 3).Draw(rt, "says") {
	case 0:
		return withAttributes(r, remoteUser, who, remoteName, who)
	case 1:
		r = withAttributes(r, eventName, "userIDChange", eventData, fmt.Sprintf(`{"newUserID":%q,"userIDType":"local"}`, who))
		r.Name = "qos.event"
	}
	return r
}

// search compares random searches with the model.
func (m *packModel) search(rt *rapid.T) (hits int) {
	all, _ := expected(m.stored())
	values := rapid.Permutation([]string{"Ann Real", "ann", "bob", "zoe", "x", "hq", "2.3", "c 1", "c 2", "A", "nobody"}).Draw(rt, "values")[:2]
	from := rapid.SampledFrom([]int{-1, 0, 100, 200}).Draw(rt, "from")
	for _, value := range values {
		for _, q := range []storage.Query{
			{UserID: value},
			{SiteID: value},
			{ApplicationVersion: value},
			{AdditionalID: value},
			{AdditionalID: value, AdditionalKey: "customerID"},
			{Any: value},
			{Any: value, AliasesOnly: true},
			{SiteID: value, AliasesOnly: true},
			{UserID: value, SiteID: "hq"},
			{Any: value, ConferenceID: "a"},
		} {
			if q.AppID = m.app; from >= 0 {
				q.From = at(float64(from))
			}
			var want []string
			for _, o := range all {
				if o.fits(q) && int(o.span.End) >= from {
					want = append(want, fmt.Sprint(m.app, o.id, at(float64(o.span.Start))))
				}
			}
			q.Limit = 2 + len(values[0])%3
			got := m.f.paged(q)
			require.ElementsMatch(rt, want, got, "%+v", q)
			hits += len(got)
		}
	}
	return hits
}

// fits is the model of a search.
func (o outcome) fits(q storage.Query) bool {
	users, names, details := map[string]bool{}, map[string]bool{}, map[string]map[string]bool{siteID: {}, version: {}, customerID: {}}
	for _, r := range o.records {
		for n := range 4 {
			if s := searchSession(n); s.ID == r.session {
				users[s.UserAlias], names[s.UserID] = true, s.UserID != s.UserAlias
				for name, values := range details {
					values[s.Details[name]] = true
				}
			}
		}
		if !r.record.Activity {
			continue
		}
		if who, ok := r.record.Attributes[remoteName].(string); ok {
			users[who] = true
		}
		if data, ok := r.record.Attributes[eventData].(string); ok {
			users[strings.Split(data, `"`)[3]] = true
		}
	}
	user := func(v string) bool { return users[v] || !q.AliasesOnly && names[v] }
	hidden := func(v string) bool { return q.AliasesOnly && names[v] }
	any := !hidden(q.Any) && (user(q.Any) || details[siteID][q.Any] || details[version][q.Any] || details[customerID][q.Any]) || o.id == q.Any
	return !slices.Contains([]bool{
		q.UserID == "" || user(q.UserID) && !hidden(q.UserID),
		q.SiteID == "" || details[siteID][q.SiteID] && !hidden(q.SiteID),
		q.ApplicationVersion == "" || details[version][q.ApplicationVersion],
		q.AdditionalID == "" || details[customerID][q.AdditionalID],
		q.Any == "" || any,
		q.ConferenceID == "" || o.id == q.ConferenceID,
	}, false)
}
