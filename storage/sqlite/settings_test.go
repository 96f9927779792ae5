package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/storagetest"
)

// spec: AUTH-03
func TestSettings(t *testing.T) {
	const limit = 25
	storagetest.RunSettings(t, func(t *testing.T) storagetest.SettingsStore {
		t.Helper()
		path := filepath.Join(t.TempDir(), "store.sqlite3")
		s := open(t, path)
		s.maxSettings = limit
		return storagetest.SettingsStore{Settings: s, Limit: limit, Reopen: func(t *testing.T) storage.Settings {
			t.Helper()
			require.NoError(t, s.Close())
			return open(t, path)
		}}
	})
}

// The statements that run each second find what they want by an index.
func TestSettingsPlans(t *testing.T) {
	s := temp(t)
	require.Contains(t, plan(t, s, settingColumns+` AND revision > ? ORDER BY id`, kindOfPlan, 1), "USING INDEX setting_revision (kind=? AND revision>?)")
	require.Contains(t, plan(t, s, `SELECT count(*) FROM setting WHERE kind = ?`, kindOfPlan), "USING COVERING INDEX")
}

const kindOfPlan = "app"

func BenchmarkSettingsRevision(b *testing.B) {
	s := temp(b)
	for b.Loop() {
		if _, err := s.SettingsRevision(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
