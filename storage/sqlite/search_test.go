package sqlite

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: CONF-02
func TestDocuments(t *testing.T) {
	storagetest.RunDocuments(t, func(t *testing.T) storagetest.Store { t.Helper(); return temp(t) },
		func(t *testing.T, s storagetest.Store, change func([]byte) []byte) {
			t.Helper()
			require.NoError(t, s.(*Store).writer.do(t.Context(), job{run: func(tx *tx) error {
				var column []byte
				if err := tx.row("SELECT body FROM document").Scan(&column); err != nil {
					return err
				}
				return tx.exec("UPDATE document SET body = ?", change(column))
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

// spy notes what is asked of a store.
type spy struct {
	sqlstore.Tx
	asked *[]question
}

type question struct {
	sql    string
	values []any
}

// Each implements sqlstore.Tx.
func (s spy) Each(scan func(sqlstore.Row) error, statement string, values ...any) error {
	*s.asked = append(*s.asked, question{dialect.SQL(statement), dialect.Values(values)})
	return s.Tx.Each(scan, statement, values...)
}

// statements returns what a query asks of a store.
func statements(t *testing.T, s *Store, q storage.Query) (all []question) {
	t.Helper()
	db := s.database()
	view := db.View
	db.View = func(ctx context.Context, read func(sqlstore.Tx) error) error {
		return view(ctx, func(tx sqlstore.Tx) error { return read(spy{tx, &all}) })
	}
	_, err := sqlstore.NewLists(db).Conferences(t.Context(), q)
	require.NoError(t, err)
	return all
}

// plans returns how the statements that list conferences are answered.
func plans(t *testing.T, s *Store, q storage.Query) (out []string) {
	t.Helper()
	for _, one := range statements(t, s, q) {
		if strings.HasPrefix(one.sql, "SELECT c.key") {
			out = append(out, plan(t, s, one.sql, one.values...))
		}
	}
	return out
}

// A page of digests begins where the one before ended, without a sort.
func TestDigestPlans(t *testing.T) {
	s := temp(t)
	f := func(q storage.DigestQuery, want string) {
		t.Helper()
		var all []question
		db := s.database()
		db.Read = func(ctx context.Context, read func(sqlstore.Tx) error) error {
			return read(spy{querier{ctx, s.read}, &all})
		}
		require.NoError(t, sqlstore.NewLists(db).Digests(t.Context(), q, nil))
		require.Equal(t, want+"\n", plan(t, s, all[0].sql, all[0].values...))
	}
	f(storage.DigestQuery{}, "SEARCH c USING INDEX conference_start (start_ms>? AND start_ms<?)")
	f(storage.DigestQuery{AppID: "a", From: noon}, "SEARCH c USING INDEX conference_app (app_id=? AND start_ms>? AND start_ms<?)")
}

// Every kind of question has its index, is answered in the index's order, and does not look
// through what is older than it must. The second plan is that of the long ones.
//
// spec: DASH-01
func TestSearchPlans(t *testing.T) {
	s := temp(t)
	b := statsFrame(1, 1, noon)
	b.Session.AppID, b.Session.UserID, b.Session.UserAlias = "a", "u", "x"
	b.Session.Details = map[string]string{semconv.SiteID: "s", semconv.ApplicationVersion: "v"}
	_, err := s.Append(t.Context(), []storage.Batch{b})
	require.NoError(t, err)
	const start, long = "(start_ms>? AND start_ms<?)", "SEARCH c USING INDEX conference_long (start_ms<?)"
	window := func(q storage.Query) storage.Query { q.From, q.To = noon, noon.Add(time.Hour); return q }
	cursor := storage.Cursor{Start: noon, Key: 7}
	f := func(q storage.Query, want ...string) {
		t.Helper()
		got := plans(t, s, q)
		require.GreaterOrEqual(t, len(got), len(want), "%+v", q)
		for i, one := range want {
			require.Contains(t, got[i], one+"\n", "%+v", q)
			require.Contains(t, got[i], "SEARCH p USING")
			require.Equal(t, q.ConferenceID != "" && q.AppID == "", strings.Contains(got[i], "TEMP B-TREE"), got[i])
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

	const outcome, band = "SEARCH c USING INDEX conference_outcome (outcome=?)", "SEARCH c USING INDEX conference_band (mos_band=?)"
	const term = "SEARCH t USING PRIMARY KEY (term=?"
	f(storage.Query{UserID: "u"}, term+")")
	f(storage.Query{AppID: "a", SiteID: "s", ApplicationVersion: "v"}, term+")")
	f(window(storage.Query{SiteID: "s", UserID: "u", Before: cursor}), term+" AND start_ms>? AND (start_ms,conference)<(?,?))", long)
	f(window(storage.Query{AppID: "a", Any: "x"}), term+" AND start_ms>? AND start_ms<?)",
		"SEARCH c USING INDEX conference_place (place=? AND start_ms>? AND start_ms<?)", long)
	f(storage.Query{UserID: "u", SiteID: "s"}, "SEARCH x USING COVERING INDEX term_conference (conference=? AND term>? AND term<?)\nSEARCH c USING INTEGER PRIMARY KEY (rowid=?)")
	f(storage.Query{Label: "l"}, "SEARCH c USING INDEX conference_label (label=?)")
	f(window(storage.Query{AppID: "a", Label: "l"}), "SEARCH c USING INDEX conference_app_label (app_id=? AND label=? AND start_ms>? AND start_ms<?)", long)
	f(storage.Query{Cause: "l"}, "SEARCH c USING INDEX conference_cause (cause=?)")
	f(storage.Query{AppID: "a", Cause: "l"}, "SEARCH c USING INDEX conference_app_cause (app_id=? AND cause=?)")
	f(storage.Query{Failed: true}, outcome, outcome, outcome)
	f(window(storage.Query{AppID: "a", Failed: true}), "SEARCH c USING INDEX conference_app_outcome (app_id=? AND outcome=? AND start_ms>? AND start_ms<?)")
	low, high := 1.2, 2.0
	f(storage.Query{MaxMOS: &low}, band, band, band)
	f(storage.Query{MinMOS: &low, MaxMOS: &high}, band, band)
	f(window(storage.Query{AppID: "a", MinMOS: &low, MaxMOS: &high}), "SEARCH c USING INDEX conference_app_band (app_id=? AND mos_band=? AND start_ms>? AND start_ms<?)")
	require.Contains(t, plan(t, s, "UPDATE term SET start_ms = 1 WHERE conference = 2"), "SEARCH term USING INDEX term_conference (conference=?)")
	var all strings.Builder
	for _, one := range statements(t, s, storage.Query{Any: "x"}) {
		all.WriteString(plan(t, s, one.sql, one.values...))
	}
	got := all.String()
	require.Equal(t, 2, strings.Count(got, "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"), "of participants and renames")
	require.Contains(t, got, "SEARCH t USING COVERING INDEX term_conference (conference=? AND term>? AND term<?)")
	for _, scan := range []string{"SCAN p\n", "SCAN r\n", "SCAN term\n", "SCAN t\n"} {
		require.NotContains(t, got, scan)
	}
}
