package conferenceprocessor

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// shareWith starts a processor before a call, on a store that other processes write to. Their
// part of the call lasts until end after begin.
func shareWith(t *testing.T, next *sink, end time.Duration) (c *conferences, store *fakeStore, begin time.Time) {
	t.Helper()
	store = &fakeStore{shared: true}
	c, err := startWith(t, store, next)
	require.NoError(t, err)
	advance(10 * time.Minute)
	begin = time.Now()
	require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricAdded", "")))
	advance(10 * time.Second)
	store.change(func() { store.fill(begin, begin.Add(end)) })
	require.NoError(t, c.ConsumeLogs(t.Context(), happened(2, "fabricTerminated", "")))
	return c, store, begin
}

// stored puts a summary into the store.
func (f *fakeStore) stored(t *testing.T, record plog.LogRecord) {
	t.Helper()
	f.change(func() {
		f.found.Summary = &storage.Summary{Revision: document(t, record).Revision, Document: []byte(record.Body().Str())}
	})
}

// count returns the number of reads of a conference.
func (f *fakeStore) count() (n int) {
	f.change(func() { n = f.reads })
	return n
}

// one returns the only summary that was emitted.
func one(t *testing.T, next *sink) (plog.LogRecord, conference.Summary) {
	t.Helper()
	summaries, _ := next.take()
	require.Len(t, summaries, 1)
	return summaries[0], document(t, summaries[0])
}

func none(t *testing.T, next *sink) {
	t.Helper()
	summaries, _ := next.take()
	require.Empty(t, summaries)
}

// TestOneCollectorEmitsTheSummary: the collector whose part ended first waits, emits the summary
// if no other does, and revises it if a less complete one replaced it.
//
// spec: CONF-01, CONF-02
func TestOneCollectorEmitsTheSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, store, begin := shareWith(t, next, 10*time.Second+time.Millisecond)
		advance(20 * time.Second)
		none(t, next)
		store.change(func() {
			store.records = nil
			store.fill(begin, begin.Add(30*time.Second))
		})
		advance(time.Until(begin.Add(59 * time.Second)))
		none(t, next)
		advance(4 * time.Second)
		_, first := one(t, next)
		require.Equal(t, 1, first.Revision)
		require.Len(t, first.Participants, 2)
		require.Equal(t, int64(30_000), first.DurationMs)

		store.change(func() { store.found.Summary = &storage.Summary{Revision: 1, Document: []byte(`{"revision":1}`)} })
		advance(31 * time.Second)
		record, s := one(t, next)
		require.Equal(t, 2, s.Revision)
		require.Len(t, s.Participants, 2)

		store.stored(t, record)
		reads := store.count()
		advance(31 * time.Second)
		require.Greater(t, store.count(), reads, "it is checked too")
		none(t, next)
		reads = store.count()
		advance(4 * time.Minute)
		require.Equal(t, reads, store.count(), "once")
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestLastRecordEmitsTheSummary: the collector with the last record emits the summary as soon as
// silence has ended the other part.
//
// spec: CONF-02
func TestLastRecordEmitsTheSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, _, begin := shareWith(t, next, 5*time.Second)
		advance(time.Until(begin.Add(34 * time.Second)))
		none(t, next)
		advance(3 * time.Second)
		_, s := one(t, next)
		require.Len(t, s.Participants, 2)
		require.Equal(t, int64(10_000), s.DurationMs)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestACheckIsTriedAgain while the store cannot be read, as long as the summary could be
// revised.
//
// spec: CONF-02
func TestACheckIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, store, _ := shareWith(t, next, 5*time.Second)
		advance(40 * time.Second)
		one(t, next)
		store.change(func() { store.err = errors.New("away") })
		advance(2 * time.Minute)
		none(t, next)
		store.change(func() {
			store.err = nil
			store.found.Summary = &storage.Summary{Revision: 1, Document: []byte("damaged")}
		})
		advance(31 * time.Second)
		record, s := one(t, next)
		require.Equal(t, 2, s.Revision)
		store.stored(t, record)
		store.change(func() { store.err = errors.New("gone") })
		advance(20 * time.Minute)
		require.Empty(t, c.restorer.checks)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestConferencesOfStoppedCollectors are summarised by repeated sweeps.
//
// spec: CONF-02
func TestConferencesOfStoppedCollectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, next := &fakeStore{shared: true}, new(sink)
		c, err := startWith(t, store, next)
		require.NoError(t, err)
		advance(time.Hour)
		store.change(func() { store.fill(time.Now(), time.Now().Add(time.Minute)) })
		advance(10 * time.Minute)
		_, s := one(t, next)
		require.Equal(t, 1, s.Revision)
		require.Equal(t, int64(60_000), s.DurationMs)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// TestARepeatedSummaryIsMarked: one exporter may have counted it.
//
// spec: CONF-02
func TestARepeatedSummaryIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := new(sink)
		c, _ := start(t, next, nil)
		require.NoError(t, c.ConsumeLogs(t.Context(), happened(1, "fabricTerminated", "")))
		next.setRefuse(func(plog.Logs) error { return errors.New("later") })
		advance(3 * time.Second)
		next.setRefuse(nil)
		advance(time.Second)
		record, _ := one(t, next)
		mark, ok := record.Attributes().Get(semconv.Duplicate)
		require.True(t, ok && mark.Bool())
		require.NoError(t, c.Shutdown(t.Context()))
	})
}
