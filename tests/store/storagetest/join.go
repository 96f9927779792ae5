package storagetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
)

// spec: CONF-01 CONF-02
func testGap(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)))
	f.append(batch(2, activity(1, 0, 30)))
	require.Equal(t, [][2]float64{{0, 30}}, f.spans(), "30 s apart are one conference")
	f.append(batch(1, activity(2, 0, 60.001)))
	require.Equal(t, [][2]float64{{0, 30}, {60.001, 60.001}}, f.spans(), "more than 30 s are two")
	f.append(batch(1, activity(3, 0, -30), activity(4, 0, 90.001)))
	require.Equal(t, [][2]float64{{-30, 30}, {60.001, 90.001}}, f.spans(), "they grow at both ends")
	require.Equal(t, []string{sessionID(1), sessionID(2)}, people(f.conference(0)))
	require.Equal(t, []string{sessionID(1)}, people(f.conference(90)))

	elsewhere := activity(9, 0, 31)
	elsewhere.ConferenceID = "Standup"
	f.append(batch(1, elsewhere))
	require.Len(t, f.spans(), 3, "another conferenceID is another conference")
}

// spec: CONF-02
func testMerge(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)))
	f.append(batch(2, activity(1, 0, 50)))
	f.append(batch(3, activity(1, 0, 100)))
	require.Len(t, f.spans(), 3)
	f.append(batch(4, activity(1, 0, 75), activity(2, 0, 25)))
	require.Equal(t, [][2]float64{{0, 100}}, f.spans())
	require.Equal(t, []string{sessionID(1), sessionID(2), sessionID(3), sessionID(4)}, people(f.conference(50)))
	require.Len(t, f.records(ref(100)), 5)
}

// spec: CONF-01 CONF-02
func testAnnotations(f *fixture) {
	t := f.t
	f.append(batch(2, activity(1, 0, 0)))
	f.append(batch(1, annotation(1, 20, 500)))
	require.Equal(t, [][2]float64{{0, 0}}, f.spans(), "it does not prolong the conference")
	require.Equal(t, []string{sessionID(1), sessionID(2)}, people(f.conference(0)))
	f.append(batch(3, activity(1, 0, 35)))
	require.Equal(t, [][2]float64{{0, 0}, {35, 35}}, f.spans())
	require.Equal(t, []string{sessionID(2)}, people(f.conference(0)), "it is nearer to the second")
	require.Equal(t, []string{sessionID(1), sessionID(3)}, people(f.conference(35)))

	// Both are equally near: the earlier one.
	f.append(batch(2, activity(2, 0, 200), activity(3, 0, 240)))
	f.append(batch(1, annotation(2, 220, 500)))
	require.Equal(t, []uint64{2, 2}, f.seqs(200))
	require.Equal(t, []uint64{3}, f.seqs(240))
	f.append(batch(3, activity(2, 0, 299)))
	f.append(batch(1, annotation(3, 269.5, 500)))
	require.Equal(t, []uint64{3, 3}, f.seqs(240))
	require.Equal(t, []string{sessionID(3)}, people(f.conference(299)))
}

// placed is a generated record with its session and its time in seconds.
type placed struct {
	session int
	id      string
	record  storage.Record
	second  int
}

// The contents of the store depend on the records alone, not on the order, the grouping or
// the number of times in which they arrive.
//
// spec: CONF-01 CONF-02 SRV-03
func testAnyOrder(f *fixture) {
	t := f.t
	var run atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		appID := fmt.Sprint("app ", run.Add(1))
		generated := generate(rt)
		items := rapid.Permutation(generated).Draw(rt, "order")
		again := rapid.SliceOfN(rapid.IntRange(0, len(items)-1), 0, 4).Draw(rt, "again")
		for _, i := range again {
			items = append(items, items[i])
		}
		var total storage.Appended
		for len(items) > 0 {
			n := rapid.IntRange(1, len(items)).Draw(rt, "together")
			got, err := f.w.Append(t.Context(), batches(appID, items[:n]))
			require.NoError(rt, err)
			total.New, total.Duplicates = total.New+got.New, total.Duplicates+got.Duplicates
			items = items[n:]
		}
		require.Equal(rt, storage.Appended{New: len(generated), Duplicates: len(again)}, total)
		checkAll(rt, f, appID, generated)
	})
}

func generate(rt *rapid.T) []placed {
	generated := make([]placed, rapid.IntRange(1, 14).Draw(rt, "records"))
	seqs := map[int]uint64{}
	for i := range generated {
		p := placed{session: rapid.IntRange(1, 3).Draw(rt, "session"), second: 10 * rapid.IntRange(0, 25).Draw(rt, "second")}
		p.second += 3600 * rapid.SampledFrom([]int{0, 0, 0, 0, 2, 24, 48}).Draw(rt, "hour")
		p.id = rapid.SampledFrom([]string{"A", "a"}).Draw(rt, "conferenceID")
		seqs[p.session]++
		if rapid.IntRange(0, 2).Draw(rt, "kind") > 0 {
			p.record = activity(seqs[p.session], 0, float64(p.second))
			p.record.ConferenceAt = at(-100)
			if rapid.IntRange(0, 3).Draw(rt, "renames") == 0 {
				seq := seqs[p.session]
				p.record = renaming(seq, float64(p.second), fmt.Sprint("name ", seq))
			}
		} else {
			p.record = annotation(seqs[p.session], float64(p.second), float64(rapid.IntRange(0, 400).Draw(rt, "at")))
		}
		p.record.ConferenceID = p.id
		generated[i] = p
	}
	return generated
}

func batches(appID string, items []placed) (out []storage.Batch) {
	for _, p := range items {
		b := batch(p.session, p.record)
		b.Session.AppID = appID
		out = append(out, b)
	}
	return out
}

// outcome is a conference that the model expects.
type outcome struct {
	id      string
	span    instance.Span // seconds
	records []read
}

// renames returns the renames of a session, in order of their numbers.
func (o outcome) renames(session string) (out []storage.Name) {
	bySeq := map[uint64]string{}
	for _, r := range o.records {
		if data, ok := r.record.Attributes[eventData].(string); ok && r.session == session {
			bySeq[r.record.Seq] = strings.Split(data, `"`)[7]
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(bySeq)) {
		out = append(out, name(bySeq[seq]))
	}
	return out
}

const (
	gapSeconds   = instance.Gap / 1000
	reachSeconds = instance.Reach / 1000
)

// expected is the model: spans of activity, and each annotation in the nearest span that it
// precedes by the gap or follows by a day at most; the rest is unattached.
func expected(items []placed) (out []outcome, unattached []placed) {
	for _, id := range []string{"A", "a"} {
		var active []outcome
		for _, p := range items {
			if p.id == id && p.record.Activity {
				active = add(active, p)
			}
		}
		slices.SortFunc(active, func(a, b outcome) int { return int(a.span.Start - b.span.Start) })
		for _, p := range items {
			if p.id != id || p.record.Activity {
				continue
			}
			if best := closest(active, int64(p.second)); best != nil {
				best.records = append(best.records, read{sessionID(p.session), p.record})
			} else {
				unattached = append(unattached, p)
			}
		}
		out = append(out, active...)
	}
	for i := range out {
		slices.SortFunc(out[i].records, compareReads)
	}
	slices.SortStableFunc(out, func(a, b outcome) int { return int(b.span.Start - a.span.Start) })
	return out, unattached
}

// add merges p with the outcomes that it joins, one by one.
func add(have []outcome, p placed) []outcome {
	s := int64(p.second)
	joined := outcome{p.id, instance.Span{Start: s, End: s}, []read{{sessionID(p.session), p.record}}}
	var rest []outcome
	for _, o := range have {
		if o.span.Start-gapSeconds <= s && s <= o.span.End+gapSeconds {
			joined.span = joined.span.Union(o.span)
			joined.records = append(joined.records, o.records...)
		} else {
			rest = append(rest, o)
		}
	}
	return append(rest, joined)
}

func closest(active []outcome, second int64) (best *outcome) {
	far := int64(0)
	for i, o := range active {
		if second < o.span.Start-gapSeconds || second > o.span.End+reachSeconds {
			continue
		}
		if d := max(o.span.Start-second, second-o.span.End, 0); best == nil || d < far {
			best, far = &active[i], d
		}
	}
	return best
}

func checkAll(t *rapid.T, f *fixture, appID string, items []placed) {
	want, unattached := expected(items)
	checkUnattached(t, f, appID, unattached)
	page, err := f.r.Conferences(f.t.Context(), storage.Query{AppID: appID})
	require.NoError(t, err)
	require.Len(t, page.Conferences, len(want))
	for _, o := range want {
		ref := storage.Ref{AppID: appID, ConferenceID: o.id, At: at(float64(o.span.Start))}
		c, err := f.r.Conference(f.t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, [2]any{at(float64(o.span.Start)), at(float64(o.span.End))}, [2]any{c.Start, c.End})
		got, err := allRecords(f.t.Context(), f.r, ref)
		require.NoError(t, err)
		require.Equal(t, o.records, got)
		var sessions []string
		for _, r := range o.records {
			sessions = append(sessions, r.session)
		}
		slices.Sort(sessions)
		require.Equal(t, slices.Compact(sessions), people(c))
		for _, p := range c.Participants {
			require.Equal(t, o.renames(p.Session.ID), p.Renames)
		}
	}
}
