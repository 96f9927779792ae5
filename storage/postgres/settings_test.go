package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: AUTH-03
func TestSettings(t *testing.T) {
	storagetest.RunSettings(t, emptySettings)
}

func emptySettings(t *testing.T) storagetest.SettingsStore {
	t.Helper()
	const limit = 25
	dsn := migrated(t)
	s := open(t, dsn)
	s.settings = sqlstore.NewSettings(s.database(), limit)
	beside := func(t *testing.T) storage.Settings {
		t.Helper()
		return open(t, dsn)
	}
	return storagetest.SettingsStore{Settings: s, Limit: limit, Beside: beside, Reopen: func(t *testing.T) storage.Settings {
		t.Helper()
		require.NoError(t, s.Close())
		return open(t, dsn)
	}}
}

// Connections that the server ended while they were idle are no fault of a write.
func TestSettingsConnectionsEnd(t *testing.T) {
	s := temp(t)
	revision, err := s.PutSetting(t.Context(), storage.Setting{Kind: "k", ID: "a", Body: []byte("1")})
	require.NoError(t, err)
	conn := connect(t, s.config.ConnString())
	_, err = conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	require.NoError(t, err)
	next, err := s.PutSetting(t.Context(), storage.Setting{Kind: "k", ID: "a", Revision: revision, Body: []byte("2")})
	require.NoError(t, err)
	require.Equal(t, revision+1, next)
}

// A collector that holds the counter and says nothing more is thrown out, and the others
// go on.
func TestSettingsHeldUp(t *testing.T) {
	dsn := migrated(t)
	s := open(t, dsn)
	quick, err := Open(t.Context(), dsn, Options{patience: 2 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, quick.Close()) })
	begun, ended := make(chan struct{}), make(chan error, 1)
	release := make(chan struct{})
	go func() {
		ended <- quick.change(context.Background(), func(sqlstore.Tx) error {
			close(begun)
			<-release
			return nil
		})
	}()
	select {
	case <-begun:
	case err := <-ended:
		require.NoError(t, err, "the machine stood still for that long")
	}
	_, err = s.PutSetting(t.Context(), storage.Setting{Kind: "k", ID: "a", Body: []byte("1")})
	require.NoError(t, err)
	close(release)
	require.Error(t, <-ended)
}
