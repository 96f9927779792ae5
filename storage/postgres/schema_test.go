package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// A store of an unreleased build has the version and lacks tables and columns: that is an error when it is opened, which names them
// and says what to do.
func TestWhatIsMissing(t *testing.T) {
	dsn := database(t)
	s := open(t, dsn)
	require.NoError(t, s.read.withConn(t.Context(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `DROP TABLE qos_login, qos_audit; ALTER TABLE qos_conference DROP COLUMN digest CASCADE; ALTER TABLE qos_notice DROP COLUMN body`)
		return err
	}))
	_, err := Open(t.Context(), dsn, Options{})
	require.ErrorContains(t, err, "its schema lacks the columns qos_conference.digest, qos_notice.body and the tables qos_login, qos_audit: an unreleased build of this program made it")
	require.ErrorContains(t, err, "use an empty store, or the build that made this one")
	require.ErrorContains(t, err, s.name)
}
