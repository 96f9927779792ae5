package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

func openHashed(tb testing.TB, dsn string) *Store {
	tb.Helper()
	return openWith(tb, dsn, threePartitions)
}

// tempHashed opens an empty store with hash partitions.
func tempHashed(tb testing.TB) *Store {
	tb.Helper()
	return open(tb, copyOf(tb, "hashed", threePartitions))
}

var threePartitions = Options{HashPartitions: 3, patience: unhurried}

// The tables of conferences can be partitioned by the hash of (AppID, conferenceID).
//
// spec: SRV-03, CONF-01
func TestConformanceHashed(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, func(t *testing.T) (storage.Writer, storage.Reader) {
		t.Helper()
		s := tempHashed(t)
		return s, s
	})
}

// A collector that is configured otherwise uses what is there; days get as many partitions.
func TestHashPartitionsStay(t *testing.T) {
	dsn := database(t)
	openHashed(t, dsn)
	s := open(t, dsn)
	mustAppend(t, s, statsFrame(1, 1, noon))
	children := func(table string) int64 {
		return query[int64](t, s, `SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent WHERE c.relname ~ $1`, "^"+table+"$")
	}
	for table := range placeTables {
		require.EqualValues(t, 3, children(table), table)
	}
	for _, table := range dayTables {
		require.EqualValues(t, 3, children(table+"_[0-9]+"), table)
	}
	require.Zero(t, query[int64](t, temp(t), `SELECT count(*) FROM pg_inherits WHERE inhparent = 'qos_conference'::regclass`))
}

// A number of hash partitions out of range is refused before the database is tried.
func TestHashPartitionsAreBounded(t *testing.T) {
	for _, number := range []int{-1, MaxHashPartitions + 1} {
		_, err := Open(t.Context(), "postgres://127.0.0.1:1/nowhere", Options{HashPartitions: number})
		require.EqualError(t, err, fmt.Sprintf("open store: HashPartitions must be 0 to 64 (got %d)", number))
	}
	s, err := Open(t.Context(), database(t), Options{HashPartitions: MaxHashPartitions})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	mustAppend(t, s, statsFrame(1, 1, noon))
	page, err := s.Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	require.Len(t, page.Conferences, 1)
}

// sharedTables belong to no conference. Points and notices are queues, which are read by their keys.
var sharedTables = []string{
	"qos_session", "qos_visit", "qos_term", "qos_hour", "qos_setting", "qos_setting_counter", "qos_migration", "qos_point", "qos_notice", "qos_login", "qos_audit",
	"qos_precall", "qos_precall_term",
}

// Every primary and unique key of a conference's tables begins with the key of (AppID, conferenceID).
func TestKeysBeginWithThePlace(t *testing.T) {
	s := temp(t)
	var keys []string
	require.NoError(t, s.read.withConn(t.Context(), func(conn *pgx.Conn) (err error) {
		keys, err = collect[string](conn.Query(t.Context(), `SELECT c.relname || '.' || a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
			WHERE i.indisunique AND c.relname ~ '^qos_' AND NOT c.relname = ANY ($1) ORDER BY 1`, sharedTables))
		return err
	}))
	require.Equal(t, []string{
		"qos_chunk.place", "qos_conference.place", "qos_document.place", "qos_frame.place", "qos_packed.place", "qos_participant.place",
		"qos_place.key", "qos_rename.place", "qos_unattached.place",
	}, keys)
}

var hashPartition = regexp.MustCompile(`\b(qos_[a-z]+(?:_[0-9]+)?)_h[0-9]+\b`)

// touched returns the hash partitions that a statement reads, by table.
func touched(t *testing.T, s *Store, sql string, values ...any) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	for line := range strings.Lines(explain(t, s, "ANALYZE, COSTS OFF", sql, values...)) {
		found := hashPartition.FindStringSubmatch(line)
		if found == nil || strings.Contains(line, "never executed") || !strings.Contains(line, " on ") {
			continue
		}
		if out[found[1]] == nil {
			out[found[1]] = map[string]bool{}
		}
		out[found[1]][found[0]] = true
	}
	return out
}

// What is asked of one conference reads one partition of each table.
func TestHashPartitionsArePruned(t *testing.T) {
	s := tempHashed(t)
	for n := range 30 {
		b := statsFrame(n, 1, noon)
		for i := range b.Records {
			b.Records[i].ConferenceID = fmt.Sprint("conference ", n)
		}
		mustAppend(t, s, b)
	}
	ref := storage.Ref{AppID: "app", ConferenceID: "conference 7", At: noon}
	var asked []question
	db := s.database()
	view := db.View
	db.View = func(ctx context.Context, read func(sqlstore.Tx) error) error {
		return view(ctx, func(tx sqlstore.Tx) error { return read(spy{tx, &asked}) })
	}
	_, err := sqlstore.NewLists(db).Conference(t.Context(), ref)
	require.NoError(t, err)
	var at sqlstore.Located
	require.NoError(t, view(t.Context(), func(tx sqlstore.Tx) (err error) { at, err = sqlstore.Find(tx, ref); return err }))
	days := []int32{query[int32](t, s, `SELECT max(day) FROM qos_session`)}
	asked = append(asked, question{dialect.SQL(sqlstore.ActivityRows), []any{at.Place, at.Span.Start, at.Span.End, days, int64(0), int64(0), make([]byte, 16), int64(0), int32(0), frames.MaxTime}})
	tables := map[string]bool{}
	for _, one := range asked {
		for table, partitions := range touched(t, s, one.sql, one.values...) {
			require.Len(t, partitions, 1, "%s\n%s", one.sql, explain(t, s, "ANALYZE, COSTS OFF", one.sql, one.values...))
			tables[table] = true
		}
	}
	require.Contains(t, tables, "qos_conference")
	require.Contains(t, tables, "qos_participant")
	require.Contains(t, tables, fmt.Sprint("qos_frame_", days[0]))
}
