package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/instance"
)

// TestReleasedConferenceIsRestored: with a store, a late record of a released conference
// revises it.
//
// spec: CONF-02
func TestReleasedConferenceIsRestored(t *testing.T) {
	s := newSet(2, 0)
	s.CompleteSince(conferencetest.Base - 1)
	first := conferencetest.Event("a", 1, 0, "fabricTerminated")
	apply(t, s, first)
	require.Equal(t, 1, tick(s, conferencetest.Base+1)[0].Revision, "all records arrived here")
	require.Zero(t, s.Len())

	late := conferencetest.Event("a", 2, 100, "customEvent")
	apply(t, s, late)
	require.Empty(t, tick(s, conferencetest.Base+60_000), "its other records first")
	part := live.Partial{AppID: "app", ConferenceID: "a", AtMs: late.AtMs}
	require.Equal(t, []live.Partial{part}, s.Partials())
	require.Empty(t, s.Partials(), "once")
	require.Equal(t, live.Applied, s.Restore(&first, conferencetest.Base+60_000))
	require.Equal(t, live.Duplicate, s.Restore(&late, conferencetest.Base+60_000))
	s.Restored(part, instance.Span{Start: conferencetest.Base, End: conferencetest.Base + 100}, conference.Summary{Revision: 1}, conferencetest.Base+60_000)
	out := tick(s, conferencetest.Base+60_000)
	require.Len(t, out, 1)
	require.Equal(t, 2, out[0].Revision)
	require.Equal(t, int64(100), out[0].DurationMs)
}

// TestRejectedRecordsAreRestored: a conference whose first records were rejected because the Set
// was full is partial.
func TestRejectedRecordsAreRestored(t *testing.T) {
	s := newSet(1, 0)
	s.CompleteSince(conferencetest.Base - 1)
	apply(t, s, conferencetest.Event("a", 1, 0, "fabricAdded"))
	refused := conferencetest.Event("b", 1, 1, "fabricAdded")
	require.Equal(t, live.Full, s.Apply(&refused, conferencetest.Base))
	apply(t, s, conferencetest.Event("a", 2, 2, "fabricTerminated"))
	require.Empty(t, tick(s, conferencetest.Base+3))
	a := s.Partials()
	require.Len(t, a, 1, "the rejected records may be of any conference")
	s.Restored(a[0], instance.Span{Start: conferencetest.Base, End: conferencetest.Base + 2}, conference.Summary{}, conferencetest.Base+3)
	require.Len(t, tick(s, conferencetest.Base+3), 1)
	apply(t, s, conferencetest.Event("b", 2, 20_000, "fabricTerminated"))
	require.Empty(t, tick(s, conferencetest.Base+20_001))
	require.Equal(t, "b", s.Partials()[0].ConferenceID)
}

// TestRestorationIsTriedAsLongAsASummaryCanBeRevised: at growing intervals. Then the summary
// covers the records that arrived here.
func TestRestorationIsTriedAsLongAsASummaryCanBeRevised(t *testing.T) {
	s := newSet(2, 600_000)
	s.CompleteSince(conferencetest.Base + 1)
	apply(t, s, conferencetest.Event("a", 1, 0, "fabricTerminated"))
	part := live.Partial{AppID: "app", ConferenceID: "a", AtMs: conferencetest.Base}
	var attempts []int64
	for at := int64(1); at <= 600_001; at += 1000 {
		require.Empty(t, tick(s, conferencetest.Base+at))
		for _, p := range s.Partials() {
			require.Equal(t, part, p)
			attempts = append(attempts, (at-1)/1000)
			s.NotRestored(p)
		}
	}
	require.Equal(t, []int64{0, 1, 2, 5, 10, 19, 36, 69, 130, 191, 252, 313, 374, 435, 496, 557}, attempts)
	require.Zero(t, s.Unrestored())
	require.Len(t, tick(s, conferencetest.Base+620_000), 1)
	require.Empty(t, s.Partials())
	require.Equal(t, 1, s.Unrestored())
	require.Zero(t, s.Unrestored(), "once")
	s.NotRestored(live.Partial{AppID: "app", ConferenceID: "nobody"}) // it may have been released
}

// TestRestorationMakesRoom: a conference that cannot be restored does not hold up others.
func TestRestorationMakesRoom(t *testing.T) {
	s := newSet(1, 600_000)
	s.CompleteSince(conferencetest.Base + 1)
	apply(t, s, conferencetest.Event("a", 1, 0, "fabricTerminated"))
	for at := int64(1); at < 11_000; at += 1000 {
		require.Empty(t, tick(s, conferencetest.Base+at))
		for _, p := range s.Partials() {
			s.NotRestored(p)
		}
	}
	require.Len(t, tick(s, conferencetest.Base+11_001), 1, "after five attempts")
	require.Equal(t, 1, s.Unrestored())
	apply(t, s, conferencetest.Event("b", 1, 11_001, "fabricAdded"))
}

// TestDamagedRecords: a stored summary that covers them is not replaced by one that does not;
// without one, or after later activity, the summary covers what can be read.
//
// spec: CONF-02, SRV-03
func TestDamagedRecords(t *testing.T) {
	span := instance.Span{Start: conferencetest.Base, End: conferencetest.Base + 1000}
	restore := func(t *testing.T, stored conference.Summary) (*live.Set, []conference.Summary) {
		t.Helper()
		s := newSet(2, 600_000)
		s.CompleteSince(conferencetest.Base + 100_000)
		apply(t, s, conferencetest.Event("a", 7, 500, "fabricTerminated"))
		require.Empty(t, tick(s, conferencetest.Base+40_000))
		parts := s.Partials()
		require.Len(t, parts, 1)
		s.Damaged(parts[0], span, stored)
		out := tick(s, conferencetest.Base+40_000)
		require.Empty(t, s.Partials(), "it is not read again")
		return s, out
	}
	t.Run("no summary", func(t *testing.T) {
		_, out := restore(t, conference.Summary{})
		require.Len(t, out, 1)
		require.Equal(t, 1, out[0].Revision)
	})
	t.Run("summary", func(t *testing.T) {
		s, out := restore(t, conference.Summary{Revision: 3, StartMs: conferencetest.Base, EndMs: conferencetest.Base + 1000})
		require.Empty(t, out)
		apply(t, s, conferencetest.Event("a", 8, 1000, "customEvent"))
		require.Empty(t, tick(s, conferencetest.Base+45_000), "what was damaged is still missing")
		apply(t, s, conferencetest.Event("a", 9, 2000, "customEvent"))
		require.Empty(t, tick(s, conferencetest.Base+46_000))
		for _, p := range s.Partials() { // it may touch another one now
			s.Damaged(p, span, conference.Summary{Revision: 3, StartMs: conferencetest.Base, EndMs: conferencetest.Base + 1000})
		}
		out = tick(s, conferencetest.Base+46_000)
		require.Len(t, out, 1, "activity after the summary")
		require.Equal(t, 4, out[0].Revision)
	})
	t.Run("damaged summary", func(t *testing.T) {
		_, out := restore(t, conference.Summary{Revision: 3})
		require.Len(t, out, 1)
		require.Equal(t, 4, out[0].Revision)
	})
	t.Run("joined by later activity", func(t *testing.T) {
		stored := conference.Summary{Revision: 3, StartMs: conferencetest.Base, EndMs: conferencetest.Base + 1000}
		s, _ := restore(t, stored)
		apply(t, s, conferencetest.Event("a", 8, 45_000, "fabricAdded"))
		apply(t, s, conferencetest.Event("a", 9, 20_000, "fabricAdded")) // within the gap of both
		var out []conference.Summary
		for range 3 {
			out = append(out, tick(s, conferencetest.Base+80_000)...)
			for _, p := range s.Partials() {
				s.Damaged(p, span, stored)
			}
		}
		require.Len(t, out, 1)
		require.Equal(t, []int64{4, 45_000}, []int64{int64(out[0].Revision), out[0].EndMs - conferencetest.Base})
	})
	t.Run("all arrived here", func(t *testing.T) {
		s := newSet(2, 600_000)
		s.CompleteSince(conferencetest.Base - 1)
		apply(t, s, conferencetest.Event("a", 1, 0, "fabricTerminated"))
		require.Len(t, tick(s, conferencetest.Base+40_000), 1)
		s.Damaged(live.Partial{AppID: "app", ConferenceID: "a", AtMs: conferencetest.Base}, span, conference.Summary{Revision: 1, StartMs: conferencetest.Base, EndMs: conferencetest.Base})
		apply(t, s, conferencetest.Event("a", 2, 0, "customEvent"))
		require.Equal(t, 2, tick(s, conferencetest.Base+41_000)[0].Revision)
	})
}
