package postgres

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/store/storagetest"
)

func execute(tb testing.TB, s *Store, statement string, args ...any) {
	tb.Helper()
	require.NoError(tb, s.read.withConn(tb.Context(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(tb.Context(), statement, args...)
		return err
	}))
}

func TestPack(t *testing.T) {
	t.Parallel()
	storagetest.RunPack(t, storagetest.PackEngine{
		Open: func(t *testing.T) storagetest.PackStore { t.Helper(); return temp(t) },
		Reopen: func(t *testing.T, s storagetest.PackStore) storagetest.PackStore {
			t.Helper()
			require.NoError(t, s.(*Store).Close())
			return open(t, s.(*Store).config.ConnString())
		},
		Flip: func(t *testing.T, s storagetest.PackStore) string {
			t.Helper()
			key := query[int64](t, s.(*Store), `SELECT max(key) FROM qos_chunk`)
			execute(t, s.(*Store), `UPDATE qos_chunk SET body = set_bit(body, 4 * length(body), 1 - get_bit(body, 4 * length(body))) WHERE key = $1`, key)
			return fmt.Sprint("chunk ", key)
		},
		Spoil: func(t *testing.T, s storagetest.PackStore) {
			t.Helper()
			execute(t, s.(*Store), `UPDATE qos_frame SET body = substr(body, 1, length(body) - 1) WHERE (session, seq, idx) =
				(SELECT f.session, f.seq, f.idx FROM qos_frame f JOIN qos_session s ON s.key = f.session WHERE f.activity ORDER BY s.id DESC LIMIT 1)`)
		},
		Rows: func(t *testing.T, s storagetest.PackStore) int {
			t.Helper()
			n := int64(0)
			for _, table := range []string{"qos_session", "qos_place", "qos_frame", "qos_chunk", "qos_packed", "qos_conference", "qos_participant", "qos_term", "qos_rename", "qos_document", "qos_visit"} {
				n += query[int64](t, s.(*Store), `SELECT count(*) FROM `+table)
			}
			return int(n)
		},
	})
}
