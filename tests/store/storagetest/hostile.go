package storagetest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// RunHostile tests an engine with invalid and extreme input:
// it either stores the input, or refuses it with storage.ErrInvalid and a text that names the
// record. Valid records beside it are stored.
func RunHostile(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for name, test := range map[string]func(*fixture, Store){
		"ids that lie":      testLyingIDs,
		"numbers that jump": testJumps,
		"long ids":          testLongIDs,
		"long texts":        testLongTexts,
		"times":             testTimes,
		"values":            testHostileValues,
		"many names":        testManyNames,
		"many sessions":     testManySessions,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			test(&fixture{t: t, w: s, r: s}, s)
		})
	}
}

// readBudget is the memory that reading a conference of 100,000 or a million records may hold; the records take
// some 40 MB and 400 MB.
const readBudget = 16 << 20

// RunManyRecords tests the memory used by reading very many records. No other test may run concurrently.
func RunManyRecords(t *testing.T, s Store) {
	t.Helper()
	f := &fixture{t: t, w: s, r: s}
	const rows, step = 50, 500
	frames := testenv.Pick(2_000, 20_000)
	for from := 1; from <= frames; from += step {
		b := batch(1)
		for seq := from; seq < from+step; seq++ {
			for index := range rows {
				r := activity(uint64(seq), index, float64(seq))
				r.Attributes = map[string]any{"qos.stats.packets": int64(index)}
				b.Records = append(b.Records, r)
			}
		}
		require.Equal(t, storage.Appended{New: step * rows}, f.append(b))
	}
	f.readMany(frames, rows)
	started := time.Now()
	f.pack(100_000)
	t.Logf("packed in %s", lap(&started))
	f.readMany(frames, rows)
}

// refused appends invalid input, requires an error that names it, and that a valid
// record beside it can still be stored.
func (f *fixture) refused(b storage.Batch, want string) {
	f.t.Helper()
	_, err := f.w.Append(f.t.Context(), []storage.Batch{b})
	require.ErrorIs(f.t, err, storage.ErrInvalid)
	require.ErrorContains(f.t, err, want)
	f.count++
	require.Equal(f.t, storage.Appended{New: 1}, f.append(batch(99, activity(1_000_000+f.count, 0, 0))))
}

// Sessions whose ids have an impossible time, or none, are stored like
// any other, and retention uses the times of their conferences.
//
// spec: SRV-03, CONF-01
func testLyingIDs(f *fixture, s Store) {
	t := f.t
	ids := []string{
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
		"ffffffff-ffff-7fff-bfff-ffffffffffff", "1b4e28ba-2fa1-11d2-883f-b9a761bde3fb", // version 1
		"9b2e3c5a-7d41-4c6e-8f3a-5b6c7d8e9f00", // version 4
		startedOn(1, time.UnixMilli(0)), startedOn(2, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)),
		startedOn(3, epoch.AddDate(-30, 0, 0)), startedOn(4, epoch), startedOn(5, time.Now()), startedOn(6, time.Now().AddDate(0, 0, 30)),
	}
	const old, recent = 0, 40 * 24 * 3600.0
	for i, id := range ids {
		for _, second := range []float64{old, recent} {
			r := activity(1+uint64(second), 0, second)
			r.ConferenceID = fmt.Sprint("call ", i)
			b := batch(0, r, annotation(2+uint64(second), second, second))
			b.Records[1].ConferenceID, b.Session.ID = r.ConferenceID, id
			require.Equal(t, storage.Appended{New: 2}, f.append(b), id)
			require.Equal(t, storage.Appended{Duplicates: 2}, f.append(b), id)
		}
	}
	check := func(second float64) {
		for i, id := range ids {
			at := storage.Ref{AppID: app, ConferenceID: fmt.Sprint("call ", i), At: at(second)}
			c, err := f.r.Conference(t.Context(), at)
			require.NoError(t, err, id)
			require.Equal(t, []string{id}, people(c))
			require.Len(t, f.records(at), 2, id)
		}
	}
	check(old)
	check(recent)
	f.pack(recent + 3600)
	check(old)
	check(recent)
	n, err := s.DeleteBefore(t.Context(), at(old+3600))
	require.NoError(t, err)
	require.Equal(t, len(ids), n)
	require.Len(t, f.list(storage.Query{}).Conferences, len(ids))
	check(recent)
	n, err = s.DeleteBefore(t.Context(), at(recent+3600))
	require.NoError(t, err)
	require.Equal(t, len(ids), n)
	require.Empty(t, f.list(storage.Query{}).Conferences)
}

// spec: SRV-02, SRV-03
func testJumps(f *fixture, _ Store) {
	t := f.t
	const most = math.MaxInt64
	var want []uint64
	for _, seq := range []uint64{most, 1, 1 << 53, 1<<53 + 1, 2, most - 1, 1 << 62} {
		r := activity(seq, 0, 0)
		require.Equal(t, storage.Appended{New: 1}, f.append(batch(1, r)), seq)
		require.Equal(t, storage.Appended{Duplicates: 1}, f.append(batch(1, r)), seq)
	}
	want = append(want, 1, 2, 1<<53, 1<<53+1, 1<<62, most-1, most)
	require.Equal(t, want, f.seqs(0))
	f.pack(3600)
	require.Equal(t, want, f.seqs(0), "packed")
	require.Equal(t, storage.Appended{Duplicates: 1}, f.append(batch(1, activity(most, 0, 0))))

	last := activity(3, math.MaxInt32, 0)
	require.Equal(t, storage.Appended{New: 2}, f.append(batch(1, last, activity(3, 0, 0))))
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.append(batch(1, activity(3, math.MaxInt32-1, 0), last)))
	require.Len(t, f.records(ref(0)), len(want)+3)

	f.refused(batch(1, activity(0, 0, 0)), "record (0, 0)")
	f.refused(batch(1, activity(most+1, 0, 0)), "record (9223372036854775808, 0)")
	f.refused(batch(1, activity(math.MaxUint64, 0, 0)), "record (18446744073709551615, 0)")
	f.refused(batch(1, activity(7, -1, 0)), "record (7, -1)")
	f.refused(batch(1, activity(7, math.MaxInt32+1, 0)), "record (7, 2147483648)")
}

// noise returns n incompressible bytes, with zeros and invalid UTF-8 among them.
func noise(n int) string {
	random := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = random.Read(b)
	b[0], b[n-1] = 0, 0xff
	return string(b)
}

// Ids of any length are stored or refused permanently: after a retryable error a
// client would send them again and again.
//
// spec: SRV-02
func testLongIDs(f *fixture, _ Store) {
	t := f.t
	longest := storage.MaxIDBytes
	for _, n := range []int{1, longest} {
		id := noise(n)
		b := batch(n, activity(1, 0, 0))
		b.Session.AppID, b.Records[0].ConferenceID = id, id
		require.Equal(t, storage.Appended{New: 1}, f.append(b))
		s := summary(0, 0, 1)
		s.AppID, s.ConferenceID = id, id
		f.put(s)
		c, err := f.r.Conference(t.Context(), storage.Ref{AppID: id, ConferenceID: id, At: at(0)})
		require.NoError(t, err)
		require.Equal(t, &s, c.Summary)
	}
	for _, n := range []int{longest + 1, 1 << 20} {
		conference, session, both := batch(2, activity(7, 1, 0)), batch(2, activity(7, 1, 0)), summary(0, 0, 1)
		conference.Records[0].ConferenceID = noise(n)
		session.Session.AppID = noise(n)
		f.refused(conference, fmt.Sprintf("record (7, 1): its conferenceID has %d bytes", n))
		f.refused(session, fmt.Sprintf("AppID has %d bytes", n))
		both.AppID = noise(n)
		require.ErrorIs(t, f.w.PutSummary(t.Context(), both), storage.ErrInvalid)
		both.AppID, both.ConferenceID = app, noise(n)
		require.ErrorIs(t, f.w.PutSummary(t.Context(), both), storage.ErrInvalid)

		// Reading them is no error; there is nothing.
		require.Empty(t, f.list(storage.Query{AppID: noise(n), ConferenceID: noise(n), Outcome: noise(n)}).Conferences)
		_, err := f.r.Conference(t.Context(), storage.Ref{AppID: app, ConferenceID: noise(n), At: at(0)})
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	for _, id := range []string{"", "x", strings.Repeat("a", 1<<20), strings.Repeat("\x00", 36), "019A9F3C-7B1A-7C3E-9F10-000000000001"} {
		b := batch(1, activity(7, 0, 0))
		b.Session.ID = id
		f.refused(b, "session id")
	}
}

// spec: SRV-02
func testLongTexts(f *fixture, _ Store) {
	t := f.t
	long := noise(1 << 20)
	b := batch(1, activity(1, 0, 0))
	b.Session.UserID, b.Session.UserAlias = long, long
	b.Session.Details = map[string]string{strings.Repeat("k", 1<<20): strings.Repeat("v", 1<<20)}
	b.Records[0].Name = long
	b.Records[0].Attributes = map[string]any{long: long, "x" + long: int64(1)}
	for _, want := range []storage.Appended{{New: 1}, {Duplicates: 1}} {
		require.Equal(t, want, f.append(b))
	}
	require.Equal(t, []read{{sessionID(1), b.Records[0]}}, f.records(ref(0)))
	f.pack(3600)
	require.Equal(t, []read{{sessionID(1), b.Records[0]}}, f.records(ref(0)), "packed, or left as it is")
	require.Equal(t, b.Session, f.conference(0).Participants[0].Session)

	s := summary(0, 0, 1)
	for _, indexed := range []*string{&s.Outcome, &s.Label, &s.Cause} {
		*indexed = strings.Repeat("o", storage.MaxIDBytes+1)
		require.ErrorIs(t, f.w.PutSummary(t.Context(), s), storage.ErrInvalid, "it is in indexes")
		*indexed = (*indexed)[1:]
	}
	s.Document = bytes.Repeat([]byte(`[]`), 1<<20)
	f.put(s)
	require.Equal(t, &s, f.conference(0).Summary)
	for _, q := range []storage.Query{{Outcome: s.Outcome}, {Label: s.Label}, {Cause: s.Cause}} {
		require.Len(t, f.list(q).Conferences, 1)
	}
}

// spec: SRV-02, CONF-01
func testTimes(f *fixture, s Store) {
	t := f.t
	first, last := time.UnixMilli(0).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	for i, at := range []time.Time{first, last} {
		r := activity(uint64(i+1), 0, 0)
		r.At, r.ConferenceAt, r.ObservedAt = at, time.Time{}, last.AddDate(290, 0, 0)
		remark := annotation(uint64(i+11), 0, 0)
		remark.ConferenceAt, remark.At = at, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
		require.Equal(t, storage.Appended{New: 2}, f.append(batch(1, r, remark)))
		got := f.records(storage.Ref{AppID: app, ConferenceID: call, At: at})
		require.Equal(t, []read{{sessionID(1), remark}, {sessionID(1), r}}, got)
		sum := summary(0, 0, 1)
		sum.Start, sum.End = at, at
		f.put(sum)
	}
	require.Len(t, f.list(storage.Query{}).Conferences, 2)
	for _, at := range []time.Time{first.Add(-time.Millisecond), last.Add(time.Millisecond), {}} {
		r, remark := activity(5, 2, 0), annotation(6, 0, 0)
		r.At, remark.ConferenceAt = at, at
		f.refused(batch(1, r), "record (5, 2)")
		f.refused(batch(1, remark), "record (6, 0)")
		sum := summary(0, 0, 1)
		sum.Start, sum.End = at, at
		require.ErrorIs(t, f.w.PutSummary(t.Context(), sum), storage.ErrInvalid)
	}
	sum := summary(1, 0, 1)
	require.ErrorIs(t, f.w.PutSummary(t.Context(), sum), storage.ErrInvalid, "it ends before it starts")

	// Queries about any time succeed.
	far := last.AddDate(1000, 0, 0)
	for _, at := range []time.Time{{}, first.Add(-time.Hour), far} {
		_, err := f.r.Conference(t.Context(), storage.Ref{AppID: app, ConferenceID: call, At: at})
		require.ErrorIs(t, err, storage.ErrNotFound)
		require.NotNil(t, f.list(storage.Query{From: at.Add(-1), To: at.Add(1)}))
	}
	have := len(f.list(storage.Query{}).Conferences)
	for _, at := range []time.Time{{}, first} {
		n, err := s.DeleteBefore(t.Context(), at)
		require.NoError(t, err)
		require.Zero(t, n)
	}
	n, err := s.DeleteBefore(t.Context(), far)
	require.NoError(t, err)
	require.Equal(t, have, n)
}

// spec: SRV-02
func testHostileValues(f *fixture, _ Store) {
	t := f.t
	patterns := []uint64{
		math.Float64bits(math.NaN()), 0xfff8_0000_0000_0001, 0x7ff0_0000_0000_0001, // NaNs of other bits
		math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)), 1 << 63, 0, 1, math.Float64bits(math.MaxFloat64),
		math.Float64bits(1<<53 - 1), math.Float64bits(1 << 53), math.Float64bits(-(1<<53 + 2)), math.Float64bits(1 << 63),
	}
	var records []storage.Record
	for i, bits := range patterns {
		r := activity(1, i, 0)
		r.Attributes = map[string]any{"": math.Float64frombits(bits), "int": []int64{math.MinInt64, math.MaxInt64}[i%2]}
		records = append(records, r)
	}
	f.append(batch(1, records...))
	f.pack(3600)
	for i, r := range f.records(ref(0)) {
		got, ok := r.record.Attributes[""].(float64)
		require.True(t, ok, "%x", patterns[i])
		require.Equal(t, patterns[i], math.Float64bits(got), "%x", patterns[i])
		require.Equal(t, records[i].Attributes["int"], r.record.Attributes["int"])
	}
	for _, v := range []any{nil, 1, uint64(1), float32(1), []byte("x"), []any{}, map[string]any{}, struct{}{}, time.Now()} {
		bad := activity(2, 3, 0)
		bad.Attributes = map[string]any{"bad": v}
		f.refused(batch(1, activity(2, 2, 0), bad), `record (2, `)
		f.refused(batch(1, bad), `attribute "bad" is a`)
	}
	require.NotContains(t, f.seqs(0), uint64(2), "all or nothing")
}

// The dictionary of names is limited; other names are stored all the same.
func testManyNames(f *fixture, _ Store) {
	t := f.t
	var want []read
	for seq := uint64(1); seq <= 3; seq++ {
		r := activity(seq, 0, float64(seq))
		r.Name = fmt.Sprint("name ", seq)
		for i := range 5000 {
			r.Attributes[fmt.Sprint("attribute ", seq, " ", i)] = int64(i)
		}
		require.Equal(t, storage.Appended{New: 1}, f.append(batch(1, r)))
		want = append(want, read{sessionID(1), r})
	}
	require.Equal(t, want, f.records(ref(0)))
	f.pack(3600)
	require.Equal(t, want, f.records(ref(0)), "packed")
	require.Equal(t, storage.Appended{New: 1}, f.append(batch(2, activity(1, 0, 0))))
}

// spec: CONF-01
func testManySessions(f *fixture, s Store) {
	t := f.t
	const step = 500
	sessions := testenv.Pick(2_500, 10_000)
	started, termsDropped := time.Now(), 0
	for from := 0; from < sessions; from += step {
		var batches []storage.Batch
		for n := from; n < from+step; n++ {
			batches = append(batches, batch(n, activity(1, 0, float64(n)/1000), annotation(2, 1, 2)))
		}
		got := f.append(batches...)
		require.Equal(t, storage.Appended{New: 2 * step, TermsDropped: got.TermsDropped}, got)
		termsDropped += got.TermsDropped
	}
	require.Equal(t, max(0, 2*sessions-4096), termsDropped, "each has two names, and so many find a conference")
	t.Logf("%d sessions in one conference: appended in %s", sessions, lap(&started))
	c := f.conference(1)
	require.Len(t, c.Participants, sessions)
	t.Logf("Conference in %s", lap(&started))
	page := f.list(storage.Query{})
	require.Len(t, page.Conferences, 1)
	require.Len(t, page.Conferences[0].Participants, sessions)
	t.Logf("Conferences in %s", lap(&started))
	require.Len(t, f.records(ref(1)), 2*sessions)
	t.Logf("Records in %s", lap(&started))
	f.pack(3600)
	t.Logf("packed in %s", lap(&started))
	require.Len(t, f.records(ref(1)), 2*sessions)
	t.Logf("Records in %s", lap(&started))
	sum := summary(0, 10, 1)
	sum.Document = bytes.Repeat([]byte(`["x"]`), sessions)
	f.put(sum)
	require.Equal(t, storage.Appended{New: 1}, f.append(batch(1, activity(3, 0, 20))))
	t.Logf("one more record in %s", lap(&started))
	n, err := s.DeleteBefore(t.Context(), at(3600))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	t.Logf("deleted in %s", lap(&started))
	require.Equal(t, storage.Appended{New: 1}, f.append(batch(1, activity(1, 0, 0))), "and may come again")
}

func lap(since *time.Time) time.Duration {
	d := time.Since(*since)
	*since = time.Now()
	return d.Round(time.Millisecond)
}

// readMany reads the frames of RunManyRecords, and the first records alone.
func (f *fixture) readMany(frames, rows int) {
	t := f.t
	t.Helper()
	before, most, n := liveBytes(), uint64(0), 0
	started := time.Now()
	require.NoError(t, f.r.Records(t.Context(), ref(1), func(_ string, r storage.Record) bool {
		if r.Seq != uint64(n/rows)+1 || r.Index != n%rows {
			return false // the number of records is checked below
		}
		if n++; n%10_000 == 0 {
			most = max(most, liveBytes())
		}
		return true
	}))
	require.Equal(t, frames*rows, n)
	t.Logf("%d records read in %s, %d kB held at most", n, lap(&started), (int64(most)-int64(before))>>10)
	require.Less(t, most, before+readBudget)

	n = 0
	require.NoError(t, f.r.Records(t.Context(), ref(1), func(string, storage.Record) bool { n++; return n < 10 }))
	require.Equal(t, 10, n)
	t.Logf("the first 10 in %s", lap(&started))
}

func liveBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
