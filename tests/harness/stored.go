package harness

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/semconv"
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
		each(tb, store, func(_ string, r storage.Record) { times = append(times, r.At) })
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
	each(tb, store, func(session string, r storage.Record) {
		id := Identity{session, r.Seq, r.Index}
		stored[id] = append(stored[id], Record{Name: r.Name, Value: Content(r)})
	})
	return stored
}

// each calls yield for every record of the harness's application, of a conference or of none.
func each(tb testing.TB, store storage.Reader, yield func(session string, r storage.Record)) {
	tb.Helper()
	eachUnattached(tb, store, yield)
	query := storage.Query{AppID: AppID}
	for {
		page, err := store.Conferences(tb.Context(), query)
		require.NoError(tb, err)
		for _, c := range page.Conferences {
			ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}
			require.NoError(tb, store.Records(tb.Context(), ref, func(session string, r storage.Record) bool {
				yield(session, r)
				return true
			}))
		}
		if page.Next == (storage.Cursor{}) {
			return
		}
		query.Before = page.Next
	}
}

func eachUnattached(tb testing.TB, store storage.Reader, yield func(session string, r storage.Record)) {
	tb.Helper()
	for query := (storage.UnattachedQuery{AppID: AppID}); ; {
		page, err := store.Unattached(tb.Context(), query)
		require.NoError(tb, err)
		for _, u := range page.Unattached {
			require.False(tb, u.More, "all are listed")
			for _, r := range u.Records {
				yield(u.Session.ID, r)
			}
		}
		if query.Before = page.Next; page.Next == (storage.Cursor{}) {
			return
		}
	}
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
