package conferenceprocessor

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// fakeStore is a store with one conference. It is a storage extension too.
type fakeStore struct {
	component.StartFunc
	component.ShutdownFunc
	err     error
	damage  error // of the summary's document
	missing error // of records that are damaged
	found   storage.Conference
	records []storage.Record
	session string // of the records; empty: earlier
	reads   int
	shared  bool
	mu      sync.Mutex
}

// change changes the store while the processor runs.
func (f *fakeStore) change(how func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how()
}

func (f *fakeStore) Shared() bool { return f.shared }

func (f *fakeStore) Reader() storage.Reader { return f }

func (f *fakeStore) Conferences(context.Context, storage.Query) (storage.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found.AppID == "" || f.found.Summary != nil {
		return storage.Page{}, f.err
	}
	return storage.Page{Conferences: []storage.Conference{f.found}}, f.err
}

func (f *fakeStore) Conference(_ context.Context, ref storage.Ref) (storage.Conference, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.err == nil && ref.ConferenceID != f.found.ConferenceID {
		return storage.Conference{}, storage.ErrNotFound
	}
	return f.found, errors.Join(f.err, f.damage)
}

func (f *fakeStore) CountParticipants(ctx context.Context, ref storage.Ref) (int, error) {
	c, err := f.Conference(ctx, ref)
	return len(c.Participants), err
}

func (f *fakeStore) Records(_ context.Context, _ storage.Ref, yield func(string, storage.Record) bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.records {
		if !yield(cmp.Or(f.session, "earlier"), r) {
			break
		}
	}
	return errors.Join(f.err, f.missing)
}

func (f *fakeStore) RecordsFrom(context.Context, storage.Ref, time.Time, func(string, storage.Record) bool) error {
	return errors.New("not read here")
}

func (f *fakeStore) Hours(context.Context, time.Time, time.Time, func(time.Time, []byte) bool) error {
	return nil
}

func (f *fakeStore) Digests(context.Context, storage.DigestQuery, func(storage.Digest) bool) error {
	return nil
}

func (f *fakeStore) PreCalls(context.Context, storage.PreCallQuery) (storage.PreCallPage, error) {
	return storage.PreCallPage{}, nil
}

func (f *fakeStore) Unattached(context.Context, storage.UnattachedQuery) (storage.UnattachedPage, error) {
	return storage.UnattachedPage{}, nil
}

// fill stores a call of a session "earlier" that began before and lasted until end.
func (f *fakeStore) fill(begin, end time.Time) {
	f.found = storage.Conference{
		AppID: "app", ConferenceID: "standup", Start: begin, End: end,
		Participants: []storage.Participant{{Session: storage.Session{ID: "earlier", AppID: "app", UserID: "Bob", UserAlias: "b1"}}},
	}
	stats := map[string]any{
		semconv.IntervalMs: 10_000.0, semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio",
		eventtest.Stats("ssrc"): 7.0, eventtest.Stats("packets"): 500.0, semconv.QualityMOS: 4.0, semconv.QualityLabel: "good", semconv.FabricUsage: "audio",
	}
	record := func(seq uint64, name string, at time.Time, attrs map[string]any) {
		f.records = append(f.records, storage.Record{
			Seq: seq, ConferenceID: "standup", ConferenceAt: begin, Fabric: 1, Name: name, At: at, Activity: true, Attributes: attrs,
		})
	}
	record(1, semconv.EventEvent, begin, map[string]any{semconv.EventName: "fabricAdded", semconv.FabricUsage: "audio"})
	for i := uint64(1); begin.Add(time.Duration(i) * 10 * time.Second).Before(end); i++ {
		record(1+i, semconv.EventStats, begin.Add(time.Duration(i)*10*time.Second), stats)
	}
	record(99, semconv.EventStats, end, stats)
}

var storeID = component.MustNewID("qosstorage")

// startWith starts a processor beside a store.
func startWith(t *testing.T, store component.Component, next consumer.Logs) (*conferences, error) {
	t.Helper()
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.WithoutCancel(t.Context()))) })
	cfg := createDefaultConfig().(*Config)
	cfg.Storage = storeID
	c, err := newConferences(cfg, telemetry.NewTelemetrySettings(), next)
	require.NoError(t, err)
	host := hosttest.Host{}
	if store != nil {
		host[storeID] = store
	}
	return c, c.Start(t.Context(), host)
}

// startAfter starts a processor some time after a call of five minutes that the store has.
func startAfter(t *testing.T, store *fakeStore, after time.Duration) (c *conferences, next *sink, begin time.Time) {
	t.Helper()
	begin, next = time.Now(), new(sink)
	store.fill(begin, begin.Add(5*time.Minute))
	<-time.After(5*time.Minute + after)
	c, err := startWith(t, store, next)
	require.NoError(t, err)
	return c, next, begin
}

// TestARestartInMidCallLosesNothing: the summary covers the records of the earlier process.
//
// spec: CONF-02, CONF-03, SRV-03
func TestARestartInMidCallLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(fakeStore)
		c, next, begin := startAfter(t, store, 5*time.Second)
		for seq := range int64(12) {
			require.NoError(t, c.ConsumeLogs(t.Context(), happened(seq+1, "audioMute", "")))
			advance(10 * time.Second)
		}
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(14, "fabricTerminated", "")))
		advance(2 * time.Second)
		summaries, _ := next.take()
		require.Len(t, summaries, 1)
		s := document(t, summaries[0])
		require.Equal(t, 1, s.Revision)
		require.Equal(t, begin.UnixMilli(), s.StartMs)
		require.Len(t, s.Participants, 2)
		require.Equal(t, [2]string{"Bob", "b1"}, [2]string{s.Participants[0].UserID, s.Participants[0].Alias})
		require.Equal(t, "audio", s.Participants[0].Fabrics[0].Usage)
		require.Equal(t, 30, s.Participants[0].Fabrics[0].Streams[0].Intervals)
		require.Equal(t, "Alice", s.Participants[1].UserID)

		// A late record revises the whole summary, without another read of the store.
		reads := store.reads
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(15, "customEvent", "")))
		advance(2 * time.Second)
		summaries, _ = next.take()
		require.Len(t, summaries, 1)
		require.Equal(t, 2, document(t, summaries[0]).Revision)
		require.Len(t, document(t, summaries[0]).Participants, 2)
		require.Equal(t, reads, store.reads)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestLateRecordsAfterARestartReviseTheWhole: the revision is above the store's, also if the
// summary's document cannot be read.
//
// spec: CONF-02
func TestLateRecordsAfterARestartReviseTheWhole(t *testing.T) {
	t.Run("read", func(t *testing.T) { lateRecords(t, nil) })
	t.Run("damaged", func(t *testing.T) { lateRecords(t, storage.ErrDamaged) })
}

func lateRecords(t *testing.T, damage error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		store, next := &fakeStore{damage: damage}, new(sink)
		store.fill(begin, begin.Add(time.Minute))
		store.found.Summary = &storage.Summary{Revision: 3}
		<-time.After(10 * time.Minute)
		c, err := startWith(t, store, next)
		require.NoError(t, err)
		late := frame(1, semconv.EventFeedback, 0, map[string]any{semconv.FeedbackOverall: int64(2)})
		late.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().PutInt(semconv.ConferenceAt, begin.Add(20*time.Second).UnixMilli())
		require.NoError(t, c.ConsumeLogs(t.Context(), late))
		advance(2 * time.Second)
		summaries, _ := next.take()
		require.Len(t, summaries, 1)
		s := document(t, summaries[0])
		require.Equal(t, 4, s.Revision)
		require.Equal(t, [2]int64{begin.UnixMilli(), begin.Add(time.Minute).UnixMilli()}, [2]int64{s.StartMs, s.EndMs})
		require.Equal(t, 1, s.Feedback.Count)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestConferencesThatEndedBeforeTheStart are summarised: no client resumed after the restart.
//
// spec: CONF-02, CONF-03
func TestConferencesThatEndedBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(fakeStore)
		c, next, _ := startAfter(t, store, 5*time.Second)
		advance(59 * time.Second)
		summaries, _ := next.take()
		require.Empty(t, summaries, "clients may still resume")
		advance(3 * time.Second)
		summaries, _ = next.take()
		require.Len(t, summaries, 1)
		s := document(t, summaries[0])
		require.Equal(t, conference.OutcomeDropped, s.Outcome)
		require.Equal(t, int64(300_000), s.DurationMs)
		advance(time.Hour)
		summaries, _ = next.take()
		require.Empty(t, summaries)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestAnInterruptedStoreIsReadAgain: a minute without the store makes no summary of a part.
//
// spec: CONF-02, SRV-03
func TestAnInterruptedStoreIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{err: errors.New("the server restarts")}
		c, next, begin := startAfter(t, store, 5*time.Second)
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricTerminated", "")))
		advance(time.Minute)
		summaries, _ := next.take()
		require.Empty(t, summaries)
		store.change(func() { store.err = nil })
		advance(time.Minute)
		summaries, _ = next.take()
		require.Len(t, summaries, 1)
		require.Equal(t, begin.UnixMilli(), document(t, summaries[0]).StartMs)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestASweepThatFailsIsRepeated: the conferences that ended before the start are summarised
// when the store can be read.
//
// spec: CONF-02, SRV-03
func TestASweepThatFailsIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{err: errors.New("the server restarts")}
		c, next, _ := startAfter(t, store, time.Minute)
		advance(2 * time.Minute)
		store.change(func() { store.err = nil })
		advance(5 * time.Minute)
		summaries, _ := next.take()
		require.Len(t, summaries, 1)
		reads := store.reads
		advance(time.Hour)
		require.Equal(t, reads, store.reads, "all are restored")
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestDamagedRecordsHoldNothingUp: the summary of a conference whose records cannot all be read
// covers the others, and is not read again and again.
//
// spec: CONF-02, SRV-03
func TestDamagedRecordsHoldNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{missing: storage.ErrDamaged}
		c, next, _ := startAfter(t, store, time.Minute)
		advance(2 * time.Minute)
		summaries, _ := next.take()
		require.Len(t, summaries, 1)
		require.Equal(t, int64(300_000), document(t, summaries[0]).DurationMs)
		reads := store.reads
		advance(time.Hour)
		require.Equal(t, reads, store.reads)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestAConferenceOfDamagedRecordsAlone: there is nothing to summarise, and nothing is repeated.
//
// spec: CONF-02, SRV-04
func TestAConferenceOfDamagedRecordsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{missing: storage.ErrDamaged}
		c, next, _ := startAfter(t, store, time.Minute)
		store.change(func() { store.records = nil })
		advance(2 * time.Minute)
		reads := store.reads
		advance(time.Hour)
		summaries, _ := next.take()
		require.Empty(t, summaries)
		require.Equal(t, reads, store.reads)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

func TestStorageMustBeThere(t *testing.T) {
	for name, store := range map[string]component.Component{
		"no such extension":    nil,
		"no storage extension": otherExtension{},
		"has not started":      notStarted{},
	} {
		_, err := startWith(t, store, new(sink))
		require.ErrorContains(t, err, name)
	}
}

type otherExtension struct {
	component.StartFunc
	component.ShutdownFunc
}

type notStarted struct{ otherExtension }

func (notStarted) Reader() storage.Reader { return nil }

func (notStarted) Shared() bool { return false }
