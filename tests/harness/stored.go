package harness

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// Identity is what the store must hold once.
type Identity struct {
	Session string
	Seq     uint64
	Index   int
}

// Stored is what a store holds of the harness's application: for each identity the
// records found, as Record tells them.
type Stored map[Identity][]Record

// ReadSQLite reads the store in a directory that no collector uses now.
func ReadSQLite(tb testing.TB, directory string) Stored {
	tb.Helper()
	var stored Stored
	withSQLite(tb, directory, func(store storage.Reader) { stored = ReadStore(tb, store) })
	return stored
}

// ReadTimes returns the times of all records in such a directory.
func ReadTimes(tb testing.TB, directory string) (times []time.Time) {
	tb.Helper()
	withSQLite(tb, directory, func(store storage.Reader) {
		require.NoError(tb, EachRecord(tb.Context(), store, AppID, func(_ string, r storage.Record) { times = append(times, r.At) }))
	})
	return times
}

func withSQLite(tb testing.TB, directory string, read func(storage.Reader)) {
	tb.Helper()
	store, err := sqlite.Open(tb.Context(), filepath.Join(directory, "qos.sqlite3"), sqlite.Options{})
	require.NoError(tb, err)
	defer func() { require.NoError(tb, store.Close()) }()
	read(store)
}

// ReadStore reads all conferences.
func ReadStore(tb testing.TB, store storage.Reader) Stored {
	tb.Helper()
	stored := Stored{}
	require.NoError(tb, EachRecord(tb.Context(), store, AppID, func(session string, r storage.Record) {
		id := Identity{session, r.Seq, r.Index}
		stored[id] = append(stored[id], Record{Name: r.Name, Value: Content(r)})
	}))
	return stored
}

// Content is what tells the content of a stored record from others'.
func Content(r storage.Record) string {
	a := r.Attributes
	switch r.Name {
	case semconv.EventStats:
		return fmt.Sprint(a[semconv.StatsPrefix+"packets"])
	case semconv.EventLog:
		return fmt.Sprint(a[semconv.LogText])
	case semconv.EventEvent:
		return fmt.Sprint(a[semconv.EventData])
	case semconv.EventSkip:
		return fmt.Sprintf("%v %v %v", a[semconv.SkipFrom], a[semconv.SkipStats], a[semconv.SkipEvents])
	}
	return r.Name
}
