package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: DASH-02
func TestHours(t *testing.T) {
	storagetest.RunHours(t, usersEngine(func(t *testing.T) *Store { t.Helper(); return temp(t) }))
}

// spec: DASH-02
func TestHoursHashed(t *testing.T) {
	storagetest.RunHours(t, usersEngine(func(t *testing.T) *Store { t.Helper(); return tempHashed(t) }))
}

// MakeHours waits for a transaction that changed a conference before the mark was committed, and not for one that only reads.
func TestHoursWaitForWriters(t *testing.T) {
	dsn, s, hurried := atNoon(t)
	begin := func(statement string, values ...any) pgx.Tx { return beginWith(t, dsn, statement, values...) }
	begin(`SELECT count(*) FROM qos_conference`)
	d := digest.Digest{Outcome: "dropped"}
	writer := begin(`UPDATE qos_conference SET digest = $1`, d.Encode())
	before := noon.Add(2 * time.Hour)
	made, err := s.MakeHours(t.Context(), before)
	require.NoError(t, err)
	require.Zero(t, made)
	_, err = hurried.MakeHours(t.Context(), before)
	require.ErrorContains(t, err, "make hours: the server did not answer in time")
	require.NoError(t, writer.Commit(t.Context()))
	made, err = s.MakeHours(t.Context(), before)
	require.NoError(t, err)
	require.Equal(t, 2, made)
	require.Equal(t, []string{"dropped"}, firstOutcomes(t, s))
}

// firstOutcomes returns the outcome of the first conference in the columns of the hour that begins at noon.
func firstOutcomes(t *testing.T, s *Store) (outcomes []string) {
	t.Helper()
	require.NoError(t, s.Hours(t.Context(), noon, noon.Add(time.Hour), func(_ time.Time, columns []byte) bool {
		c, err := digest.DecodeColumns(columns)
		require.NoError(t, err)
		outcomes = append(outcomes, c.Texts()[c.Row(0).Outcome])
		return true
	}))
	return outcomes
}

// atNoon is a store with a conference at noon, and the same store for a collector that waits 300 ms for the server.
func atNoon(t *testing.T) (dsn string, s, hurried *Store) {
	t.Helper()
	dsn = migrated(t)
	s = open(t, dsn)
	mustAppend(t, s, statsFrame(1, 1, noon))
	hurried, err := Open(t.Context(), dsn, Options{patience: 300 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, hurried.Close()) })
	return dsn, s, hurried
}

// beginWith begins a transaction with a statement, on a connection of its own.
func beginWith(t *testing.T, dsn, statement string, values ...any) pgx.Tx {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(t.Context())) })
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), statement, values...)
	require.NoError(t, err)
	return tx
}

// MakeHours waits also if no transaction has ended that began after the one that changed a conference: the newest
// transactions of an idle server.
func TestHoursWaitForTheNewestWriter(t *testing.T) {
	dsn, s, hurried := atNoon(t)
	mark := beginWith(t, dsn, `INSERT INTO qos_hour (start_ms, mark) VALUES ($1, 7)`, noon.Truncate(time.Hour).UnixMilli())
	d := digest.Digest{Outcome: "dropped"}
	writer := beginWith(t, dsn, `UPDATE qos_conference SET digest = $1`, d.Encode()) // its trigger does not see the mark
	require.NoError(t, mark.Commit(t.Context()))
	before := noon.Add(time.Hour)
	_, err := hurried.MakeHours(t.Context(), before)
	require.ErrorContains(t, err, "make hours: the server did not answer in time")
	require.NoError(t, writer.Commit(t.Context()))
	made, err := s.MakeHours(t.Context(), before)
	require.NoError(t, err)
	require.Equal(t, 1, made)
	require.Equal(t, []string{"dropped"}, firstOutcomes(t, s))
}
