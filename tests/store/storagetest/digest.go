package storagetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// digested is a summary with a digest, of any bytes.
func digested(start, end float64, revision int, digest string) storage.Summary {
	s := summary(start, end, revision)
	s.Digest = []byte(digest)
	return s
}

// spec: CONF-02
func testDigest(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)))
	require.Nil(t, f.list(storage.Query{Digests: true}).Conferences[0].Summary)
	first := digested(0, 0, 1, "\x00 any \xff bytes")
	f.put(first)
	require.Equal(t, &first, f.conference(0).Summary)
	listed := first
	listed.Document = nil
	require.Equal(t, &listed, f.list(storage.Query{Digests: true}).Conferences[0].Summary)
	listed.Digest = nil
	require.Equal(t, &listed, f.list(storage.Query{}).Conferences[0].Summary)

	f.put(digested(0, 0, 1, "the same revision"))
	require.Equal(t, first.Digest, f.conference(0).Summary.Digest)
	f.put(digested(0, 0, 2, ""))
	require.Nil(t, f.conference(0).Summary.Digest, "the newest has none")
	require.Nil(t, f.list(storage.Query{Digests: true}).Conferences[0].Summary.Digest)
	long := digested(0, 0, 3, "")
	long.Digest = bytes.Repeat([]byte{1, 2, 3, 255}, storage.MaxDigestBytes/4)
	f.put(long)
	require.Equal(t, long.Digest, f.conference(0).Summary.Digest)
	long.Digest = append(long.Digest, 0)
	long.Revision = 4
	err := f.w.PutSummary(t.Context(), long)
	require.ErrorIs(t, err, storage.ErrInvalid)
	require.ErrorContains(t, err, "summary's digest has 32769 bytes: at most 32768 are kept")
}

// spec: CONF-02
func testDigestMerged(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)), batch(2, activity(1, 0, 50)), batch(3, activity(1, 0, 100)))
	f.put(digested(0, 0, 1, "earlier"))
	f.put(digested(50, 50, 2, "later"))
	f.append(batch(1, activity(2, 0, 25)))
	later := digested(50, 50, 2, "later")
	require.Equal(t, &later, f.conference(0).Summary)
	f.append(batch(1, activity(3, 0, 75)))
	require.Len(t, f.spans(), 1)
	require.Equal(t, &later, f.conference(0).Summary)
}

// facts is a storage.Digest as text.
func facts(d storage.Digest) string {
	return fmt.Sprintf("%s %g-%g %t %q", d.AppID, d.Start.Sub(epoch).Seconds(), d.End.Sub(epoch).Seconds(), d.Body == nil, d.Body)
}

func (f *fixture) digests(q storage.DigestQuery) (out []string) {
	f.t.Helper()
	require.NoError(f.t, f.r.Digests(f.t.Context(), q, func(d storage.Digest) bool {
		out = append(out, facts(d))
		return true
	}))
	return out
}

// Digests yields conferences in order of start, with or without a summary and an end. From is inclusive, To exclusive.
func testDigests(f *fixture) {
	t := f.t
	require.Empty(t, f.digests(storage.DigestQuery{}))
	f.lasting(app, "c", 300, 400)
	f.lasting(app, "a", 100, 150)
	f.named("App", "b", 200)
	for _, s := range []storage.Summary{digested(100, 150, 1, "of a"), digested(300, 400, 1, "")} {
		s.ConferenceID = map[float64]string{100: "a", 300: "c"}[s.Start.Sub(epoch).Seconds()]
		f.put(s)
	}
	a, b, c := app+` 100-150 false "of a"`, `App 200-200 true ""`, app+` 300-400 true ""`
	for name, one := range map[string]struct {
		q    storage.DigestQuery
		want []string
	}{
		"all":           {storage.DigestQuery{}, []string{a, b, c}},
		"of an app":     {storage.DigestQuery{AppID: app}, []string{a, c}},
		"of nobody":     {storage.DigestQuery{AppID: "nobody"}, nil},
		"from":          {storage.DigestQuery{From: at(200)}, []string{b, c}},
		"from a bit on": {storage.DigestQuery{From: at(200).Add(1)}, []string{c}},
		"to":            {storage.DigestQuery{To: at(200)}, []string{a}},
		"to a bit on":   {storage.DigestQuery{To: at(200).Add(1)}, []string{a, b}},
		"going on":      {storage.DigestQuery{From: at(101), To: at(200)}, nil},
		"an app's":      {storage.DigestQuery{AppID: "App", From: at(200), To: at(300)}, []string{b}},
		"turned round":  {storage.DigestQuery{From: at(300), To: at(100)}, nil},
	} {
		require.Equal(t, one.want, f.digests(one.q), name)
	}
	calls := 0
	require.NoError(t, f.r.Digests(t.Context(), storage.DigestQuery{}, func(storage.Digest) bool { calls++; return calls < 2 }))
	require.Equal(t, 2, calls)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, f.r.Digests(ended, storage.DigestQuery{}, nil), context.Canceled)
}

// Pages have no gap between them, also if many conferences have the same start.
func testDigestsMany(f *fixture) {
	t := f.t
	const conferences, each = 1700, 1100 // of one start, more than a page has
	var want, ofApp []string
	batches := map[string]*storage.Batch{app: {Session: session(1)}, "App": {Session: session(1)}}
	batches["App"].Session.AppID = "App"
	var summaries []storage.Summary
	for i := range conferences {
		second, name := float64(i/each), app
		if i%3 == 0 {
			name = "App"
		}
		r := activity(uint64(i+1), 0, second)
		r.ConferenceID = fmt.Sprint("conference ", i)
		batches[name].Records = append(batches[name].Records, r)
		d := storage.Digest{AppID: name, Start: at(second), End: at(second)}
		if i%10 == 0 {
			d.Body = bytes.Repeat([]byte(fmt.Sprintf("%7d ", i)), 1100)
			s := summary(second, second, 1)
			s.AppID, s.ConferenceID, s.Digest = name, r.ConferenceID, d.Body
			summaries = append(summaries, s)
		}
		if want = append(want, facts(d)); name == app {
			ofApp = append(ofApp, facts(d))
		}
	}
	f.append(*batches[app], *batches["App"])
	for _, s := range summaries {
		f.put(s)
	}
	check := func(want []string, q storage.DigestQuery) {
		t.Helper()
		got := f.digests(q)
		require.True(t, slices.IsSortedFunc(got, func(a, b string) int { return bytes.Compare([]byte(second(a)), []byte(second(b))) }))
		slices.Sort(got)
		require.True(t, slices.Equal(slices.Sorted(slices.Values(want)), got), "%d of %d", len(got), len(want))
	}
	check(want, storage.DigestQuery{})
	check(ofApp, storage.DigestQuery{AppID: app})
	check(want[each:], storage.DigestQuery{From: at(1)})
	check(want[:each], storage.DigestQuery{To: at(1)})
}

// second is the start in facts, of one digit.
func second(facts string) string { return string(facts[bytes.IndexByte([]byte(facts), ' ')+1]) }

// The caller of Digests may use the store, because no connection is held while yield runs.
func testDigestsWhileWritten(f *fixture) {
	t := f.t
	for i := range 3 {
		f.named(app, fmt.Sprint("conference ", i), float64(i))
	}
	const deep = 20 // more than any engine has connections
	var read func(depth int) (seen int)
	read = func(depth int) (seen int) {
		require.NoError(t, f.r.Digests(t.Context(), storage.DigestQuery{AppID: app, To: at(3)}, func(storage.Digest) bool {
			if seen++; depth > 0 && seen == 2 {
				require.Equal(t, 3, read(depth-1))
			}
			return true
		}))
		if depth == 0 {
			f.named(app, "written meanwhile", 100)
		}
		return seen
	}
	require.Equal(t, 3, read(deep))
	require.Len(t, f.list(storage.Query{}).Conferences, 4)
}
