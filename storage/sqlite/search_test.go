package sqlite

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/term"
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

// partsOf is how a listing is answered: by the one index that is the rarest, where there is
// more than one.
func partsOf(q storage.Query) []join.Part {
	text := func(s string) any { return s }
	d := join.Driver{By: join.ByStart, ConferenceID: q.ConferenceID}
	wanted := term.Of(q)
	switch {
	case q.ConferenceID != "":
		d.By = join.ByPlace
	case q.Unsummarised:
		d.By = join.ByOpen
	case len(wanted) > 0:
		d.By, d.Term = join.ByTerm, wanted[0].Low+term.Term(wanted[0].Last)-term.Term(wanted[0].Low.Kind())
	case q.Outcome != "":
		d.By = join.ByOutcome
	case q.Label != "":
		d.By = join.ByLabel
	case q.Cause != "":
		d.By = join.ByCause
	}
	parts := []join.Part{join.UsualPart(q, text, d)}
	if !q.From.IsZero() {
		parts = append(parts, join.LongPart(q, text, []join.Driver{d}))
	}
	return parts
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
		parts := partsOf(q)
		require.Len(t, parts, len(want))
		for i, part := range parts {
			got := plan(t, s, conferenceColumns+listing(part), append(part.Args, 51)...)
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

	const term = "SEARCH t USING PRIMARY KEY (term=?"
	f(storage.Query{UserID: "u"}, term+")")
	f(storage.Query{AppID: "a", SiteID: "s", ApplicationVersion: "v"}, term+")")
	f(window(storage.Query{SiteID: "s", UserID: "u", Before: cursor}), term+" AND start_ms>? AND (start_ms,conference)<(?,?))", long)
	f(window(storage.Query{AppID: "a", Any: "x"}), term+" AND start_ms>? AND start_ms<?)", long)
	f(storage.Query{UserID: "u", SiteID: "s"}, "SEARCH x EXISTS USING COVERING INDEX term_conference (conference=? AND term>? AND term<?)")
	f(storage.Query{Label: "l"}, "SEARCH c USING INDEX conference_label (label=?)")
	f(window(storage.Query{AppID: "a", Label: "l"}), "SEARCH c USING INDEX conference_app_label (app_id=? AND label=? AND start_ms>? AND start_ms<?)", long)
	f(storage.Query{Cause: "l"}, "SEARCH c USING INDEX conference_cause (cause=?)")
	f(storage.Query{AppID: "a", Cause: "l"}, "SEARCH c USING INDEX conference_app_cause (app_id=? AND cause=?)")
	require.NotContains(t, plan(t, s, termsBetween, 1, 2, 3), "SCAN term")
	require.Contains(t, plan(t, s, matching, "[1]", 1, 2), "SEARCH t USING COVERING INDEX term_conference (conference=? AND term>? AND term<?)")
	require.Contains(t, plan(t, s, "UPDATE term SET start_ms = 1 WHERE conference = 2"), "SEARCH term USING INDEX term_conference (conference=?)")

	require.NotContains(t, plan(t, s, participantsOf, "[1]"), "SCAN p")
	require.NotContains(t, plan(t, s, participantsOf, "[1]"), "SCAN s")
}
