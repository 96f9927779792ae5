package harness

import (
	"fmt"
	"path/filepath"
	"testing"

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
	store, err := sqlite.Open(tb.Context(), filepath.Join(directory, "qos.sqlite3"), sqlite.Options{})
	require.NoError(tb, err)
	defer func() { require.NoError(tb, store.Close()) }()
	return ReadStore(tb, store)
}

// ReadStore reads all conferences.
func ReadStore(tb testing.TB, store storage.Reader) Stored {
	tb.Helper()
	stored := Stored{}
	query := storage.Query{AppID: AppID}
	for {
		page, err := store.Conferences(tb.Context(), query)
		require.NoError(tb, err)
		for _, c := range page.Conferences {
			ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}
			require.NoError(tb, store.Records(tb.Context(), ref, func(session string, r storage.Record) bool {
				id := Identity{session, r.Seq, r.Index}
				stored[id] = append(stored[id], Record{Name: r.Name, Value: Content(r)})
				return true
			}))
		}
		if page.Next == (storage.Cursor{}) {
			return stored
		}
		query.Before = page.Next
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
