package consistency

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// base is ms 0 of the tests.
const base = int64(1_763_702_160_000)

func ms(v int64) time.Time { return time.UnixMilli(v).UTC() }

func sessionID(n int) string { return fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", n) }

const hour = int64(3_600_000)

// genEvent draws a record of a session: what a fabric does, or what is said about a
// conference. Times lie on a grid, so that gaps of exactly 30 s occur.
func genEvent(t *rapid.T, app string, session int, seq uint64) event.Event {
	grid := func(name string) int64 {
		earlier := rapid.SampledFrom([]int64{0, 0, 0, 0, 0, 12 * hour, 24 * hour, 25 * hour}).Draw(t, "earlier")
		return base + 10_000*rapid.Int64Range(0, 25).Draw(t, name) - earlier
	}
	e := event.Event{
		AppID: app, ConferenceID: "c", Session: sessionID(session), Seq: seq,
		AtMs: grid("at") + rapid.Int64Range(0, 1).Draw(t, "ms"),
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0, 1:
		e.Kind, e.Fabric, e.ConferenceAtMs = event.KindStats, session, base-1000
	case 2:
		e.Kind, e.Fabric, e.ConferenceAtMs = event.KindEvent, session, base-1000
		e.Name = rapid.SampledFrom([]string{"fabricAdded", "fabricTerminated", "audioMute"}).Draw(t, "name")
	case 3:
		e.Kind, e.ConferenceAtMs = event.KindFeedback, grid("place")
	case 4:
		e.Kind, e.Fabric, e.ConferenceAtMs = event.KindError, session, grid("place")
	case 5:
		e.Kind, e.Function, e.ConferenceAtMs = event.KindError, "getUserMedia", grid("place")
	}
	return e
}

// reuse draws another record with the identity of one that came: another kind, time, fabric
// or conference.
func reuse(t *rapid.T, e event.Event) event.Event {
	if rapid.Bool().Draw(t, "same content") {
		return e
	}
	other := genEvent(t, e.AppID, 1, e.Seq)
	other.Session = e.Session
	other.ConferenceID = rapid.SampledFrom([]string{"c", "d"}).Draw(t, "conference")
	return other
}

func record(e *event.Event) storage.Record {
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
	set   *live.Set
	now   int64

	all      map[string]event.Event // that came
	restarts int
}

func (w *twin) apply(t *rapid.T, e event.Event) {
	done, err := w.store.Append(w.Context(), []storage.Batch{{Session: storage.Session{ID: e.Session, AppID: w.app}, Records: []storage.Record{record(&e)}}})
	require.NoError(t, err)
	got := w.set.Apply(&e, w.now)
	if w.restarts == 0 { // else only the store has them all
		require.Equal(t, done.New == 0, got == live.Duplicate, "both find repetitions")
	}
}

// restart loses the state in memory.
func (w *twin) restart() {
	w.restarts++
	w.set = live.NewSet(live.Config{MaxConferences: 100, KeepEndedMs: 3_600_000, Labels: quality.DefaultBounds()})
	if w.restarts > 0 {
		w.set.CompleteSince(w.now + instance.Gap)
	}
}

func (w *twin) tick(t *rapid.T) {
	out, more := w.set.Tick(w.now, 1000)
	require.False(t, more)
	w.put(t, out)
	for parts := w.set.Partials(); len(parts) > 0; parts = w.set.Partials() {
		for _, p := range parts {
			w.restore(t, p)
		}
		out, _ = w.set.Tick(w.now, 1000)
		w.put(t, out)
	}
}

func (w *twin) restore(t *rapid.T, p live.Partial) {
	c, err := w.store.Conference(w.Context(), storage.Ref{AppID: p.AppID, ConferenceID: p.ConferenceID, At: ms(p.AtMs)})
	if errors.Is(err, storage.ErrNotFound) { // of a neighbour, or of an annotation
		w.set.NotStored(p)
		return
	}
	require.NoError(t, err)
	span := instance.Span{Start: c.Start.UnixMilli(), End: c.End.UnixMilli()}
	if w.set.Continues(p, span, w.now) || w.set.IsComplete(p, span) {
		return
	}
	w.set.Restoring(p, span)
	for _, e := range w.records(t, &c) {
		w.set.Restore(&e, w.now)
	}
	w.set.Restored(p, span, reported(t, &c), w.now)
}

// reported is the summary that the store has, of revision 0 where there is none.
func reported(t *rapid.T, c *storage.Conference) (s conference.Summary) {
	if c.Summary != nil {
		require.NoError(t, json.Unmarshal(c.Summary.Document, &s))
	}
	return s
}

// sweep restores what ended while nobody looked.
func (w *twin) sweep(t *rapid.T) {
	page, err := w.store.Conferences(w.Context(), storage.Query{AppID: w.app, Unsummarised: true})
	require.NoError(t, err)
	for _, c := range page.Conferences {
		w.restore(t, live.Partial{AppID: c.AppID, ConferenceID: c.ConferenceID, AtMs: c.Start.UnixMilli()})
	}
}

// sayMore adds a record to each conference after a crash: what came for one that had its
// summary, and was not emitted again before the crash, is emitted with the next revision.
func (w *twin) sayMore(t *rapid.T) {
	if w.restarts == 0 {
		return
	}
	page, err := w.store.Conferences(w.Context(), storage.Query{AppID: w.app})
	require.NoError(t, err)
	for i, c := range page.Conferences {
		require.NotNil(t, c.Summary, "swept")
		require.Equal(t, [2]time.Time{c.Start, c.End}, [2]time.Time{c.Summary.Start, c.Summary.End}, "its summary covers it")
		e := event.Event{
			AppID: w.app, ConferenceID: "c", Session: sessionID(9), Seq: uint64(i + 1),
			AtMs: w.now, ConferenceAtMs: c.Start.UnixMilli(), Kind: event.KindLog,
		}
		w.all[identity(e.Session, e.Seq, e.Index)] = e
		w.apply(t, e)
	}
}

func (w *twin) put(t *rapid.T, out []conference.Summary) {
	for i := range out {
		document, err := json.Marshal(out[i])
		require.NoError(t, err)
		require.NoError(t, w.store.PutSummary(w.Context(), storage.Summary{
			AppID: w.app, ConferenceID: out[i].ConferenceID, Start: ms(out[i].StartMs), End: ms(out[i].EndMs), Revision: out[i].Revision,
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

// TestTheStoreAndTheConferenceStateAgree: whatever comes in whatever order, numbers that are
// used again for something else among it, ends in
// between and is summarised, and however often the state in memory is lost: the store's rows and the set's conferences are the same: their
// spans and who took part. The newest summary stands at the conference that it is of, and is
// the fold of the records that the store gives for it.
//
// spec: CONF-01, CONF-02, SRV-03
func TestTheStoreAndTheConferenceStateAgree(t *testing.T) {
	store := open(t)
	var run atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		w := &twin{T: t, app: fmt.Sprint("app ", run.Add(1)), store: store, now: base + 250_000, restarts: -1, all: map[string]event.Event{}}
		w.restart()
		crashes := rapid.Bool().Draw(rt, "crashes")
		var events []event.Event
		for i := range rapid.IntRange(1, 16).Draw(rt, "records") {
			events = append(events, genEvent(rt, w.app, rapid.IntRange(1, 3).Draw(rt, "session"), uint64(i+1)))
		}
		again := rapid.SliceOfN(rapid.SampledFrom(events), 0, 4).Draw(rt, "again")
		for i := range again {
			if !crashes { // else only the store knows which numbers were used
				again[i] = reuse(rt, again[i])
			}
		}
		for _, e := range rapid.Permutation(append(events, again...)).Draw(rt, "order") {
			if id := identity(e.Session, e.Seq, e.Index); w.all[id].Session == "" {
				w.all[id] = e
			}
			w.apply(rt, e)
			if rapid.IntRange(0, 2).Draw(rt, "tick") == 0 {
				w.now += rapid.Int64Range(0, 60_000).Draw(rt, "advance")
				w.tick(rt)
			}
			if crashes && rapid.IntRange(0, 4).Draw(rt, "crash") == 0 {
				w.restart()
			}
		}
		w.now += 400_000
		w.sweep(rt)
		w.tick(rt)
		w.sayMore(rt)
		w.tick(rt)
		w.compare(rt)
	})
}

func identity(session string, seq uint64, index int) string {
	return fmt.Sprint(session, " ", seq, " ", index)
}

// whole returns a listed conference with its summary's document.
func (w *twin) whole(t *rapid.T, listed *storage.Conference) *storage.Conference {
	c, err := w.store.Conference(w.Context(), storage.Ref{AppID: listed.AppID, ConferenceID: listed.ConferenceID, At: listed.Start})
	require.NoError(t, err)
	return &c
}

func (w *twin) compare(t *rapid.T) {
	page, err := w.store.Conferences(w.Context(), storage.Query{AppID: w.app})
	require.NoError(t, err)
	if w.restarts == 0 {
		require.Len(t, page.Conferences, w.set.Len(), "conferences")
	}
	seen := 0
	for i := range page.Conferences {
		c := w.whole(t, &page.Conferences[i])
		require.NotNil(t, c.Summary, "every conference has ended")
		events := w.records(t, c)
		seen += len(events)
		var got conference.Summary
		require.NoError(t, json.Unmarshal(c.Summary.Document, &got))
		want := conferencetest.Fold(events, quality.DefaultBounds())
		want.Revision = got.Revision
		require.Equal(t, want, got, "the summary of %s", c.Start)
		require.Equal(t, [2]int64{c.Start.UnixMilli(), c.End.UnixMilli()}, [2]int64{got.StartMs, got.EndMs}, "span")
		require.Equal(t, people(got), sessions(c.Participants))
	}
	unattached, err := w.store.Unattached(w.Context(), storage.UnattachedQuery{AppID: w.app, Limit: 200})
	require.NoError(t, err)
	for _, u := range unattached.Unattached {
		seen += len(u.Records)
	}
	require.Len(t, w.all, seen, "each record is in one conference, or in none")
}

func (w *twin) records(t *rapid.T, c *storage.Conference) (events []event.Event) {
	ref := storage.Ref{AppID: w.app, ConferenceID: c.ConferenceID, At: c.Start}
	require.NoError(t, w.store.Records(w.Context(), ref, func(session string, r storage.Record) bool {
		events = append(events, w.all[identity(session, r.Seq, r.Index)])
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
