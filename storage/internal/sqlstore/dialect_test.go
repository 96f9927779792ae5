package sqlstore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSQL(t *testing.T) {
	f := func(statement, sqlite, postgres string) {
		t.Helper()
		for range 2 { // the second is remembered
			require.Equal(t, sqlite, SQLite.SQL(statement))
			require.Equal(t, postgres, Postgres.SQL(statement))
		}
	}
	f(`SELECT a FROM {table term} t {by term_place} WHERE b = ? AND c = ? {fence}`,
		`SELECT a FROM term t INDEXED BY term_place WHERE b = ? AND c = ? LIMIT 1`,
		`SELECT a FROM qos_term t  WHERE b = $1 AND c = $2 OFFSET 0`)
	f(`{has label t} AND {has failed c}`,
		`EXISTS (SELECT 1 FROM conference x INDEXED BY conference_label WHERE x.label = ? AND x.label <> '' AND x.start_ms = t.start_ms AND x.key = t.conference LIMIT 1)`+
			` AND EXISTS (SELECT 1 FROM conference x INDEXED BY conference_outcome WHERE x.outcome IN (?, ?, ?) AND x.outcome IS NOT NULL AND x.start_ms = c.start_ms AND x.key = c.key LIMIT 1)`,
		`c.label = $1 AND c.outcome IN ($2, $3, $4)`)
	f(`FROM {keys} k {join} {table session} s ON s.key = k.key LIMIT ?`,
		`FROM (SELECT value AS key FROM json_each(?)) k CROSS JOIN session s ON s.key = k.key LIMIT ?`,
		`FROM (SELECT * FROM unnest($1::bigint[], $2::bigint[]) u (place, key)) k JOIN qos_session s ON s.key = k.key LIMIT $3`)
	f(`ON {place r k} r.conference = k.key`, `ON  r.conference = k.key`, `ON r.place = k.place AND r.conference = k.key`)
	f(`SELECT {key f} {key} 1 FROM f, p WHERE {of p} {of} f.a = ? {indays f} {indays} {sameday p f}`,
		`SELECT   1 FROM f, p WHERE   f.a = ?   `,
		`SELECT f.place, place, 1 FROM f, p WHERE p.place = $1 AND place = $2 AND f.a = $3 AND f.day = ANY ($4::int[]) AND day = ANY ($5::int[]) AND p.day = f.day`)
	f(`DELETE FROM {table frame} WHERE {first frame} a = ? {most}`,
		`DELETE FROM frame WHERE rowid IN (SELECT rowid FROM frame WHERE a = ? LIMIT ?)`, `DELETE FROM qos_frame WHERE  a = $1 `)
	require.PanicsWithValue(t, "statement has {tabel}", func() { SQLite.SQL(`{tabel x}`) })
}

func TestValues(t *testing.T) {
	values := []any{Text("a\x00"), int64(7), Keys{[]int64{9, 8}, []int64{3, -1}}, Keys{}, []byte{1}, nil}
	require.Equal(t, []any{"a\x00", int64(7), "[3,-1]", "[]", []byte{1}, nil}, SQLite.Values(values))
	require.Equal(t, []any{[]byte("a\x00"), int64(7), []int64{9, 8}, []int64{3, -1}, []int64(nil), []int64(nil), []byte{1}, nil}, Postgres.Values(values))
	bounds := []any{Place(3), Days{1, 2}, Most(4), 5}
	require.Equal(t, []any{int64(4), 5}, SQLite.Values(bounds))
	require.Equal(t, []any{int64(3), []int32{1, 2}, 5}, Postgres.Values(bounds))
	require.Equal(t, Text("a\x00"), values[0], "the caller's stay")
}
