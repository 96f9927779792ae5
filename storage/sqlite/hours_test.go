package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: DASH-02
func TestHours(t *testing.T) { storagetest.RunHours(t, usersEngine) }

func makeHours(t *testing.T, s storage.HourMaker) int {
	t.Helper()
	made, err := s.MakeHours(t.Context(), noon.Add(2*time.Hour))
	require.NoError(t, err)
	return made
}

// hoursOf returns the number of conferences in the columns of each hour.
func hoursOf(t *testing.T, s *Store) map[time.Time]int {
	t.Helper()
	out := map[time.Time]int{}
	require.NoError(t, s.Hours(t.Context(), noon, noon.Add(2*time.Hour), func(hour time.Time, columns []byte) bool {
		c, err := digest.DecodeColumns(columns)
		require.NoError(t, err)
		out[hour] = c.Len()
		return true
	}))
	return out
}

// Columns that were read before a change are not written to a mark that was made after it.
func TestHoursMarkedAgain(t *testing.T) {
	s := temp(t)
	appendAt := func(session int, at time.Time) {
		_, err := s.Append(t.Context(), []storage.Batch{statsFrame(session, 1, at)})
		require.NoError(t, err)
	}
	appendAt(1, noon)
	require.Zero(t, makeHours(t, s))
	db := s.database()
	view := db.View
	db.View = func(ctx context.Context, read func(sqlstore.Tx) error) error {
		err := view(ctx, read)
		appendAt(2, noon.Add(10*time.Minute))
		_, again := s.MakeHours(t.Context(), noon.Add(time.Hour))
		require.NoError(t, again)
		return err
	}
	made, err := sqlstore.NewHours(db, s.hourWriter()).MakeHours(t.Context(), noon.Add(time.Hour))
	require.NoError(t, err)
	require.Zero(t, made)
	require.Empty(t, hoursOf(t, s))
	makeHours(t, s)
	makeHours(t, s)
	require.Equal(t, map[time.Time]int{noon: 2, noon.Add(time.Hour): 0}, hoursOf(t, s))
}

// Columns that are damaged are left out.
func TestHoursDamaged(t *testing.T) {
	s := temp(t)
	appendFrames(t, s, 1, 1)
	makeHours(t, s)
	require.Equal(t, 2, makeHours(t, s))
	require.NoError(t, s.change(t.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec(`UPDATE hour SET body = substr(body, 1, length(body) - 1) WHERE start_ms = ?`, noon.UnixMilli())
		return err
	}))
	require.Equal(t, map[time.Time]int{noon.Add(time.Hour): 0}, hoursOf(t, s))
}
