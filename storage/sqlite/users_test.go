package sqlite

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/store/storagetest"
)

// files returns all pages of the store's file, of its log and of their index, while it is open.
func files(t *testing.T, path string) (all []byte) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		text, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		all = append(all, text...)
	}
	return all
}

// spec: PRIV-02 API-06
func TestUsers(t *testing.T) {
	storagetest.RunUsers(t, usersEngine)
}

var usersEngine = storagetest.UsersEngine{
	Open:   func(t *testing.T) storagetest.UsersStore { t.Helper(); return temp(t) },
	Second: func(t *testing.T, s storagetest.UsersStore) storagetest.UsersStore { t.Helper(); return s },
	Files:  func(t *testing.T, s storagetest.UsersStore) []byte { t.Helper(); return files(t, s.(*Store).path) },
}
