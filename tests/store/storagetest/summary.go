package storagetest

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

func summary(start, end float64, revision int) storage.Summary {
	mos := 4.25
	return storage.Summary{
		AppID: app, ConferenceID: call, Start: at(start), End: at(end), Revision: revision, Outcome: "success", Participants: 2,
		MOS: &mos, Label: "excellent", Document: json.RawMessage(fmt.Sprintf(`{"revision": %d}`, revision)),
	}
}

func (f *fixture) put(s storage.Summary) {
	f.t.Helper()
	require.NoError(f.t, f.w.PutSummary(f.t.Context(), s))
}

// spec: CONF-02
func testRevisions(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0), activity(2, 0, 20)))
	require.Nil(t, f.conference(0).Summary, "a live conference has none")

	first, second := summary(0, 20, 1), summary(0, 20, 2)
	second.MOS, second.Label, second.Outcome, second.Document = nil, "", "missed", nil
	f.put(first)
	require.Equal(t, &first, f.conference(0).Summary)
	same := first
	same.Outcome = "dropped"
	f.put(same)
	require.Equal(t, "success", f.conference(0).Summary.Outcome, "the same revision is not written twice")
	f.put(second)
	f.put(first)
	got := f.conference(0).Summary
	require.Empty(t, got.Document)
	got.Document = nil
	require.Equal(t, &second, got)
	require.Equal(t, got.Outcome, f.list(storage.Query{}).Conferences[0].Summary.Outcome)

	f.append(batch(1, activity(3, 0, 45)))
	require.Equal(t, [][2]float64{{0, 45}}, f.spans())
	require.Equal(t, 2, f.conference(0).Summary.Revision, "it stays when the conference goes on")
}

// spec: CONF-02
func testSummaryNear(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0), activity(2, 0, 10)), batch(2, activity(1, 0, 45)))
	f.put(summary(2, 12, 1))
	f.put(summary(44, 46, 3))
	require.Equal(t, [][2]float64{{0, 10}, {45, 45}}, f.spans())
	require.Equal(t, 1, f.conference(0).Summary.Revision)
	require.Equal(t, 3, f.conference(45).Summary.Revision)
}

// A summary without a conference is refused, because records are written before their summary.
//
// spec: CONF-01
func testSummaryOfNothing(f *fixture) {
	t := f.t
	require.ErrorIs(t, f.w.PutSummary(t.Context(), summary(0, 20, 1)), storage.ErrNotFound)
	f.append(batch(1, annotation(1, 10, 10)))
	require.ErrorIs(t, f.w.PutSummary(t.Context(), summary(0, 20, 1)), storage.ErrNotFound, "annotations make none")
	require.Empty(t, f.spans())
	f.append(batch(1, activity(2, 0, 60)))
	require.ErrorIs(t, f.w.PutSummary(t.Context(), summary(0, 29.999, 1)), storage.ErrNotFound, "more than 30 s before it")
	require.Nil(t, f.conference(60).Summary)
	f.put(summary(0, 30, 1))
	require.Equal(t, 1, f.conference(60).Summary.Revision)
}

// spec: CONF-02
func testSummaryMerge(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)), batch(2, activity(1, 0, 50), activity(2, 0, 60)))
	f.put(summary(0, 0, 1))
	f.put(summary(50, 60, 1))
	f.append(batch(3, activity(1, 0, 25)))
	require.Equal(t, at(50), f.conference(0).Summary.Start, "of the same revision the longer")
	f.put(summary(0, 60, 2))
	require.Equal(t, 2, f.conference(0).Summary.Revision)
	require.Len(t, f.spans(), 1)
}

func testSummaryInvalid(f *fixture) {
	t := f.t
	for name, spoil := range map[string]func(*storage.Summary){
		"app":          func(s *storage.Summary) { s.AppID = "" },
		"conferenceID": func(s *storage.Summary) { s.ConferenceID = "" },
		"score":        func(s *storage.Summary) { *s.MOS = math.NaN() },
		"high score":   func(s *storage.Summary) { *s.MOS = math.Inf(1) },
		"order":        func(s *storage.Summary) { s.Start, s.End = s.End, s.Start },
	} {
		s := summary(0, 1, 1)
		spoil(&s)
		require.ErrorIs(t, f.w.PutSummary(t.Context(), s), storage.ErrInvalid, name)
	}
	require.Empty(t, f.spans())
}
