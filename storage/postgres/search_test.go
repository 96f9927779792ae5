package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/storage/internal/term"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: CONF-02
func TestDocuments(t *testing.T) {
	storagetest.RunDocuments(t, func(t *testing.T) storagetest.Store { t.Helper(); return temp(t) },
		func(t *testing.T, s storagetest.Store, change func([]byte) []byte) {
			t.Helper()
			column := query[[]byte](t, s.(*Store), `SELECT body FROM qos_document`)
			execute(t, s.(*Store), `UPDATE qos_document SET body = $1`, change(column))
		})
}

// fill makes 20,000 conferences in two weeks: of 200 apps, one in ten under a name that is
// used again, one in 1,000 of a rare outcome, one in 2,000 without a summary, one in 1,000
// longer than a day.
var fill = []string{
	`INSERT INTO qos_place (key, app_id, conference_id) 		SELECT i, convert_to('app ' || i % 200, 'UTF8'), convert_to('room ' || i, 'UTF8') FROM generate_series(1, 20000) i`,
	`INSERT INTO qos_conference (place, app_id, start_ms, end_ms, revision, summary_start, summary_end, outcome, participants, mos, label, cause)
		SELECT CASE WHEN i % 10 = 0 THEN i % 200 + 1 ELSE i END, convert_to('app ' || i % 200, 'UTF8'), at, until,
			CASE WHEN i % 2000 > 0 THEN 1 END, at, until, CASE WHEN i % 1000 = 1 THEN 'rare'::bytea ELSE 'success' END, 2, 1 + (i * 7919 % 400)::float8 / 100,
			CASE WHEN i % 500 = 3 THEN 'poor'::bytea ELSE 'good' END, CASE WHEN i % 1000 = 3 THEN 'rare'::bytea ELSE 'none' END
		FROM (SELECT i, $1::bigint + i * 60000 AS at, $1::bigint + i * 60000 + CASE WHEN i % 1000 = 2 THEN 90000000 ELSE 600000 END AS until
			FROM generate_series(1, 20000) i) c`,
	`INSERT INTO qos_term (term, start_ms, place, conference, recorded)
		SELECT (key % 300 + n * 7000) * 65536, start_ms, place, key, false FROM qos_conference, generate_series(1, 5) n`,
	`ANALYZE qos_term`, `ANALYZE qos_place`, `ANALYZE qos_conference`,
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
	*s.asked = append(*s.asked, question{dialect.SQL(statement), arguments(values)})
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

// A page of digests begins where the one before ended, without a sort, and is planned for its own values every time.
func TestDigestPlans(t *testing.T) {
	s := temp(t)
	for _, statement := range fill {
		var args []any
		if strings.Contains(statement, "$1") {
			args = []any{noon.UnixMilli()}
		}
		execute(t, s, statement, args...)
	}
	f := func(q storage.DigestQuery, index string) {
		t.Helper()
		var all []question
		db := s.database()
		db.Read = func(ctx context.Context, read func(sqlstore.Tx) error) error {
			return s.withReadConn(ctx, func(ctx context.Context, conn *pgx.Conn) error { return read(spy{querier{ctx, conn}, &all}) })
		}
		require.NoError(t, sqlstore.NewLists(db).Digests(t.Context(), q, func(storage.Digest) bool { return true }))
		one := all[0]
		require.Regexp(t, "^Limit .*\n +->  Index Scan using "+index+" ", plan(t, s, one.sql, one.values...))
		require.Zero(t, query[int](t, s, `SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT c.start_ms, %'`))
	}
	f(storage.DigestQuery{}, "qos_conference_start")
	f(storage.DigestQuery{From: noon.Add(100 * time.Hour), To: noon.Add(124 * time.Hour)}, "qos_conference_start")
	execute(t, s, `UPDATE qos_conference SET app_id = 'app 2' WHERE key % 8 = 0`)
	execute(t, s, `ANALYZE qos_conference`)
	f(storage.DigestQuery{AppID: "app 2"}, "qos_conference_(app|start)") // of an app with many, either
}

// Every kind of question has its index. The second plan is that of the long ones.
//
// spec: DASH-01
func TestSearchPlans(t *testing.T) {
	s := temp(t)
	for _, statement := range fill {
		var args []any
		if strings.Contains(statement, "$1") {
			args = []any{noon.UnixMilli()}
		}
		execute(t, s, statement, args...)
	}
	for _, one := range []term.Term{
		term.New("app 2", term.Alias, "u"), term.New("app 2", term.Site, "s"), term.New("app 2", term.Version, "v"), term.New("app 2", term.Alias, "x"),
	} {
		execute(t, s, `INSERT INTO qos_term (term, start_ms, place, conference, recorded) SELECT $1, start_ms, place, key, false FROM qos_conference
			WHERE app_id = 'app 2' ORDER BY start_ms LIMIT 1`, int64(one))
	}
	window := func(q storage.Query) storage.Query {
		q.From, q.To = noon.Add(100*time.Hour), noon.Add(101*time.Hour)
		q.Limit = 200 // more than there are, so that the long ones are asked for too
		return q
	}
	cursor := storage.Cursor{Start: noon.Add(200 * time.Hour), Key: 7}
	const long = "qos_conference_long"
	f := func(q storage.Query, want ...string) {
		t.Helper()
		got := plans(t, s, q)
		require.GreaterOrEqual(t, len(got), len(want), "%+v", q)
		for i, one := range want {
			require.Regexp(t, "(using|on) "+one+" ", got[i], "%+v", q)
			require.NotContains(t, got[i], "Seq Scan", "%+v", q)
		}
	}
	f(storage.Query{}, "qos_conference_start")
	f(storage.Query{Before: cursor}, "qos_conference_start")
	f(window(storage.Query{}), "qos_conference_start", long)
	f(storage.Query{AppID: "app 2"}, "qos_conference_app")
	f(storage.Query{AppID: "app 2", Before: cursor}, "qos_conference_app")
	f(window(storage.Query{AppID: "app 2"}), "qos_conference_app", long)
	f(storage.Query{Outcome: "rare"}, "qos_conference_outcome")
	f(storage.Query{Outcome: "nobody's"}, "qos_conference_outcome")
	f(storage.Query{AppID: "app 2", Outcome: "rare"}, "qos_conference_app_outcome")
	f(window(storage.Query{AppID: "app 2", Outcome: "rare"}), "qos_conference_app_outcome", "qos_conference_app_outcome") // either is rare
	f(storage.Query{Unsummarised: true}, "qos_conference_open")
	f(storage.Query{AppID: "app 2", Unsummarised: true}, "qos_conference_open")
	f(storage.Query{UserID: "u"}, "qos_term_pkey")
	f(storage.Query{AppID: "app 2", SiteID: "s", ApplicationVersion: "v"}, "qos_term_pkey")
	f(window(storage.Query{SiteID: "s", UserID: "u", Before: cursor}), "qos_term_pkey", long)
	f(storage.Query{UserID: "u", SiteID: "s"}, "qos_term_conference")
	f(storage.Query{AppID: "app 2", Any: "x"}, "qos_term_pkey")
	f(storage.Query{Label: "poor"}, "qos_conference_label")
	f(storage.Query{AppID: "app 2", Label: "poor"}, "qos_conference_app_label")
	f(storage.Query{Cause: "rare"}, "qos_conference_cause")
	f(storage.Query{AppID: "app 2", Cause: "rare"}, "qos_conference_app_cause")
	f(storage.Query{Failed: true}, "qos_conference_outcome", "qos_conference_outcome", "qos_conference_outcome")
	f(storage.Query{AppID: "app 2", Failed: true}, "qos_conference_(app_)?outcome", "qos_conference_(app_)?outcome", "qos_conference_(app_)?outcome") // none has any
	low, high := 1.2, 2.0
	f(storage.Query{MinMOS: &low, MaxMOS: &high}, "qos_conference_band", "qos_conference_band")
	f(storage.Query{AppID: "app 2", MinMOS: &low, MaxMOS: &high}, "qos_conference_app_band", "qos_conference_app_band")
	f(storage.Query{ConferenceID: "room 7"}, "qos_place_conference")
	f(storage.Query{ConferenceID: "room 7"}, "qos_conference_place")
	f(storage.Query{AppID: "app 2", ConferenceID: "room 7"}, "qos_conference_place")
}

// plan returns how PostgreSQL runs a query.
func plan(t *testing.T, s *Store, sql string, args ...any) string {
	t.Helper()
	return explain(t, s, "COSTS", sql, args...)
}

func explain(t *testing.T, s *Store, how, sql string, args ...any) string {
	t.Helper()
	var lines []string
	require.NoError(t, s.read.withConn(t.Context(), func(conn *pgx.Conn) error {
		rows, err := conn.Query(t.Context(), "EXPLAIN ("+how+") "+sql, args...)
		if err != nil {
			return err
		}
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}))
	return strings.Join(lines, "\n")
}

// Each commit of a live call changes end_ms: no index may have to know, not even by way of a
// computed column, unless the call becomes a long one.
func TestStretchStaysOnItsPage(t *testing.T) {
	s := temp(t)
	appendFrames(t, s, 2)
	stretch := func(ms int) (onPage int64) {
		require.NoError(t, s.read.withConn(t.Context(), func(conn *pgx.Conn) error {
			return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
				var before int64
				for _, step := range []struct {
					sql  string
					into *int64
				}{
					{`SELECT coalesce(sum(n_tup_hot_upd), 0) FROM pg_stat_xact_user_tables WHERE relname = 'qos_conference'`, &before},
					{fmt.Sprint(`UPDATE qos_conference SET end_ms = end_ms + `, ms, ` RETURNING 0`), new(int64)},
					{`SELECT sum(n_tup_hot_upd) FROM pg_stat_xact_user_tables WHERE relname = 'qos_conference'`, &onPage},
				} {
					if err := tx.QueryRow(t.Context(), step.sql).Scan(step.into); err != nil {
						return err
					}
				}
				onPage -= before
				return nil
			})
		}))
		return onPage
	}
	require.EqualValues(t, 1, stretch(1000))
	require.EqualValues(t, 0, stretch(24*60*60*1000), "now it is long")
	require.EqualValues(t, 1, stretch(1000))
}
