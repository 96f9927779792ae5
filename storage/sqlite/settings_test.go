package sqlite

import (
	"testing"

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
	path := empty(t)
	s := open(t, path)
	s.settings = sqlstore.NewSettings(s.database(), limit)
	return storagetest.SettingsStore{Settings: s, Limit: limit, Reopen: func(t *testing.T) storage.Settings {
		t.Helper()
		require.NoError(t, s.Close())
		return open(t, path)
	}}
}

// The statements that run each second find what they want by an index.
func TestSettingsPlans(t *testing.T) {
	s := temp(t)
	require.Contains(t, plan(t, s, dialect.SQL(sqlstore.SettingsAfter), "app", 1), "USING INDEX setting_revision (kind=? AND revision>?)")
	require.Contains(t, plan(t, s, dialect.SQL(sqlstore.SettingsCount), "app"), "USING COVERING INDEX")
}

func BenchmarkSettingsRevision(b *testing.B) {
	s := temp(b)
	for b.Loop() {
		if _, err := s.SettingsRevision(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
