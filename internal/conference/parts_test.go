package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/conference/live"
	"github.com/qosrtc/qos/internal/instance"
)

// TestReleasedConferenceIsRestored: with a store, a late record of a released conference
// revises it.
//
// spec: CONF-02
func TestReleasedConferenceIsRestored(t *testing.T) {
	s := newSet(2, 0)
	s.CompleteSince(base - 1)
	first := newEvent("a", 1, 0, "fabricTerminated")
	apply(t, s, first)
	require.Equal(t, 1, tick(s, base+1)[0].Revision, "all records arrived here")
	require.Zero(t, s.Len())

	late := newEvent("a", 2, 100, "customEvent")
	apply(t, s, late)
	require.Empty(t, tick(s, base+60_000), "its other records first")
	part := live.Partial{AppID: "app", ConferenceID: "a", AtMs: late.AtMs}
	require.Equal(t, []live.Partial{part}, s.Partials())
	require.Empty(t, s.Partials(), "once")
	require.Equal(t, live.Applied, s.Restore(&first, base+60_000))
	require.Equal(t, live.Duplicate, s.Restore(&late, base+60_000))
	s.Restored(part, instance.Span{Start: base, End: base + 100}, conference.Summary{Revision: 1}, base+60_000)
	out := tick(s, base+60_000)
	require.Len(t, out, 1)
	require.Equal(t, 2, out[0].Revision)
	require.Equal(t, int64(100), out[0].DurationMs)
}

// TestRejectedRecordsAreRestored: a conference whose first records were rejected because the Set
// was full is partial.
func TestRejectedRecordsAreRestored(t *testing.T) {
	s := newSet(1, 0)
	s.CompleteSince(base - 1)
	apply(t, s, newEvent("a", 1, 0, "fabricAdded"))
	refused := newEvent("b", 1, 1, "fabricAdded")
	require.Equal(t, live.Full, s.Apply(&refused, base))
	apply(t, s, newEvent("a", 2, 2, "fabricTerminated"))
	require.Empty(t, tick(s, base+3))
	a := s.Partials()
	require.Len(t, a, 1, "the rejected records may be of any conference")
	s.Restored(a[0], instance.Span{Start: base, End: base + 2}, conference.Summary{}, base+3)
	require.Len(t, tick(s, base+3), 1)
	apply(t, s, newEvent("b", 2, 20_000, "fabricTerminated"))
	require.Empty(t, tick(s, base+20_001))
	require.Equal(t, "b", s.Partials()[0].ConferenceID)
}

// TestRestorationIsTriedFiveTimes: then the summary covers the records that arrived here.
func TestRestorationIsTriedFiveTimes(t *testing.T) {
	s := newSet(1, 600_000)
	s.CompleteSince(base + 1)
	apply(t, s, newEvent("a", 1, 0, "fabricTerminated"))
	for range 5 {
		require.Empty(t, tick(s, base+1))
		require.Len(t, s.Partials(), 1)
		s.NotRestored(live.Partial{AppID: "app", ConferenceID: "a", AtMs: base})
	}
	require.Len(t, tick(s, base+1), 1)
	require.Empty(t, s.Partials())
	s.NotRestored(live.Partial{AppID: "app", ConferenceID: "nobody"}) // it may have been released
}
