package sqlite

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/storagetest"
)

// spec: CONF-02
func TestDocuments(t *testing.T) {
	storagetest.RunDocuments(t, func(t *testing.T) storagetest.Store { t.Helper(); return temp(t) },
		func(t *testing.T, s storagetest.Store, change func([]byte) []byte) {
			t.Helper()
			require.NoError(t, s.(*Store).writer.do(t.Context(), job{run: func(tx *tx) error {
				var column []byte
				if err := tx.row("SELECT document FROM conference WHERE revision IS NOT NULL").Scan(&column); err != nil {
					return err
				}
				return tx.exec("UPDATE conference SET document = ? WHERE revision IS NOT NULL", change(column))
			}}))
		})
}

// plan returns how SQLite runs a query.
func plan(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	require.NoError(t, err, query)
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
		plan.WriteString(detail + "\n")
	}
	require.NoError(t, rows.Err())
	return plan.String()
}

// Every kind of question has its index, is answered in the index's order, and does not look
// through what is older than it must. The second plan is that of the long ones.
//
// spec: DASH-01
func TestSearchPlans(t *testing.T) {
	s := temp(t)
	const start, long = "(start_ms>? AND start_ms<?)", "SEARCH c USING INDEX conference_long (start_ms<?)"
	window := func(q storage.Query) storage.Query { q.From, q.To = noon, noon.Add(time.Hour); return q }
	cursor := storage.Cursor{Start: noon, Key: 7}
	f := func(q storage.Query, want ...string) {
		t.Helper()
		parts := join.Parts(q, func(s string) any { return s })
		require.Len(t, parts, len(want))
		for i, part := range parts {
			got := plan(t, s, conferenceColumns+listing(q, part), append(part.Args, 51)...)
			require.Contains(t, got, want[i]+"\n", "%+v", q)
			require.Contains(t, got, "SEARCH p USING")
			require.Equal(t, q.ConferenceID != "" && q.AppID == "", strings.Contains(got, "TEMP B-TREE"), got)
		}
	}
	f(storage.Query{}, "SCAN c USING INDEX conference_start")
	f(storage.Query{Before: cursor}, "SEARCH c USING INDEX conference_start (start_ms<?)")
	f(window(storage.Query{}), "SEARCH c USING INDEX conference_start "+start, long)
	f(storage.Query{AppID: "a"}, "SEARCH c USING INDEX conference_app (app_id=?)")
	f(storage.Query{AppID: "a", Before: cursor}, "SEARCH c USING INDEX conference_app (app_id=? AND start_ms<?)")
	f(window(storage.Query{AppID: "a"}), "SEARCH c USING INDEX conference_app (app_id=? AND start_ms>? AND start_ms<?)", long)
	f(storage.Query{Outcome: "o"}, "SEARCH c USING INDEX conference_outcome (outcome=?)")
	f(window(storage.Query{Outcome: "o"}), "SEARCH c USING INDEX conference_outcome (outcome=? AND start_ms>? AND start_ms<?)", long)
	f(storage.Query{AppID: "a", Outcome: "o"}, "SEARCH c USING INDEX conference_app_outcome (app_id=? AND outcome=?)")
	f(window(storage.Query{AppID: "a", Outcome: "o", Before: cursor}),
		"SEARCH c USING INDEX conference_app_outcome (app_id=? AND outcome=? AND start_ms>? AND start_ms<?)", long)
	f(storage.Query{Unsummarised: true}, "SCAN c USING INDEX conference_open")
	f(storage.Query{AppID: "a", Unsummarised: true, Outcome: "o"}, "SEARCH c USING INDEX conference_app_open (app_id=?)")
	f(window(storage.Query{Unsummarised: true}), "SEARCH c USING INDEX conference_open "+start, long)
	f(storage.Query{ConferenceID: "c"}, "SEARCH p USING INDEX place_conference (conference_id=?)")
	f(storage.Query{ConferenceID: "c"}, "SEARCH c USING INDEX conference_place (place=?)")
	f(storage.Query{AppID: "a", ConferenceID: "c"}, "SEARCH p USING COVERING INDEX sqlite_autoindex_place_1 (app_id=? AND conference_id=?)")
	f(window(storage.Query{AppID: "a", ConferenceID: "c"}),
		"SEARCH c USING INDEX conference_place (place=? AND start_ms>? AND start_ms<?)", "SEARCH c USING INDEX conference_place (place=? AND start_ms<?)")

	require.NotContains(t, plan(t, s, participantsOf, "[1]"), "SCAN p")
	require.NotContains(t, plan(t, s, participantsOf, "[1]"), "SCAN s")
}
