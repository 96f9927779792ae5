package sqlite

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage/storagetest"
)

func TestPackConformance(t *testing.T) {
	exec := func(t *testing.T, s storagetest.PackStore, statement string, args ...any) {
		t.Helper()
		err := s.(*Store).writer.do(t.Context(), job{run: func(t *tx) error { return t.exec(statement, args...) }})
		require.NoError(t, err)
	}
	storagetest.RunPack(t, storagetest.PackEngine{
		Open: func(t *testing.T) storagetest.PackStore { return temp(t) },
		Reopen: func(t *testing.T, s storagetest.PackStore) storagetest.PackStore {
			require.NoError(t, s.(*Store).Close())
			return open(t, s.(*Store).path)
		},
		Flip: func(t *testing.T, s storagetest.PackStore) string {
			var key int64
			var body []byte
			require.NoError(t, s.(*Store).read.QueryRowContext(t.Context(), "SELECT key, body FROM chunk ORDER BY key DESC LIMIT 1").Scan(&key, &body))
			body[len(body)/2] ^= 4
			exec(t, s, "UPDATE chunk SET body = ? WHERE key = ?", body, key)
			return fmt.Sprint("chunk ", key)
		},
		Spoil: func(t *testing.T, s storagetest.PackStore) {
			exec(t, s, `UPDATE frame SET body = substr(body, 1, length(body) - 1) WHERE rowid =
				(SELECT f.rowid FROM frame f JOIN session s ON s.key = f.session WHERE f.activity = 1 ORDER BY s.id DESC LIMIT 1)`)
		},
		Rows: func(t *testing.T, s storagetest.PackStore) (n int) {
			for _, table := range []string{"session", "place", "frame", "chunk", "packed", "conference", "participant"} {
				n += count(t, s.(*Store), table)
			}
			return n
		},
	})
}
