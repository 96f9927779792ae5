package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: OUT-03
func TestNotices(t *testing.T) {
	storagetest.RunNotices(t, emptyNotices)
}

func emptyNotices(t *testing.T) storagetest.NoticesStore {
	t.Helper()
	path := empty(t)
	s := open(t, path)
	return storagetest.NoticesStore{Notices: s, Reopen: func(t *testing.T) storage.Notices {
		t.Helper()
		require.NoError(t, s.Close())
		return open(t, path)
	}}
}

// The statements that run each second, and for each point and notice, use an index.
func TestNoticesPlans(t *testing.T) {
	s := temp(t)
	require.Contains(t, plan(t, s, dialect.SQL(sqlstore.PointStored), []byte("i"), 1, 2), "INDEX point_identity (identity=? AND start_ms<?)")
	require.Contains(t, plan(t, s, dialect.SQL(sqlstore.PointsAfter), 1, 2, 3), "SEARCH point USING INTEGER PRIMARY KEY (rowid>?)")
	require.Contains(t, plan(t, s, dialect.SQL(sqlstore.NoticesPending), "a", "h"), "COVERING INDEX notice_due (app_id=? AND hook=?)")
	next := plan(t, s, dialect.SQL(sqlstore.NoticesNext), "a", "h", 9)
	for _, step := range []string{"notice USING COVERING INDEX notice_due ((app_id,hook)>(?,?))", "m USING COVERING INDEX notice_due (app_id=? AND hook>?)", "m USING COVERING INDEX notice_due (app_id>?)"} {
		require.Contains(t, next, "SEARCH "+step)
	}
}
