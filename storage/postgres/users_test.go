package postgres

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/store/storagetest"
)

// files returns all files of the database, after the operator's VACUUM FULL and a checkpoint.
func files(t *testing.T, s *Store) (all []byte) {
	t.Helper()
	execute(t, s, `VACUUM (FULL, ANALYZE)`)
	execute(t, s, `CHECKPOINT`)
	directory := query[string](t, s, `SELECT current_setting('data_directory')`)
	database := query[int64](t, s, `SELECT oid::bigint FROM pg_database WHERE datname = current_database()`)
	names, err := filepath.Glob(filepath.Join(directory, "base", strconv.FormatInt(database, 10), "*"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the server has removed it meanwhile, as it does with pg_internal.init
		}
		require.NoError(t, err)
		all = append(all, text...)
	}
	return all
}

func runUsers(t *testing.T, fresh func(t *testing.T) *Store) {
	t.Helper()
	storagetest.RunUsers(t, usersEngine(fresh))
}

func usersEngine(fresh func(t *testing.T) *Store) storagetest.UsersEngine {
	return storagetest.UsersEngine{
		Open: func(t *testing.T) storagetest.UsersStore { t.Helper(); return fresh(t) },
		Second: func(t *testing.T, s storagetest.UsersStore) storagetest.UsersStore {
			t.Helper()
			return open(t, s.(*Store).config.ConnString())
		},
		Files: func(t *testing.T, s storagetest.UsersStore) []byte { t.Helper(); return files(t, s.(*Store)) },
	}
}

// spec: PRIV-02 API-06
func TestUsers(t *testing.T) {
	t.Parallel()
	runUsers(t, func(t *testing.T) *Store { t.Helper(); return temp(t) })
}

// spec: PRIV-02
func TestUsersHashed(t *testing.T) {
	t.Parallel()
	runUsers(t, func(t *testing.T) *Store { t.Helper(); return tempHashed(t) })
}
