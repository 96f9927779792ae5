package live_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// flood makes the records of conferences of an application, which it also keeps as the store does.
type flood struct {
	app    string
	r      *rand.Rand
	stored map[string][]event.Event // by conference
	seqs   map[string]uint64
}

func newFlood(app string) *flood {
	return &flood{app, rand.New(rand.NewPCG(1, 2)), map[string][]event.Event{}, map[string]uint64{}}
}

// record returns a measurement of a stream of a conference, or an event if ssrc is 0.
func (f *flood) record(conferenceID string, atMs, ssrc int64, name string) event.Event {
	f.seqs[conferenceID]++
	e := conferencetest.Event(conferenceID, f.seqs[conferenceID], atMs, name)
	e.AppID, e.Session = f.app, f.app+conferenceID
	if ssrc > 0 {
		m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, SSRC: ssrc, IntervalMs: 2000, Codec: "opus"}, eventtest.Values{
			protocol.Packets: 100, protocol.PacketsLost: float64(f.r.IntN(20)), protocol.JitterMs: 100 * f.r.Float64(), protocol.RTTMs: 900 * f.r.Float64(), protocol.Bytes: 9000 * f.r.Float64(),
		})
		m.Score = event.Score{MOS: event.Known(1 + 3*f.r.Float64()), Label: quality.Fair}
		e.Kind, e.Name, e.Measured = event.KindStats, "", &m
	}
	f.stored[conferenceID] = append(f.stored[conferenceID], e)
	return e
}

// restore answers a request to read a conference.
func (f *flood) restore(t *testing.T, s *live.Set, p live.Partial, nowMs int64) {
	t.Helper()
	require.Equal(t, f.app, p.AppID)
	records := f.stored[p.ConferenceID]
	span := instance.At(records[0].AtMs)
	for _, e := range records {
		span = span.Union(instance.At(e.AtMs))
	}
	s.Restoring(p, span)
	for i := range records {
		s.Restore(&records[i], nowMs)
	}
	s.Restored(p, span, conference.Summary{}, nowMs)
}

// TestMemoryHasAnOwner: an application with many streams holds three quarters of the limit at most. Its conferences are
// read from the store when they end, and their summaries lack nothing. Another application's conference stays in memory.
//
// spec: SRV-04
func TestMemoryHasAnOwner(t *testing.T) {
	const limit = 4 << 20
	s := live.NewSet(live.Config{MaxConferences: 10_000, KeepEndedMs: 600_000, MaxBytes: limit, Labels: quality.DefaultBounds(), EvaluateMs: 15_000})
	s.CompleteSince(conferencetest.Base - 1)
	big, small := newFlood("big"), newFlood("small")
	put := func(e event.Event) {
		t.Helper()
		require.Equal(t, live.Applied, s.Apply(&e, e.AtMs))
		require.Less(t, s.Bytes(), int64(limit))
	}
	const conferences = 30
	for round := range int64(20) {
		at := round * 2000
		put(small.record("calm", at, 1+round%2, ""))
		for i := range conferences {
			for ssrc := int64(1); ssrc <= 60; ssrc++ {
				put(big.record(fmt.Sprint("c", i), at, ssrc, ""))
			}
		}
	}
	require.Greater(t, s.Shrunk(), conferences/2)
	require.Zero(t, s.Shrunk(), "since the last call")
	require.Greater(t, s.Bytes(), int64(limit/2), "what there is, is used")

	put(small.record("calm", 40_000, 0, "fabricTerminated"))
	out := tick(s, conferencetest.Base+40_001)
	require.Len(t, out, 1, "it is in memory")
	require.JSONEq(t, conferencetest.JSON(t, conferencetest.Fold(small.stored["calm"], quality.DefaultBounds())), conferencetest.JSON(t, out[0]))

	for now := conferencetest.Base + 41_000; len(out) <= conferences; now += 1000 {
		require.Less(t, now, conferencetest.Base+200_000)
		out = append(out, tick(s, now)...)
		for _, p := range s.Partials() {
			big.restore(t, s, p, now)
		}
	}
	for i := range out[1:] {
		summary := out[i+1]
		require.Equal(t, 1, summary.Revision)
		require.JSONEq(t, conferencetest.JSON(t, conferencetest.Fold(big.stored[summary.ConferenceID], quality.DefaultBounds())), conferencetest.JSON(t, summary))
	}
	tick(s, conferencetest.Base+300_000)
	require.Less(t, s.Bytes(), int64(limit), "those that were read, too")
	tick(s, conferencetest.Base+2_000_000)
	require.Zero(t, s.Bytes(), "all were released")
}

// TestEndedConferencesGoFirst: an application loses its conferences that have ended before any that is live.
func TestEndedConferencesGoFirst(t *testing.T) {
	s := live.NewSet(live.Config{MaxConferences: 10_000, KeepEndedMs: 600_000, MaxBytes: 1 << 20, Labels: quality.DefaultBounds()})
	s.CompleteSince(conferencetest.Base - 1)
	f := newFlood("app")
	put := func(e event.Event) { require.Equal(t, live.Applied, s.Apply(&e, e.AtMs)) }
	for i := range 100 {
		id := fmt.Sprint("c", i)
		for ssrc := int64(1); ssrc <= 20; ssrc++ {
			put(f.record(id, int64(i)*1000, ssrc, ""))
		}
		put(f.record(id, int64(i)*1000+1, 0, "fabricTerminated"))
		require.Len(t, tick(s, conferencetest.Base+int64(i)*1000+2), 1)
	}
	require.Zero(t, s.Shrunk())
	require.Less(t, s.Len(), 40)
	require.Less(t, s.Bytes(), int64(1<<20))
}

// TestIdentitiesAreCharged: holes in the numbers of a session's records count as what its application holds, until the
// last conference with some of them is released.
//
// spec: SRV-04
func TestIdentitiesAreCharged(t *testing.T) {
	s := newSet(10, 0)
	const records, runBytes = 4000, 24
	for n := range int64(records) {
		e := conferencetest.Event("c", uint64(1+2*n), n, "customEvent")
		require.Equal(t, live.Applied, s.Apply(&e, e.AtMs))
	}
	require.Greater(t, s.Bytes(), int64(2*records*runBytes), "of the conference and of the session")
	require.Less(t, s.Bytes(), int64(6*records*runBytes))
	require.Len(t, tick(s, conferencetest.Base+100_000), 1)
	require.Zero(t, s.Bytes())
}

// TestNothingLeftToDrop: an application that cannot be brought below its share is not searched again for each record,
// but once a Tick, and its records are applied.
func TestNothingLeftToDrop(t *testing.T) {
	s := live.NewSet(live.Config{MaxConferences: 10_000, KeepEndedMs: 600_000, MaxBytes: 1, Labels: quality.DefaultBounds()})
	s.CompleteSince(conferencetest.Base - 1)
	f := newFlood("app")
	for round := range int64(3) {
		for i := range int64(5) {
			e := f.record("c", 10_000*round+1000*i, 1, "")
			require.Equal(t, live.Applied, s.Apply(&e, e.AtMs))
		}
		first := map[int64]int{0: 1}
		require.Equal(t, first[round], s.Shrunk(), "with the first record alone")
		require.Empty(t, tick(s, conferencetest.Base+10_000*round+5000))
		require.Equal(t, 1, s.Shrunk(), "in the Tick")
	}
}

// TestConferencesHaveAnOwner: an application with very many conferences holds three quarters of the limit at most, and
// loses those that have ended before it gets no more. Another application always finds room.
//
// spec: SRV-04
func TestConferencesHaveAnOwner(t *testing.T) {
	const limit = 400
	s := live.NewSet(live.Config{MaxConferences: limit, KeepEndedMs: 600_000, Labels: quality.DefaultBounds()})
	big, small := newFlood("big"), newFlood("small")
	start := func(f *flood, i int, atMs int64) live.Result {
		e := f.record(fmt.Sprint("c", i), atMs, 1, "")
		return s.Apply(&e, e.AtMs)
	}
	for i := range limit {
		want := live.Applied
		if i >= limit*3/4 {
			want = live.Full
		}
		require.Equal(t, want, start(big, i, 0), i)
	}
	require.Equal(t, live.Applied, start(small, 0, 0))
	for i := range 10 {
		e := big.record(fmt.Sprint("c", i), 1, 0, "fabricTerminated")
		require.Equal(t, live.Applied, s.Apply(&e, e.AtMs))
	}
	require.Len(t, tick(s, conferencetest.Base+2), 10)
	for i := range 10 {
		require.Equal(t, live.Applied, start(big, limit+i, 3))
	}
	require.Equal(t, live.Full, start(big, limit+10, 3))
	require.Equal(t, live.Applied, start(small, 1, 3))
}
