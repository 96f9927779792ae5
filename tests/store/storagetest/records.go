package storagetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// values returns attributes that must be read back unchanged, with their type.
func values() map[string]any {
	return map[string]any{
		"text": "x", "empty": "", "unicode": "Ünïcödé 日本語 👩‍👩‍👧 \u0000 \u202e", "invalid": "\xff\xfe", "quote": `"'\;--`,
		"big": strings.Repeat("0123456789abcdef", 4096), "true": true, "false": false,
		"int": int64(3), "zero": int64(0), "minus": int64(-1), "max": int64(math.MaxInt64), "min": int64(math.MinInt64),
		"whole": 3.0, "zero float": 0.0, "minus zero": math.Copysign(0, -1), "decimal": 0.1, "decimals": -1234.5678,
		"third": 1.0 / 3, "huge": 1e300, "tiny": 5e-324, "inf": math.Inf(1), "-inf": math.Inf(-1), "2^53": float64(1 << 53),
		"": "no name", "a very " + strings.Repeat("long ", 100) + "name": int64(1),
	}
}

func testValues(f *fixture) {
	t := f.t
	r := activity(1, 0, 0.001)
	r.Attributes = values()
	r.ConferenceAt, r.ObservedAt, r.Fabric = at(-5.123), at(7.777), math.MaxInt32
	bare := activity(2, 0, 1)
	bare.Attributes, bare.Name = map[string]any{}, ""
	// Rows with some equal values, and one with the other sign of zero.
	same, differs := activity(3, 0, 2), activity(3, 1, 2)
	same.Attributes, differs.Attributes = values(), values()
	differs.Attributes["zero float"] = math.Copysign(0, -1)
	differs.Attributes["int"] = 3.0
	delete(differs.Attributes, "text")
	f.append(batch(1, r, bare, same, differs))

	got := f.records(ref(0))
	require.Equal(t, []storage.Record{r, bare, same, differs}, []storage.Record{got[0].record, got[1].record, got[2].record, got[3].record})
	for _, g := range got {
		for k, v := range g.record.Attributes {
			if v, ok := v.(float64); ok && v == 0 {
				minus := k == "minus zero" || k == "zero float" && g.record.Index == 1
				require.Equal(t, minus, math.Signbit(v), k)
			}
		}
		require.Equal(t, time.UTC, g.record.At.Location())
	}

	nan := activity(4, 0, 3)
	nan.Attributes = map[string]any{"nan": math.NaN()}
	f.append(batch(1, nan))
	got = f.records(ref(0))
	require.True(t, math.IsNaN(got[4].record.Attributes["nan"].(float64)))
}

// Names are those of qos, which have a number, and others, which are written as texts.
func testAnyNames(f *fixture) {
	r, s := activity(1, 0, 0), activity(1, 1, 0)
	r.Name = "a record of somebody else's"
	for i := range 5000 {
		r.Attributes[fmt.Sprint("name ", i)] = int64(i)
	}
	s.Attributes = map[string]any{"qos.stats.rtt_ms": 41.5, "qos.stats.rtt_ms_": 1.0, "qos.": true}
	f.append(batch(1, r, s))
	require.Equal(f.t, []read{{sessionID(1), r}, {sessionID(1), s}}, f.records(ref(0)))
	require.Equal(f.t, storage.Appended{Duplicates: 2}, f.append(batch(1, r, s)))
}

// spec: CONF-01
func testOrder(f *fixture) {
	t := f.t
	// By time, then session, then number, then index; written in another order.
	want := []read{
		{sessionID(2), activity(7, 0, 0)},
		{sessionID(1), activity(2, 0, 1)},
		{sessionID(1), activity(2, 1, 1)},
		{sessionID(1), activity(3, 0, 1)},
		{sessionID(2), annotation(1, 0, 1)},
		{sessionID(3), activity(1, 0, 1)},
		{sessionID(1), annotation(4, 0, 2)},
		{sessionID(1), activity(1, 0, 3)},
	}
	for _, i := range []int{5, 3, 7, 0, 2, 6, 4, 1} {
		n := int(want[i].session[len(want[i].session)-1] - '0')
		f.append(batch(n, want[i].record))
	}
	require.Equal(t, want, f.records(ref(0)))
	f.from(want, 1)
}

// from compares RecordsFrom with Records at the time of every step-th record, and a moment after it.
func (f *fixture) from(want []read, step int) {
	f.t.Helper()
	for i := 0; i < len(want); i += step {
		for _, moment := range []time.Duration{0, time.Nanosecond} {
			begin := want[i].record.At.Add(moment)
			var got []read
			require.NoError(f.t, f.r.RecordsFrom(f.t.Context(), ref(1), begin, func(session string, r storage.Record) bool {
				got = append(got, read{session, r})
				return true
			}))
			after := len(slices.DeleteFunc(slices.Clone(want), func(r read) bool { return !r.record.At.Before(begin) }))
			require.Equal(f.t, append([]read(nil), want[after:]...), got)
		}
	}
}

func testStop(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0), activity(1, 1, 0), activity(2, 0, 1)))
	calls := 0
	require.NoError(t, f.r.Records(t.Context(), ref(0), func(string, storage.Record) bool {
		calls++
		return calls < 2
	}))
	require.Equal(t, 2, calls)
}

// There are more records than in a page, many of them at the same time, and the store is written
// while they are read.
func testMany(f *fixture) {
	t := f.t
	const sessions, frames = 3, 700
	for n := range sessions {
		var records []storage.Record
		for seq := uint64(1); seq <= frames; seq++ {
			r := activity(seq, 0, float64(seq/50))
			if seq%7 == 0 {
				r = annotation(seq, float64(seq/50), float64(seq/70))
			}
			records = append(records, r)
		}
		f.append(batch(n, records...))
	}
	var got []read
	require.NoError(t, f.r.Records(t.Context(), ref(0), func(session string, r storage.Record) bool {
		if len(got) == 10 {
			f.append(batch(9, activity(1, 0, 0))) // before the current position: not returned
		}
		got = append(got, read{session, r})
		return true
	}))
	require.Len(t, got, sessions*frames)
	require.True(t, slices.IsSortedFunc(got, compareReads))
}

func compareReads(a, b read) int {
	if c := a.record.At.Compare(b.record.At); c != 0 {
		return c
	}
	if c := strings.Compare(a.session, b.session); c != 0 {
		return c
	}
	if a.record.Seq != b.record.Seq {
		return int(a.record.Seq) - int(b.record.Seq)
	}
	return a.record.Index - b.record.Index
}

// Feedback belongs to the conference at conferenceAt, however late it arrives.
//
// spec: CONF-02
func testLate(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0), activity(2, 0, 20)))
	f.append(batch(1, annotation(3, 0, 9000)))
	f.append(batch(1, activity(4, 0, 9000)))
	require.Equal(t, [][2]float64{{0, 20}, {9000, 9000}}, f.spans())
	require.Equal(t, []uint64{1, 2, 3}, f.seqs(0))
	require.Equal(t, []uint64{4}, f.seqs(9000))
}

func testUsers(f *fixture) {
	t := f.t
	s := storage.Session{
		ID: sessionID(1), AppID: app, UserID: "Ünï \"x\"", UserAlias: "",
		Details: map[string]string{"qos.site.id": "hq", "user_agent.original": strings.Repeat("x", 512), "": "日本"},
	}
	f.append(storage.Batch{Session: s, Records: []storage.Record{activity(1, 0, 0)}}, batch(2, activity(1, 0, 0)))
	want := []storage.Participant{{Session: s}, {Session: session(2)}}
	require.Equal(t, want, f.conference(0).Participants)
	require.Equal(t, want, f.list(storage.Query{}).Conferences[0].Participants)
}

func testNewestSession(f *fixture) {
	t := f.t
	first := batch(1, activity(1, 0, 0))
	f.append(first)
	second := batch(1, activity(2, 0, 1))
	second.Session.UserID, second.Session.Details = "renamed", map[string]string{"qos.site.id": "new"}
	f.append(second)
	require.Equal(t, second.Session, f.conference(0).Participants[0].Session)
	require.Len(t, f.conference(0).Participants, 1)
}

// A session id that another app uses too does not hide its records or change its user.
func testAppsApart(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)))
	foreign := batch(1, activity(1, 0, 0))
	foreign.Session.AppID, foreign.Session.UserID = "other app", "mallory"
	require.Equal(t, storage.Appended{New: 1}, f.append(foreign))
	require.Equal(t, []storage.Participant{{Session: session(1)}}, f.conference(0).Participants)
	require.Len(t, f.records(ref(0)), 1)
	require.Len(t, f.list(storage.Query{}).Conferences, 2)
}

// IDs, names and texts are bytes to a store: U+0000 and invalid UTF-8 are returned unchanged,
// and remain distinct.
func testAnyBytes(f *fixture) {
	t := f.t
	odd := "a\x00b\xff"
	b := batch(1, activity(1, 0, 0))
	b.Session.AppID, b.Session.UserID, b.Session.UserAlias = odd, odd+"user", odd+"alias"
	b.Session.Details = map[string]string{"nul": "a\x00b", "\x00": ""}
	r := &b.Records[0]
	r.ConferenceID, r.Name, r.Attributes = odd, odd+"name", map[string]any{odd: odd, "a\x00": "\x00", "\x00a": int64(1)}
	require.Equal(t, storage.Appended{New: 1}, f.append(b))
	s := summary(0, 0, 1)
	s.AppID, s.ConferenceID, s.Outcome, s.Label = odd, odd, odd, odd
	f.put(s)

	ref := storage.Ref{AppID: odd, ConferenceID: odd, At: at(0)}
	require.Equal(t, []read{{sessionID(1), *r}}, f.records(ref))
	page := f.list(storage.Query{AppID: odd, ConferenceID: odd, Outcome: odd})
	require.Len(t, page.Conferences, 1)
	require.Equal(t, []storage.Participant{{Session: b.Session}}, page.Conferences[0].Participants)
	c, err := f.r.Conference(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, &s, c.Summary)
	s.Document = nil
	require.Equal(t, &s, page.Conferences[0].Summary)
	require.Empty(t, f.list(storage.Query{AppID: "a"}).Conferences)
	_, err = f.r.Conference(t.Context(), storage.Ref{AppID: odd, ConferenceID: "a\x00b", At: at(0)})
	require.ErrorIs(t, err, storage.ErrNotFound)
}
