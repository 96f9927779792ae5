package consistency

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// base is ms 0 of the tests.
const base = int64(1_763_702_160_000)

func ms(v int64) time.Time { return time.UnixMilli(v).UTC() }

func sessionID(n int) string { return fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", n) }

// genEvent draws a record of a session: what a fabric does, or what is said about a
// conference. Times lie on a grid, so that gaps of exactly 30 s occur.
func genEvent(t *rapid.T, app string, session int, seq uint64) conference.Event {
	grid := func(name string) int64 { return base + 10_000*rapid.Int64Range(0, 25).Draw(t, name) }
	e := conference.Event{
		AppID: app, ConferenceID: "c", Session: sessionID(session), Seq: seq,
		AtMs: grid("at") + rapid.Int64Range(0, 1).Draw(t, "ms"),
	}
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0, 1:
		e.Kind, e.Fabric, e.ConferenceAtMs = conference.KindStats, session, base-1000
	case 2:
		e.Kind, e.Fabric, e.ConferenceAtMs = conference.KindEvent, session, base-1000
		e.Name = rapid.SampledFrom([]string{"fabricAdded", "fabricTerminated", "audioMute"}).Draw(t, "name")
	case 3:
		e.Kind, e.ConferenceAtMs = conference.KindFeedback, grid("place")
	case 4:
		e.Kind, e.Fabric, e.ConferenceAtMs = conference.KindError, session, grid("place")
	}
	return e
}

func record(e *conference.Event) storage.Record {
	return storage.Record{
		Seq: e.Seq, Index: e.Index, ConferenceID: e.ConferenceID, ConferenceAt: ms(e.ConferenceAtMs), Fabric: e.Fabric,
		Name: fmt.Sprint("kind ", e.Kind), At: ms(e.AtMs), ObservedAt: ms(e.AtMs), Activity: e.Activity(),
	}
}

// twin feeds a store and a set alike.
type twin struct {
	*testing.T
	app   string
	store *sqlite.Store
	set   *conference.Set
	now   int64
}

func (w *twin) apply(t *rapid.T, e conference.Event) {
	done, err := w.store.Append(w.Context(), []storage.Batch{{Session: storage.Session{ID: e.Session, AppID: w.app}, Records: []storage.Record{record(&e)}}})
	require.NoError(t, err)
	want := conference.Applied
	if done.New == 0 {
		want = conference.Duplicate
	}
	require.Equal(t, want.String(), w.set.Apply(&e, w.now).String(), "both tell repetitions")
}

func (w *twin) tick(t *rapid.T) {
	out, more := w.set.Tick(w.now, 1000)
	require.False(t, more)
	for i := range out {
		document, err := json.Marshal(out[i])
		require.NoError(t, err)
		require.NoError(t, w.store.PutSummary(w.Context(), storage.Summary{
			AppID: w.app, ConferenceID: "c", Start: ms(out[i].StartMs), End: ms(out[i].EndMs), Revision: out[i].Revision,
			Outcome: string(out[i].Outcome), Participants: len(out[i].Participants), Document: document,
		}))
	}
}

func open(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store"), sqlite.Options{Synchronous: sqlite.SynchronousNormal})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// TestTheStoreAndTheConferenceStateAgree: whatever comes in whatever order, ends in
// between and is summarised, the store's rows and the set's conferences are the same: their
// spans and who took part. The newest summary stands at the conference that it is of, and is
// the fold of the records that the store gives for it.
//
// spec: CONF-01, CONF-02, SRV-03
func TestTheStoreAndTheConferenceStateAgree(t *testing.T) {
	store := open(t)
	var run atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		w := &twin{
			T: t, app: fmt.Sprint("app ", run.Add(1)), store: store, now: base + 250_000,
			set: conference.NewSet(conference.Config{MaxConferences: 100, KeepEndedMs: 3_600_000, Labels: quality.DefaultBounds()}),
		}
		var events []conference.Event
		for i := range rapid.IntRange(1, 16).Draw(rt, "records") {
			events = append(events, genEvent(rt, w.app, rapid.IntRange(1, 3).Draw(rt, "session"), uint64(i+1)))
		}
		all := map[string]conference.Event{}
		again := rapid.SliceOfN(rapid.SampledFrom(events), 0, 4).Draw(rt, "again")
		for _, e := range append(events, again...) {
			all[identity(e.Session, e.Seq, e.Index)] = e
			w.apply(rt, e)
			if rapid.IntRange(0, 2).Draw(rt, "tick") == 0 {
				w.now += rapid.Int64Range(0, 60_000).Draw(rt, "advance")
				w.tick(rt)
			}
		}
		w.now += 400_000
		w.tick(rt)
		w.compare(rt, all)
	})
}

func identity(session string, seq uint64, index int) string {
	return fmt.Sprint(session, " ", seq, " ", index)
}

func (w *twin) compare(t *rapid.T, all map[string]conference.Event) {
	ctx := w.Context()
	page, err := w.store.Conferences(ctx, storage.Query{AppID: w.app})
	require.NoError(t, err)
	require.Len(t, page.Conferences, w.set.Len(), "conferences")
	seen := 0
	for i := range page.Conferences {
		c := &page.Conferences[i]
		require.NotNil(t, c.Summary, "every conference has ended")
		events := w.records(t, ctx, c, all)
		seen += len(events)
		var got conference.Summary
		require.NoError(t, json.Unmarshal(c.Summary.Document, &got))
		want := conference.Fold(events, quality.DefaultBounds())
		want.Revision = got.Revision
		require.Equal(t, want, got, "the summary of %s", c.Start)
		require.Equal(t, [2]int64{c.Start.UnixMilli(), c.End.UnixMilli()}, [2]int64{got.StartMs, got.EndMs}, "span")
		require.Equal(t, people(got), sessions(c.Participants))
	}
	require.Len(t, all, seen, "each record stands in one conference")
}

func (w *twin) records(t *rapid.T, ctx context.Context, c *storage.Conference, all map[string]conference.Event) (events []conference.Event) {
	ref := storage.Ref{AppID: w.app, ConferenceID: c.ConferenceID, At: c.Start}
	require.NoError(t, w.store.Records(ctx, ref, func(session string, r storage.Record) bool {
		events = append(events, all[identity(session, r.Seq, r.Index)])
		return true
	}))
	return events
}

func people(s conference.Summary) []string {
	names := map[string]bool{}
	for _, p := range s.Participants {
		names[p.Session] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func sessions(participants []storage.Participant) (ids []string) {
	for _, p := range participants {
		ids = append(ids, p.Session.ID)
	}
	return ids
}
