package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/term"
)

// index answers what package join asks for a listing.
type index struct {
	ctx context.Context //nolint:containedctx // it lives as long as one call
	tx  *sql.Tx
}

// termsBetween steps from term to term: it reads no more than it returns.
const termsBetween = `WITH RECURSIVE s(term) AS (SELECT (SELECT min(term) FROM term WHERE term BETWEEN ?1 AND ?2)
		UNION ALL SELECT (SELECT min(t.term) FROM term t WHERE t.term > s.term AND t.term <= ?2) FROM s WHERE s.term IS NOT NULL)
	SELECT term FROM s WHERE term IS NOT NULL LIMIT ?3`

// Terms implements join.Index.
func (x index) Terms(low, high term.Term, limit int) (out []term.Term, err error) {
	rows, err := x.tx.QueryContext(x.ctx, termsBetween, low, high, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t term.Term
		if err := rows.Scan(&t); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// Count implements join.Index.
func (x index) Count(p join.Part, limit int) (n int, err error) {
	err = x.tx.QueryRowContext(x.ctx, counting(p), append(p.Args, limit)...).Scan(&n)
	return n, err
}

// Rows implements join.Index.
func (x index) Rows(p join.Part, limit int) ([]listed, error) {
	return scanConferences(x.ctx, x.tx, listing(p), append(p.Args, limit)...)
}

// counting is the number of rows that a part looks through as SQL.
func counting(p join.Part) string {
	from := `conference c INDEXED BY ` + indexName(p)
	switch p.By {
	case join.ByTerm:
		from = `term t`
	case join.ByPlace:
		from = byPlace
	}
	return `SELECT count(*) FROM (SELECT 1 FROM ` + from + ` ` + p.Where + ` LIMIT ?)`
}

const byPlace = `place p CROSS JOIN conference c INDEXED BY conference_place ON c.place = p.key`

// listing is a part of a listing as SQL after FROM. It names its index, and so the order
// of the join: the planner has no statistics, and does not know what is rare.
func listing(p join.Part) string {
	where := ` ` + strings.NewReplacer(join.TermTable, `term`, join.Fence, ``).Replace(p.Where)
	const order = ` ORDER BY c.start_ms DESC, c.key DESC LIMIT ?`
	switch p.By {
	case join.ByTerm:
		return `term t CROSS JOIN conference c ON c.key = t.conference CROSS JOIN place p ON p.key = c.place` + where +
			` ORDER BY t.start_ms DESC, t.conference DESC LIMIT ?`
	case join.ByPlace:
		return byPlace + where + order
	}
	return `conference c INDEXED BY ` + indexName(p) + ` CROSS JOIN place p ON p.key = c.place` + where + order
}

// indexName returns the index of conferences that has the fewest rows for a part.
func indexName(p join.Part) string {
	if p.By == join.ByLong {
		return "conference_long"
	}
	name := map[join.By]string{join.ByOpen: "_open", join.ByOutcome: "_outcome", join.ByLabel: "_label", join.ByCause: "_cause"}[p.By]
	switch {
	case p.App:
		return "conference_app" + name
	case name == "":
		return "conference_start"
	}
	return "conference" + name
}

// matching finds those of some conferences' terms that are of one value.
const matching = `SELECT t.conference, t.term FROM json_each(?) k
	CROSS JOIN term t INDEXED BY term_conference ON t.conference = k.value AND t.term BETWEEN ? AND ?`

// addMatched says as what each row was found.
func addMatched(ctx context.Context, tx *sql.Tx, q storage.Query, found []listed) error {
	m, ok := join.NewMatcher(q)
	if !ok || len(found) == 0 {
		return nil
	}
	index, keys := map[int64]int{}, make([]int64, len(found))
	for i := range found {
		index[found[i].key], keys[i] = i, found[i].key
		m.ID(&found[i].Conference)
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, matching, string(list), m.Low, m.High)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key int64
		var t term.Term
		if err := rows.Scan(&key, &t); err != nil {
			return err
		}
		m.Term(&found[index[key]].Conference, t)
	}
	return rows.Err()
}
