package live_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

func newSet(maxConferences int, keepMs int64) *live.Set {
	return live.NewSet(live.Config{MaxConferences: maxConferences, KeepEndedMs: keepMs, Labels: quality.DefaultBounds()})
}

// tick returns all summaries that are due, from several calls of Tick.
func tick(s *live.Set, nowMs int64) (all []conference.Summary) {
	for {
		out, more := s.Tick(nowMs, 2)
		all = append(all, out...)
		if !more {
			return all
		}
	}
}

func apply(t *testing.T, s *live.Set, e event.Event) {
	t.Helper()
	applyAt(t, s, live.Applied, e, e.AtMs-conferencetest.Base)
}

// TestSetIsBounded: ended conferences are released to make room, oldest first, and never live
// ones; a released conference has been summarised.
func TestSetIsBounded(t *testing.T) {
	s := newSet(2, 600_000)
	apply(t, s, conferencetest.Event("a", 1, 0, "fabricAdded"))
	apply(t, s, conferencetest.Event("b", 1, 1, "fabricAdded"))
	c := conferencetest.Event("c", 1, 2, "fabricAdded")
	require.Equal(t, live.Full, s.Apply(&c, conferencetest.Base))
	require.False(t, s.Seen(&c), "what was not applied is not seen")
	require.Equal(t, 2, s.Live())

	apply(t, s, conferencetest.Event("a", 2, 3, "fabricTerminated"))
	require.Len(t, tick(s, conferencetest.Base+4), 1)
	require.Equal(t, 1, s.Live())
	require.Equal(t, 2, s.Len())
	late := conferencetest.Event("a", 3, 2, "customEvent")
	apply(t, s, late) // live again, and changed
	require.Equal(t, live.Full, s.Apply(&c, conferencetest.Base))
	require.Len(t, tick(s, conferencetest.Base+5), 1, "revised")

	require.Equal(t, live.Applied, s.Apply(&c, conferencetest.Base+6))
	require.Equal(t, 2, s.Len(), "a was released")
	late.Seq = 4
	require.Equal(t, live.TooLate, s.Apply(&late, conferencetest.Base+7))
}

// TestReleasedSpansExpire: the spans of released conferences are bounded by age and number.
func TestReleasedSpansExpire(t *testing.T) {
	s := newSet(2, 0)
	apply(t, s, conferencetest.Event("a", 1, 0, "fabricTerminated"))
	require.Len(t, tick(s, conferencetest.Base+1), 1)
	require.Zero(t, s.Len())
	again := conferencetest.Event("a", 2, 0, "customEvent")
	require.Equal(t, live.TooLate, s.Apply(&again, conferencetest.Base+2))
	require.Empty(t, tick(s, conferencetest.Base+24*3600_000))
	require.Equal(t, live.TooLate, s.Apply(&again, conferencetest.Base+3))
	require.Empty(t, tick(s, conferencetest.Base+26*3600_000))
	require.Equal(t, live.Applied, s.Apply(&again, conferencetest.Base+4))
}

func TestOnlySoManyAreRemembered(t *testing.T) {
	s := newSet(2, 0)
	for i := range 5 {
		apply(t, s, conferencetest.Event(fmt.Sprint("c", i), 1, 0, "fabricTerminated"))
		require.Len(t, tick(s, conferencetest.Base+1), 1)
	}
	for i, want := range []live.Result{live.Applied, live.Applied, live.Full, live.TooLate, live.TooLate} {
		e := conferencetest.Event(fmt.Sprint("c", i), 2, 0, "customEvent")
		require.Equal(t, want, s.Apply(&e, conferencetest.Base+2), "c%d", i)
	}
}

func TestApplyRefusesNonsense(t *testing.T) {
	f := func(want live.Result, change func(*event.Event)) {
		t.Helper()
		e := conferencetest.Event("a", 1, 0, "fabricAdded")
		change(&e)
		require.Equal(t, want.String(), newSet(1, 0).Apply(&e, conferencetest.Base).String())
	}
	f(live.Applied, func(*event.Event) {})
	f(live.Unplaced, func(e *event.Event) { e.ConferenceID = "" })
	f(live.Invalid, func(e *event.Event) { e.Session = "" })
	f(live.Invalid, func(e *event.Event) { e.Session = strings.Repeat("s", 65) })
	f(live.Invalid, func(e *event.Event) { e.Seq = 0 })
	f(live.Invalid, func(e *event.Event) { e.Seq = 1 << 53 })
	f(live.Invalid, func(e *event.Event) { e.Index = -1 })
	f(live.Invalid, func(e *event.Event) { e.Index = 1024 })
	f(live.Invalid, func(e *event.Event) { e.AtMs = 0 })
	f(live.Invalid, func(e *event.Event) { e.AtMs = conferencetest.Base + 120_001 })
	f(live.Invalid, func(e *event.Event) { e.Fabric, e.ConferenceAtMs = 0, 0 })
}

// TestLimitsAreCounted: a conference is bounded, and its summary counts the records beyond its
// limits.
func TestLimitsAreCounted(t *testing.T) {
	c := conference.New("app", "c", nil, quality.DefaultBounds())
	for seq := range uint64(2100) {
		e := conferencetest.Event("c", seq+1, 0, "")
		e.Kind, e.Fabric = event.KindLog, 0
		require.False(t, c.Apply(&e))
	}
	for seq := range uint64(1030) {
		e := conferencetest.Event("c", seq+3000, 0, "fabricAdded")
		e.Fabric = int(seq) + 1
		require.False(t, c.Apply(&e))
	}
	for ssrc := range int64(300) {
		e := conferencetest.Event("c", uint64(ssrc)+5000, 0, "")
		e.Kind, e.Measured = event.KindStats, &event.Measurement{StatsType: "inbound-rtp", SSRC: ssrc}
		require.False(t, c.Apply(&e))
	}
	for seq := range uint64(1028) {
		e := conferencetest.Event("c", seq+6000, 0, "audioMute")
		require.False(t, c.Apply(&e))
	}
	s := c.Summary(quality.DefaultBounds())
	require.Equal(t, 100+6+44+4, s.Truncated)
	require.Equal(t, 2000, s.Logs)
	require.Len(t, s.Participants[0].Fabrics, 1024)
}

// TestMergedSessionRecordsAreBounded: two conferences that become one have as many session records as one can have.
//
// spec: SRV-04
func TestMergedSessionRecordsAreBounded(t *testing.T) {
	a, b := conference.New("app", "c", nil, quality.DefaultBounds()), conference.New("app", "c", nil, quality.DefaultBounds())
	for i, c := range []*conference.Conference{a, b} {
		for seq := range uint64(1500) {
			e := conferencetest.Event("c", uint64(i)*1500+seq+1, 0, "")
			e.Kind, e.Fabric = event.KindLog, 0
			require.False(t, c.Apply(&e))
		}
	}
	a.Merge(b)
	e := conferencetest.Event("c", 5000, 0, "")
	e.Kind, e.Fabric = event.KindLog, 0
	require.False(t, a.Annotate(conference.NewAnnotation(&e)))
	s := a.Summary(quality.DefaultBounds())
	require.Equal(t, [2]int{2000, 1001}, [2]int{s.Logs, s.Truncated})
}

// TestEmptyFold: no events give a summary without participants.
func TestEmptyFold(t *testing.T) {
	s := conferencetest.Fold(nil, quality.DefaultBounds())
	require.Equal(t, conference.OutcomeSuccess, s.Outcome)
	require.Empty(t, s.Participants)
}

// TestNobodyEverLeaves: participants of an endless conference join, disappear and join again
// with new sessions. Those beyond the limit are counted, and the conference still ends.
//
// spec: CONF-02
func TestNobodyEverLeaves(t *testing.T) {
	const joins, room = 5500, 5000
	set := newSet(10, 0)
	for i := range int64(joins) {
		e := conferencetest.Stats(fmt.Sprint("session-", i), 1, event.Measurement{StatsType: "inbound-rtp", MediaType: "audio", SSRC: 7, IntervalMs: 2000})
		e.AtMs = conferencetest.Base + i*20_000
		require.Equal(t, live.Applied, set.Apply(&e, e.AtMs))
		if i%100 == 0 {
			require.Empty(t, tick(set, e.AtMs))
			require.Equal(t, 1, set.Live())
		}
	}
	out := tick(set, conferencetest.Base+joins*20_000+60_000)
	require.Len(t, out, 1)
	require.Len(t, out[0].Participants, room)
	require.Equal(t, joins-room, out[0].Truncated)
	require.EqualValues(t, (joins-1)*20_000, out[0].DurationMs, "those beyond the limit prolong it, too")
}
