package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/instance"
)

// TestWhatWasLetGoIsRestored: with a store, what comes late for a conference that was let go
// revises it.
//
// spec: CONF-02
func TestWhatWasLetGoIsRestored(t *testing.T) {
	s := newSet(2, 0)
	s.WholeFrom(base - 1)
	first := said("a", 1, 0, "fabricTerminated")
	apply(t, s, first)
	require.Equal(t, 1, tick(s, base+1)[0].Revision, "it was seen from the beginning")
	require.Zero(t, s.Len())

	late := said("a", 2, 100, "customEvent")
	apply(t, s, late)
	require.Empty(t, tick(s, base+60_000), "its other records first")
	part := conference.Part{AppID: "app", ConferenceID: "a", AtMs: late.AtMs}
	require.Equal(t, []conference.Part{part}, s.Parts())
	require.Empty(t, s.Parts(), "once")
	require.Equal(t, conference.Applied, s.Restore(&first, base+60_000))
	require.Equal(t, conference.Duplicate, s.Restore(&late, base+60_000))
	s.Restored(part, instance.Span{Start: base, End: base + 100}, conference.Summary{Revision: 1})
	out := tick(s, base+60_000)
	require.Len(t, out, 1)
	require.Equal(t, 2, out[0].Revision)
	require.Equal(t, int64(100), out[0].DurationMs)
}

// TestWhatFoundNoRoomIsRestored: a conference whose first records found no room is a part.
func TestWhatFoundNoRoomIsRestored(t *testing.T) {
	s := newSet(1, 0)
	s.WholeFrom(base - 1)
	apply(t, s, said("a", 1, 0, "fabricAdded"))
	refused := said("b", 1, 1, "fabricAdded")
	require.Equal(t, conference.Full, s.Apply(&refused, base))
	apply(t, s, said("a", 2, 2, "fabricTerminated"))
	require.Empty(t, tick(s, base+3))
	a := s.Parts()
	require.Len(t, a, 1, "nobody knows whose records found no room")
	s.Restored(a[0], instance.Span{Start: base, End: base + 2}, conference.Summary{})
	require.Len(t, tick(s, base+3), 1)
	apply(t, s, said("b", 2, 20_000, "fabricTerminated"))
	require.Empty(t, tick(s, base+20_001))
	require.Equal(t, "b", s.Parts()[0].ConferenceID)
}

// TestPartsAreAskedForSoManyTimes: then the summary covers what is here.
func TestPartsAreAskedForSoManyTimes(t *testing.T) {
	s := newSet(1, 600_000)
	s.WholeFrom(base + 1)
	apply(t, s, said("a", 1, 0, "fabricTerminated"))
	for range 5 {
		require.Empty(t, tick(s, base+1))
		require.Len(t, s.Parts(), 1)
		s.Missing(conference.Part{AppID: "app", ConferenceID: "a", AtMs: base})
	}
	require.Len(t, tick(s, base+1), 1)
	require.Empty(t, s.Parts())
	s.Missing(conference.Part{AppID: "app", ConferenceID: "nobody"}) // may be gone by then
}
