package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/harness"
)

// faulty is a store that returns a record a number of times.
type faulty struct {
	storage.Reader
	id    harness.Identity
	times int
}

// Records implements storage.Reader.
func (f faulty) Records(ctx context.Context, ref storage.Ref, yield func(string, storage.Record) bool) error {
	return f.Reader.Records(ctx, ref, func(session string, r storage.Record) bool {
		times := 1
		if (harness.Identity{Session: session, Seq: r.Seq, Index: r.Index}) == f.id {
			times = f.times
		}
		for range times {
			if !yield(session, r) {
				return false
			}
		}
		return true
	})
}

// played runs a load on a real collector, and returns it with the collector's store and a record of the run.
func played(t *testing.T) (*load, *sqlite.Store, storage.Record, harness.Identity) {
	t.Helper()
	directory := t.TempDir()
	c := harness.NewCollector(t, harness.Options{Storage: harness.SQLite(directory)})
	c.Start()
	o := small(c)
	o.lasts = 4 * time.Second
	l := newLoad(o, time.Now())
	l.run(t.Context())
	c.Stop()
	require.NotZero(t, l.stats.acked)
	store, err := sqlite.Open(t.Context(), filepath.Join(directory, "qos.sqlite3"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	var record storage.Record
	var id harness.Identity
	require.NoError(t, harness.EachRecord(t.Context(), store, o.app, func(session string, r storage.Record) {
		if r.Activity {
			record, id = r, harness.Identity{Session: session, Seq: r.Seq, Index: r.Index}
		}
	}))
	return l, store, record, id
}

// TestStoreIsComparedByRecord: in the store of a real collector a record that is lost, one that is stored twice, and those
// that nobody sent are found, also where the sums are equal.
//
// spec: SRV-03
func TestStoreIsComparedByRecord(t *testing.T) {
	t.Parallel()
	l, store, record, id := played(t)
	check := func(store storage.Reader) (*balance, error) {
		b, err := l.balance(t.Context(), store)
		require.NoError(t, err)
		return b, b.err()
	}
	b, err := check(store)
	require.NoError(t, err)
	require.Equal(t, l.stats.records, b.stored)

	b, err = check(faulty{store, id, 0})
	require.ErrorContains(t, err, "session "+id.Session+" is not stored")
	require.Equal(t, []int64{l.stats.records - 1, 1, 0, 0}, []int64{b.stored, b.lost, b.doubled, b.unsent})
	b, err = check(faulty{store, id, 2})
	require.ErrorContains(t, err, "session "+id.Session+" is stored twice")
	require.Equal(t, []int64{l.stats.records + 1, 0, 1, 0}, []int64{b.stored, b.lost, b.doubled, b.unsent})

	appended := func(session string, r storage.Record) {
		_, err := store.Append(t.Context(), []storage.Batch{{Session: storage.Session{ID: session, AppID: l.app}, Records: []storage.Record{r}}})
		require.NoError(t, err)
	}
	another := record
	another.ConferenceID = "of another load"
	appended(uuid.NewString(), another)
	_, err = check(store)
	require.NoError(t, err, "others may use the store")
	appended(uuid.NewString(), record)
	for _, unsent := range []storage.Record{{Seq: 1000}, {Seq: record.Seq, Index: 100}} {
		r := record
		r.Seq, r.Index = unsent.Seq, unsent.Index
		appended(id.Session, r)
	}
	b, err = check(faulty{store, id, 0})
	require.ErrorContains(t, err, "was never sent")
	require.Equal(t, []int64{l.stats.records + 2, 1, 0, 3}, []int64{b.stored, b.lost, b.doubled, b.unsent})
}

// TestAccount: a session that continues another one has its unacknowledged frames, and a refused frame no records.
func TestAccount(t *testing.T) {
	t.Parallel()
	l := &ledger{accounts: map[string]*account{}}
	a := l.open("a", nil, 1)
	for _, records := range []int{1, 5, 2} {
		a.prepared(records)
	}
	a.sent, a.acked = 3, 1
	b := l.open("b", a, 2)
	b.prepared(4)
	b.refused(3)
	b.refused(0)
	b.refused(9)
	of := func(a *account) (all []int) {
		for seq := range uint64(6) {
			all = append(all, a.of(seq))
		}
		return all
	}
	require.Equal(t, []int{0, 1, 5, 2, 0, 0}, of(a))
	require.Equal(t, []int{0, 0, 5, 0, 4, 0}, of(b))
}

// TestNoStore: a file that is not there is an error, and it is not made.
func TestNoStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "qos.sqlite3")
	err := readStore(t.Context(), path, func(storage.Reader) error { return nil })
	require.ErrorContains(t, err, "store "+path+": copy: ")
	require.NoFileExists(t, path)
}
