package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/term"
)

// index answers what package join asks for a listing.
type index struct {
	ctx context.Context //nolint:containedctx // it lives as long as one call
	tx  pgx.Tx
}

// termsBetween steps from term to term: it reads no more than it returns.
const termsBetween = `WITH RECURSIVE s(term) AS (SELECT (SELECT min(term) FROM qos_term WHERE term BETWEEN $1 AND $2)
		UNION ALL SELECT (SELECT min(t.term) FROM qos_term t WHERE t.term > s.term AND t.term <= $2) FROM s WHERE s.term IS NOT NULL)
	SELECT term FROM s WHERE term IS NOT NULL LIMIT $3`

// Terms implements join.Index.
func (x index) Terms(low, high term.Term, limit int) ([]term.Term, error) {
	return collect[term.Term](x.tx.Query(x.ctx, termsBetween, int64(low), int64(high), limit))
}

// Count implements join.Index.
func (x index) Count(p join.Part, limit int) (n int, err error) {
	err = x.tx.QueryRow(x.ctx, counting(p), append(p.Args, limit)...).Scan(&n)
	return n, err
}

// Rows implements join.Index.
func (x index) Rows(p join.Part, limit int) ([]listed, error) {
	return scanConferences(x.ctx, x.tx, listing(p), append(p.Args, limit)...)
}

// counting is the number of rows that a part looks through as SQL.
func counting(p join.Part) string {
	from := `qos_conference c`
	switch p.By {
	case join.ByTerm:
		from = `qos_term t`
	case join.ByPlace:
		from = `qos_conference c JOIN qos_place p ON p.key = c.place`
	}
	return numbered(`SELECT count(*) FROM (SELECT 1 FROM ` + from + ` ` + p.Where + ` LIMIT ?) counted`)
}

// listing is a part of a listing as SQL after the columns of conferenceColumns.
func listing(p join.Part) string {
	where := strings.NewReplacer(join.TermTable, `qos_term`, join.Fence, `OFFSET 0`).Replace(p.Where)
	if p.By == join.ByTerm {
		return numbered(`FROM qos_term t JOIN qos_conference c ON c.key = t.conference JOIN qos_place p ON p.key = c.place ` + where +
			` ORDER BY t.start_ms DESC, t.conference DESC LIMIT ?`)
	}
	return numbered(fromConferences + where + ` ORDER BY c.start_ms DESC, c.key DESC LIMIT ?`)
}

// addMatched says as what each row was found.
func addMatched(ctx context.Context, tx pgx.Tx, q storage.Query, found []listed) error {
	m, ok := join.NewMatcher(q)
	if !ok || len(found) == 0 {
		return nil
	}
	index, keys := map[int64]int{}, make([]int64, len(found))
	for i := range found {
		index[found[i].key], keys[i] = i, found[i].key
		m.ID(&found[i].Conference)
	}
	rows, err := tx.Query(ctx, `SELECT conference, term FROM qos_term WHERE conference = ANY ($1) AND term BETWEEN $2 AND $3 ORDER BY conference, term`,
		keys, int64(m.Low), int64(m.High))
	if err != nil {
		return err
	}
	var one told
	_, err = pgx.ForEachRow(rows, []any{&one.conference, &one.term}, func() error {
		m.Term(&found[index[one.conference]].Conference, one.term)
		return nil
	})
	return err
}
