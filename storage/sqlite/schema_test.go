package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A store of an unreleased build has the version and lacks tables and columns: that is an error when it is opened, which names them
// and says what to do, and nothing is changed.
func TestWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.sqlite3")
	require.NoError(t, open(t, path).Close())
	db, err := openDB(path, Options{})
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "DROP TRIGGER hour_update; DROP TABLE login; DROP TABLE audit; ALTER TABLE conference DROP COLUMN digest; ALTER TABLE notice DROP COLUMN body")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	for range 2 {
		_, err := Open(t.Context(), path, Options{})
		require.ErrorContains(t, err, "its schema lacks the columns conference.digest, notice.body and the tables login, audit: an unreleased build of this program made it")
		require.ErrorContains(t, err, "use an empty store, or the build that made this one")
		require.ErrorContains(t, err, path)
	}
}
