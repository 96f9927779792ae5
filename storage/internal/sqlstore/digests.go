package sqlstore

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// Bounds of a page of Digests.
const (
	digestRows  = 1000
	digestBytes = 1 << 20
)

// digestsOfAll and digestsOfApp select a page of digests after a cursor.
const (
	digestColumns = `SELECT c.start_ms, c.key, c.end_ms, c.app_id, c.digest FROM {table conference} c `
	digestsFrom   = `c.start_ms < ? AND (c.start_ms, c.key) > (?, ?) ORDER BY c.start_ms, c.key LIMIT ?`
	digestsOfAll  = digestColumns + `{by conference_start} WHERE ` + digestsFrom
	digestsOfApp  = digestColumns + `{by conference_app} WHERE c.app_id = ? AND ` + digestsFrom
)

// Digests implements storage.Reader.
func (l Lists) Digests(ctx context.Context, q storage.DigestQuery, yield func(storage.Digest) bool) error {
	p := newDigestPage(q)
	for more := true; more; {
		err := l.db.Read(ctx, func(tx Tx) (err error) { more, err = p.read(tx); return err })
		if err != nil {
			return l.db.Wrap("read digests", err)
		}
		for i := range p.rows {
			if !yield(p.digest(i)) {
				return nil
			}
		}
	}
	return nil
}

// digestPage is the conferences that one statement reads. Its memory is reused for the next page.
type digestPage struct {
	statement  string
	values     []any // the first values of the statement
	to         int64 // upper bound of start
	start, key int64 // of the last row; before all rows if none was read
	apps       names // AppIDs of all pages
	rows       []digestRow
	bodies     []byte // bodies of all rows
	dest       []any
	row        digestRow // the row that dest points to
}

// digestRow is one conference; its body is bodies[from:to].
type digestRow struct {
	start, end int64
	app        string
	from, to   int
	summarised bool
}

func newDigestPage(q storage.DigestQuery) *digestPage {
	p := &digestPage{statement: digestsOfAll, values: []any{Fresh{}}, to: math.MaxInt64, start: math.MinInt64, key: math.MinInt64, apps: names{}}
	if !q.From.IsZero() {
		p.start = frames.CeilMs(q.From)
	}
	if !q.To.IsZero() {
		p.to = frames.CeilMs(q.To)
	}
	if q.AppID != "" {
		p.statement, p.values = digestsOfApp, append(p.values, Text(q.AppID))
	}
	p.dest = []any{&p.row.start, &p.key, &p.row.end, column(func(b []byte) { p.row.app = p.apps.intern(b) }), column(p.body)}
	return p
}

// errFull is returned by a scan function when the page is full.
var errFull = errors.New("the page is full")

// read reads the next page, and reports whether there may be another one.
func (p *digestPage) read(tx Tx) (more bool, err error) {
	p.rows, p.bodies = p.rows[:0], p.bodies[:0]
	err = tx.Each(func(row Row) error {
		p.row = digestRow{from: len(p.bodies)}
		if err := row.Scan(p.dest...); err != nil {
			return err
		}
		p.row.to, p.start = len(p.bodies), p.row.start
		if p.rows = append(p.rows, p.row); len(p.rows) == digestRows || len(p.bodies) >= digestBytes {
			more = true
			return errFull
		}
		return nil
	}, p.statement, append(slices.Clip(p.values), p.to, p.start, p.key, digestRows)...)
	if errors.Is(err, errFull) {
		err = nil
	}
	return more, err
}

func (p *digestPage) body(b []byte) {
	p.bodies, p.row.summarised = append(p.bodies, b...), b != nil
}

// digest returns conference i of the page.
func (p *digestPage) digest(i int) storage.Digest {
	r := &p.rows[i]
	d := storage.Digest{AppID: r.app, Start: frames.FromMs(r.start), End: frames.FromMs(r.end)}
	if r.summarised {
		d.Body = p.bodies[r.from:r.to:r.to]
	}
	return d
}

// column receives the bytes of a column, nil for NULL. They are valid until it returns: drivers do not copy them.
type column func(b []byte)

// Scan implements sql.Scanner.
func (c column) Scan(value any) error {
	switch value := value.(type) {
	case []byte:
		c(value)
	case string:
		c([]byte(value))
	default:
		c(nil)
	}
	return nil
}

// names caches strings that occur often.
type names map[string]string

func (n names) intern(b []byte) string {
	name, ok := n[string(b)]
	if !ok {
		name = string(b)
		n[name] = name
	}
	return name
}

// digestsOf selects the digests of some conferences.
const digestsOf = `SELECT c.key, c.digest FROM {keys} k {join} {table conference} c ON {place c k} c.key = k.key WHERE c.digest IS NOT NULL`

// addDigests adds the digests of summaries, if the query wants them.
func addDigests(tx Tx, q storage.Query, rows []listRow) error {
	if !q.Digests || len(rows) == 0 {
		return nil
	}
	keys, at := keysOf(rows)
	return tx.Each(func(row Row) error {
		var key int64
		var digest []byte
		err := row.Scan(&key, &digest)
		if summary := rows[at[key]].Summary; err == nil && summary != nil {
			summary.Digest = digest
		}
		return err
	}, digestsOf, keys)
}
