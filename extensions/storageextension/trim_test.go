package storageextension

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// TestTrim: the conferences that ended first are deleted until the store is small enough, and those of the last hour
// are kept.
func TestTrim(t *testing.T) {
	t.Parallel()
	e := newStore(t, t.TempDir(), 0, newTelemetry(t))
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, e.Shutdown(t.Context())) })
	now := time.Now()
	const calls = 200
	for i := range calls {
		batch := record(now.Add(-time.Duration(i) * 15 * time.Minute))
		batch[0].Records[0].Attributes = map[string]any{"text": strings.Repeat("x", 10_000)}
		_, err := e.Writer().Append(t.Context(), batch)
		require.NoError(t, err)
	}
	db := e.db.(*sqlite.Store)
	whole, err := db.Size(t.Context())
	require.NoError(t, err)
	left := func() []storage.Conference {
		page, err := e.Reader().Conferences(t.Context(), storage.Query{Limit: calls})
		require.NoError(t, err)
		return page.Conferences
	}

	deleted, err := trim(t.Context(), db, whole, now)
	require.NoError(t, err)
	require.Zero(t, deleted)

	limit := whole * 2 / 3
	deleted, err = trim(t.Context(), db, limit, now)
	require.NoError(t, err)
	size, err := db.Size(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, size, limit)
	require.Greater(t, size, limit/2, "no more than it must")
	kept := left()
	require.Len(t, kept, calls-deleted)
	for i, c := range kept { // newest first
		require.Equal(t, now.Add(-time.Duration(i)*15*time.Minute).UnixMilli(), c.End.UnixMilli(), "the oldest were deleted")
	}

	_, err = trim(t.Context(), db, 1, now)
	require.ErrorContains(t, err, "all its conferences ended in the last 1h0m0s")
	require.Len(t, left(), 5, "of the last hour")
}
