package sqlite

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

func TestPackConformance(t *testing.T) {
	exec := func(t *testing.T, s storagetest.PackStore, statement string, args ...any) {
		t.Helper()
		err := s.(*Store).writer.do(t.Context(), job{run: func(t *tx) error { return t.exec(statement, args...) }})
		require.NoError(t, err)
	}
	storagetest.RunPack(t, storagetest.PackEngine{
		Open: func(t *testing.T) storagetest.PackStore { t.Helper(); return temp(t) },
		Reopen: func(t *testing.T, s storagetest.PackStore) storagetest.PackStore {
			t.Helper()
			require.NoError(t, s.(*Store).Close())
			return open(t, s.(*Store).path)
		},
		Flip: func(t *testing.T, s storagetest.PackStore) string {
			t.Helper()
			var key int64
			var body []byte
			require.NoError(t, s.(*Store).read.QueryRowContext(t.Context(), "SELECT key, body FROM chunk ORDER BY key DESC LIMIT 1").Scan(&key, &body))
			body[len(body)/2] ^= 4
			exec(t, s, "UPDATE chunk SET body = ? WHERE key = ?", body, key)
			return fmt.Sprint("chunk ", key)
		},
		Spoil: func(t *testing.T, s storagetest.PackStore) {
			t.Helper()
			exec(t, s, `UPDATE frame SET body = substr(body, 1, length(body) - 1) WHERE rowid =
				(SELECT f.rowid FROM frame f JOIN session s ON s.key = f.session WHERE f.activity = 1 ORDER BY s.id DESC LIMIT 1)`)
		},
		Rows: func(t *testing.T, s storagetest.PackStore) (n int) {
			t.Helper()
			for _, table := range []string{"session", "place", "frame", "chunk", "packed", "conference", "participant", "term", "rename", "document"} {
				n += count(t, s.(*Store), table)
			}
			return n
		},
	})
}

// The indexes answer what packing asks.
func TestPackPlans(t *testing.T) {
	s := temp(t)
	f := func(want, query string, args ...any) {
		t.Helper()
		require.Contains(t, plan(t, s, query, args...), want)
		require.NotContains(t, plan(t, s, query, args...), "SCAN")
	}
	f("SEARCH h USING COVERING INDEX chunk_place (place=? AND from_ms>? AND from_ms<?)", dialect.SQL(sqlstore.ChunkList), 1, 1, 2, 2, 3, 4)
	f("SEARCH packed USING PRIMARY KEY (session=? AND first>? AND first<?)", storedIndexes, 1, 2, 3)
	f("SEARCH c USING INDEX conference_loose (start_ms>?)", dialect.SQL(sqlstore.NextLoose), 1, 2, 3)
	f("SEARCH p USING COVERING INDEX packed_chunk (chunk=?)", dialect.SQL(sqlstore.RecountParticipants), 7, 1, 2, 3, 7, 1, 2, 3, 7, 1, 4, 5)
	f("SEARCH packed USING INDEX packed_chunk (chunk=?)", `DELETE FROM packed WHERE chunk = ?`, 1)
}
