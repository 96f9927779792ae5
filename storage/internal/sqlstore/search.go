package sqlstore

import (
	"slices"
	"strings"
	"time"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/term"
)

const (
	defaultLimit = 50
	maxLimit     = 200
	// maxStreams bounds the terms that drive a listing: if more apps have a value than
	// this, most conferences have it, and another index is used.
	maxStreams = 64
)

// pageLimit returns the number of rows of a page for a requested limit.
func pageLimit(requested int) int {
	if requested <= 0 {
		return defaultLimit
	}
	return min(requested, maxLimit)
}

// dayMs is a day. Few conferences last longer; the column long marks them.
const dayMs = 24 * 60 * 60 * 1000

// indexKind is the index that drives a part of a listing.
type indexKind int

// The indexes. Each is in order of (start, key) for one value.
const (
	indexStart indexKind = iota
	indexOpen
	indexOutcome
	indexLabel
	indexCause
	indexBand         // of scores
	indexConferenceID // of one conferenceID
	indexTerm         // of one term
	indexLong         // conferences that last longer than a day
)

// part is a part of a listing: SQL over a conference c, the row p of its conferenceID and, for indexTerm, the term
// t.
type part struct {
	kind  indexKind
	app   bool // of one app
	where string
	args  []any // in the order of the question marks
}

// driver selects the rows that a listing reads: the conferences of one term, of one conferenceID,
// or of one value of an index.
type driver struct {
	kind         indexKind
	term         term.Term
	conferenceID string
	outcome      string // one of the outcomes of failed conferences; empty: that of the query
	band         int
	since        int64 // rows that started before are not needed; 0: all are
}

// row returns the name of the row of the driver's index.
func (d driver) row() string {
	if d.kind == indexTerm {
		return "t"
	}
	return "c"
}

// search is one query in one snapshot of the store.
type search struct {
	tx Tx
	q  storage.Query
}

// rows returns the rows of a page, the newest first, and one more if there are more.
//
// A query with a From has two parts, and the listing is all of the first, then all of the
// second. Without a lower bound of start, the search for conferences that have not ended by From
// would read everything older. So the first part starts a day before From, and
// the few that last longer than a day and started before that are the second.
func (s *search) rows() ([]listRow, error) {
	limit := pageLimit(s.q.Limit) + 1
	drivers, ok, err := s.drivers()
	if err != nil || !ok {
		return nil, err
	}
	rows, err := s.drive(drivers, limit)
	if err != nil || s.q.From.IsZero() || len(rows) >= limit {
		return rows, err
	}
	more, err := s.partRows(longPart(s.q, drivers), limit-len(rows))
	return append(rows, more...), err
}

// drive merges the rows of the drivers.
func (s *search) drive(drivers []driver, limit int) (rows []listRow, err error) {
	for _, d := range drivers {
		if len(rows) == limit {
			d.since = rows[limit-1].Start.UnixMilli()
		}
		some, err := s.partRows(usualPart(s.q, d), limit)
		if err != nil {
			return nil, err
		}
		rows = newest(append(rows, some...), limit)
	}
	return rows, nil
}

// newest returns the newest rows, each once.
func newest(rows []listRow, limit int) []listRow {
	slices.SortFunc(rows, func(a, b listRow) int { return a.cursor().Compare(b.cursor()) })
	rows = slices.CompactFunc(rows, func(a, b listRow) bool { return a.key == b.key })
	return rows[:min(len(rows), limit)]
}

// drivers returns the drivers for a query: those of the condition that the
// fewest conferences fulfil. It is false if no conference can match.
func (s *search) drivers() ([]driver, bool, error) {
	if noScore(s.q) {
		return nil, false, nil
	}
	var choices [][]driver
	for _, w := range term.Of(s.q) {
		some, all, err := s.streams(w)
		if err != nil || len(some) == 0 && all {
			return nil, false, err
		}
		if all {
			choices = append(choices, some)
		}
	}
	if s.q.ConferenceID != "" {
		return []driver{{kind: indexConferenceID, conferenceID: s.q.ConferenceID}}, true, nil
	}
	for _, e := range columnValues(s.q) {
		choices = append(choices, []driver{{kind: e.kind}})
	}
	if s.q.Failed {
		choices = append(choices, failedDrivers())
	}
	if isScored(s.q) {
		choices = append(choices, bandDrivers(s.q))
	}
	if s.q.Unsummarised { // always few
		choices = [][]driver{{{kind: indexOpen}}}
	}
	if len(choices) == 0 {
		return []driver{{kind: indexStart}}, true, nil
	}
	best, err := s.rarest(choices)
	return best, true, err
}

// termsBetween steps from term to term, so that it reads no more rows than it returns.
const termsBetween = `WITH RECURSIVE s(term) AS (SELECT (SELECT min(term) FROM {table term} WHERE term BETWEEN ? AND ?)
		UNION ALL SELECT (SELECT min(t.term) FROM {table term} t WHERE t.term > s.term AND t.term <= ?) FROM s WHERE s.term IS NOT NULL)
	SELECT term FROM s WHERE term IS NOT NULL LIMIT ?`

// streams returns the drivers of a condition; all is false if there are too many.
func (s *search) streams(w term.Wanted) (out []driver, all bool, err error) {
	terms, err := All(s.tx, func(row Row) (t term.Term, err error) { err = row.Scan(&t); return t, err },
		termsBetween, int64(w.Low), int64(w.High), int64(w.High), 16*maxStreams)
	if err != nil {
		return nil, false, err
	}
	for _, t := range terms {
		if w.Fits(t) {
			out = append(out, driver{kind: indexTerm, term: t})
		}
	}
	if w.ConferenceID != "" {
		out = append(out, driver{kind: indexConferenceID, conferenceID: w.ConferenceID})
	}
	return out, len(out) <= maxStreams && len(terms) < 16*maxStreams, nil
}

// partRows returns the first rows of a part, in descending order of (start, key).
func (s *search) partRows(p part, limit int) ([]listRow, error) {
	return All(s.tx, scanListRow, listColumns+`FROM `+p.statement(), append(p.args, limit)...)
}

const fromPlace = `{table place} p {join} {table conference} c {by conference_place} ON c.place = p.key`

// statement returns the SQL after FROM. It determines the index, and so the order
// of the join, because the engine may have no statistics.
func (p part) statement() string {
	const order = ` ORDER BY c.start_ms DESC, c.key DESC LIMIT ?`
	switch p.kind {
	case indexTerm:
		return `{table term} t {conferenceof t} {placeof c} ` + p.where +
			` ORDER BY t.start_ms DESC, t.conference DESC LIMIT ?`
	case indexConferenceID:
		return fromPlace + ` ` + p.where + order
	}
	return `{table conference} c ` + p.index() + ` {join} {table place} p ON p.key = c.place ` + p.where + order
}

// index selects the index of conferences that has the fewest rows for a part.
func (p part) index() string {
	name := map[indexKind]string{indexOpen: "_open", indexOutcome: "_outcome", indexLabel: "_label", indexCause: "_cause", indexBand: "_band"}[p.kind]
	switch {
	case p.kind == indexLong:
		name = "_long"
	case p.app:
		name = "_app" + name
	case name == "":
		name = "_start"
	}
	return `{by conference` + name + `}`
}

// condition is SQL terms joined by AND, and their arguments.
type condition struct {
	terms []string
	args  []any
}

func (c *condition) add(term string, values ...any) {
	c.terms = append(c.terms, term)
	c.args = append(c.args, values...)
}

func (c *condition) part(kind indexKind, q storage.Query) part {
	p := part{kind: kind, app: q.AppID != "", args: c.args}
	if len(c.terms) > 0 {
		p.where = "WHERE " + strings.Join(c.terms, " AND ")
	}
	return p
}

// newCondition returns the conditions of a driver, and the columns of its index for start and key.
func newCondition(q storage.Query, d driver) (c condition, start, key string) {
	start, key = "c.start_ms", "c.key"
	switch d.kind {
	case indexTerm:
		start, key = "t.start_ms", "t.conference"
		c.add("t.term = ?", int64(d.term))
	case indexOutcome:
		if d.outcome != "" {
			c.add("c.outcome = ?", Text(d.outcome))
		}
	case indexBand:
		c.add("c.mos_band = ?", d.band)
	case indexConferenceID:
		c.add("p.conference_id = ?", Text(d.conferenceID))
		if q.AppID != "" { // in addition to c.app_id: with it p is found by its unique key
			c.add("p.app_id = ?", Text(q.AppID))
		}
	}
	since := d.since
	if !q.From.IsZero() {
		since = max(since, frames.CeilMs(q.From)-dayMs)
	}
	if since != 0 || !q.From.IsZero() {
		c.add(start+" >= ?", since)
	}
	return c, start, key
}

// countPart returns the part that a driver reads, without the conditions of other indexes.
func countPart(q storage.Query, d driver) part {
	c, start, key := newCondition(q, d)
	addBounds(&c, q, start, key)
	if d.kind != indexTerm && q.AppID != "" {
		c.add("c.app_id = ?", Text(q.AppID))
	}
	for _, e := range columnValues(q) {
		if e.kind == d.kind {
			e.add(&c)
		}
	}
	return c.part(d.kind, q)
}

// usualPart returns the part of a listing that a driver reads.
func usualPart(q storage.Query, d driver) part {
	c, start, key := newCondition(q, d)
	addBounds(&c, q, start, key)
	addCommon(&c, q, d)
	for _, w := range term.Of(q) {
		if d.kind != indexTerm || d.term < w.Low || w.High < d.term || !w.Fits(d.term) {
			addTerm(&c, w, key)
		}
		hideNames(&c, w, key)
	}
	return c.part(d.kind, q)
}

// longPart returns the part with conferences that last longer than a day and began more than a day before
// From.
func longPart(q storage.Query, drivers []driver) part {
	d := driver{kind: indexLong}
	if len(drivers) == 1 && drivers[0].kind == indexConferenceID {
		d = drivers[0]
	}
	from := frames.CeilMs(q.From)
	before := q
	before.From = time.Time{}
	c, start, key := newCondition(before, d)
	c.add("c.long")
	c.add("c.start_ms < ?", from-dayMs)
	addBounds(&c, q, start, key)
	addCommon(&c, q, d)
	for _, w := range term.Of(q) {
		addTerm(&c, w, key)
		hideNames(&c, w, key)
	}
	return c.part(d.kind, q)
}

// addTerm adds the condition that a conference has a term besides that of the driver. Without an app the range from low
// to high includes all apps and kinds, but few rows of one conference.
func addTerm(c *condition, w term.Wanted, key string) {
	has := "EXISTS (SELECT 1 FROM {table term} x WHERE x.conference = " + key +
		" AND x.term BETWEEN ? AND ? AND (x.term & 15) BETWEEN ? AND ? {fence})"
	args := []any{int64(w.Low), int64(w.High), int64(w.First), int64(w.Last)}
	if w.ConferenceID != "" {
		has, args = "(p.conference_id = ? OR "+has+")", append([]any{Text(w.ConferenceID)}, args...)
	}
	c.add(has, args...)
}

// hideNames excludes the conferences with a value as a real name, which the user may not see.
func hideNames(c *condition, w term.Wanted, key string) {
	if !w.AliasesOnly {
		return
	}
	low, high := w.Names()
	none := "NOT EXISTS (SELECT 1 FROM {table term} n WHERE n.conference = " + key + " AND n.term BETWEEN ? AND ? AND (n.term & 15) = ? {fence})"
	args := []any{int64(low), int64(high), int64(term.Name)}
	if w.ConferenceID != "" {
		none, args = "(p.conference_id = ? OR "+none+")", append([]any{Text(w.ConferenceID)}, args...)
	}
	c.add(none, args...)
}

// columnValue is a column of a summary and the value that a query requires.
type columnValue struct {
	kind          indexKind
	column, value string
}

func columnValues(q storage.Query) (out []columnValue) {
	for _, e := range []columnValue{{indexOutcome, "outcome", q.Outcome}, {indexLabel, "label", q.Label}, {indexCause, "cause", q.Cause}} {
		if e.value != "" {
			out = append(out, e)
		}
	}
	return out
}

func (e columnValue) add(c *condition) {
	c.add("c."+e.column+" = ?", Text(e.value))
	if e.kind != indexOutcome {
		c.add("c." + e.column + " <> ''") // the condition of its index
	}
}

// addBounds adds the conditions on time, except From.
func addBounds(c *condition, q storage.Query, start, key string) {
	if !q.To.IsZero() {
		c.add(start+" < ?", frames.CeilMs(q.To))
	}
	if q.Before != (storage.Cursor{}) {
		c.add("("+start+", "+key+") < (?, ?)", q.Before.Start.UnixMilli(), q.Before.Key)
	}
}

// addCommon adds the conditions that all parts have.
func addCommon(c *condition, q storage.Query, d driver) {
	if q.AppID != "" {
		c.add("c.app_id = ?", Text(q.AppID))
	}
	if !q.From.IsZero() {
		c.add("c.end_ms >= ?", frames.CeilMs(q.From))
	}
	for _, e := range columnValues(q) {
		if e.kind == d.kind {
			e.add(c)
		} else {
			c.add("{has "+e.column+" "+d.row()+"}", Text(e.value))
		}
	}
	addScore(c, q, d)
	if q.ConferenceID != "" && d.kind != indexConferenceID {
		c.add("p.conference_id = ?", Text(q.ConferenceID))
	}
	if q.Unsummarised {
		c.add("c.open")
	}
}
