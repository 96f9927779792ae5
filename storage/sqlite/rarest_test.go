package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/term"
)

// fillMany makes 12,000 conferences of app a: all have version v, every fifth the label poor, every
// fourth from the oldest half on the site s.
var fillMany = []string{
	`INSERT INTO place (key, app_id, conference_id) VALUES (1, 'a', 'c')`,
	`INSERT INTO conference (key, place, app_id, start_ms, end_ms, label)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
		SELECT i, 1, 'a', ?1 + i * 60000, ?1 + i * 60000 + 1000, CASE WHEN i % 5 = 0 THEN 'poor' ELSE 'good' END FROM n`,
	`INSERT INTO term (term, start_ms, conference, recorded) SELECT ?1, start_ms, key, 0 FROM conference`,
	`INSERT INTO term (term, start_ms, conference, recorded) SELECT ?1, start_ms, key, 0 FROM conference WHERE key <= 6000 AND key % 4 = 0`,
}

// A combination is searched by the rarest of its filters, also where each of them has many conferences.
//
// spec: DASH-01
func TestSearchByRarest(t *testing.T) {
	s := temp(t)
	args := [][]any{nil, {noon.UnixMilli()}, {int64(term.New("a", term.Version, "v"))}, {int64(term.New("a", term.Site, "s"))}}
	for i, statement := range fillMany {
		require.NoError(t, s.writer.do(t.Context(), job{run: func(tx *tx) error { return tx.exec(statement, args[i]...) }}))
	}
	const byTerm, byLabel = "SEARCH t USING PRIMARY KEY (term=?", "SEARCH c USING INDEX conference_label (label=?"
	f := func(q storage.Query, rows int, want string) {
		t.Helper()
		require.Contains(t, plans(t, s, q)[0], want)
		page, err := s.Conferences(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, page.Conferences, rows)
	}
	f(storage.Query{ApplicationVersion: "v", Label: "poor", Limit: 200}, 200, byLabel)
	f(storage.Query{SiteID: "s", Label: "poor", Limit: 200}, 200, byTerm)
	f(storage.Query{SiteID: "s", Label: "good", Limit: 200}, 200, byTerm)
	f(storage.Query{ApplicationVersion: "v", Label: "good", Limit: 200}, 200, byLabel)

	// What else is wanted is looked up in indexes, before the row of a conference is read.
	const hasLabel = "CORRELATED SCALAR SUBQUERY 1\nSEARCH x USING COVERING INDEX conference_label (label=? AND start_ms=? AND rowid=?)"
	require.Equal(t, byTerm+")\n"+hasLabel+"\nSEARCH c USING INTEGER PRIMARY KEY (rowid=?)\nSEARCH p USING INTEGER PRIMARY KEY (rowid=?)\n",
		plans(t, s, storage.Query{SiteID: "s", Label: "poor"})[0])
}
