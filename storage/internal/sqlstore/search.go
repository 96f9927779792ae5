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
	// maxStreams bounds the terms by which a listing is driven: of a value that more apps
	// have than this, next to every conference is one, and the newest are looked through.
	maxStreams = 64
)

// limited returns how many rows are asked for.
func limited(asked int) int {
	if asked <= 0 {
		return defaultLimit
	}
	return min(asked, maxLimit)
}

// dayMs is a day. Hardly any conference lasts longer; the column long says which do.
const dayMs = 24 * 60 * 60 * 1000

// by is the index that drives a part of a listing.
type by int

// The indexes: all are in order of (start, key) within what they are asked for.
const (
	byStart by = iota
	byOpen
	byOutcome
	byLabel
	byCause
	byBand  // of scores
	byPlace // of one conferenceID
	byTerm  // of one term
	byLong  // conferences that last longer than a day
)

// part is a part of a listing: SQL over a conference c, its place p and, by a term, the term
// t.
type part struct {
	by    by
	app   bool // of one app
	where string
	args  []any // in the order of the question marks
}

// driver is what a listing looks through: the conferences of one term, or of one conferenceID,
// or what an index has of the query.
type driver struct {
	by           by
	term         term.Term
	conferenceID string
	outcome      string // one of those of a query for failed conferences
	band         int
	since        int64 // the start before which nothing is needed; 0: none
}

// row is the name of the row of the index that is looked through.
func (d driver) row() string {
	if d.by == byTerm {
		return "t"
	}
	return "c"
}

// search is one query in one view of the store.
type search struct {
	tx Tx
	q  storage.Query
}

// rows returns up to as many rows as are asked for, the newest first, and one more where there is
// more.
//
// A query with a From has two parts, and the listing is all of the first, then all of the
// second. Where it names no start before which nothing is looked at, everything older would
// be looked through for what is still going on: so the first part starts a day earlier, and
// the few that last longer and started before that are the second.
func (s *search) rows() ([]listed, error) {
	limit := limited(s.q.Limit) + 1
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

// drive merges what the drivers find.
func (s *search) drive(drivers []driver, limit int) (rows []listed, err error) {
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
func newest(rows []listed, limit int) []listed {
	slices.SortFunc(rows, func(a, b listed) int { return a.cursor().Compare(b.cursor()) })
	rows = slices.CompactFunc(rows, func(a, b listed) bool { return a.key == b.key })
	return rows[:min(len(rows), limit)]
}

// drivers returns what a query is best looked through by: of all that narrows it, what the
// fewest conferences have. It is false where nothing can be found.
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
		return []driver{{by: byPlace, conferenceID: s.q.ConferenceID}}, true, nil
	}
	for _, e := range equals(s.q) {
		choices = append(choices, []driver{{by: e.by}})
	}
	if s.q.Failed {
		choices = append(choices, failedDrivers())
	}
	if isScored(s.q) {
		choices = append(choices, bandDrivers(s.q))
	}
	if s.q.Unsummarised { // few, always
		choices = [][]driver{{{by: byOpen}}}
	}
	if len(choices) == 0 {
		return []driver{{by: byStart}}, true, nil
	}
	best, err := s.rarest(choices)
	return best, true, err
}

// termsBetween steps from term to term: it reads no more than it returns.
const termsBetween = `WITH RECURSIVE s(term) AS (SELECT (SELECT min(term) FROM {table term} WHERE term BETWEEN ? AND ?)
		UNION ALL SELECT (SELECT min(t.term) FROM {table term} t WHERE t.term > s.term AND t.term <= ?) FROM s WHERE s.term IS NOT NULL)
	SELECT term FROM s WHERE term IS NOT NULL LIMIT ?`

// streams returns the drivers of a condition; all says that these are all.
func (s *search) streams(w term.Wanted) (out []driver, all bool, err error) {
	terms, err := All(s.tx, func(row Row) (t term.Term, err error) { err = row.Scan(&t); return t, err },
		termsBetween, int64(w.Low), int64(w.High), int64(w.High), 16*maxStreams)
	if err != nil {
		return nil, false, err
	}
	for _, t := range terms {
		if w.Fits(t) {
			out = append(out, driver{by: byTerm, term: t})
		}
	}
	if w.ConferenceID != "" {
		out = append(out, driver{by: byPlace, conferenceID: w.ConferenceID})
	}
	return out, len(out) <= maxStreams && len(terms) < 16*maxStreams, nil
}

// partRows returns the first rows of a part, in order of (start, key) backwards.
func (s *search) partRows(p part, limit int) ([]listed, error) {
	return All(s.tx, scanListed, listedColumns+`FROM `+p.statement(), append(p.args, limit)...)
}

const fromPlace = `{table place} p {join} {table conference} c {by conference_place} ON c.place = p.key`

// statement is a part of a listing as SQL after FROM. It names its index, and so the order
// of the join, where the engine's planner has no statistics, and does not know what is rare.
func (p part) statement() string {
	const order = ` ORDER BY c.start_ms DESC, c.key DESC LIMIT ?`
	switch p.by {
	case byTerm:
		return `{table term} t {conferenceof t} {placeof c} ` + p.where +
			` ORDER BY t.start_ms DESC, t.conference DESC LIMIT ?`
	case byPlace:
		return fromPlace + ` ` + p.where + order
	}
	return `{table conference} c ` + p.index() + ` {join} {table place} p ON p.key = c.place ` + p.where + order
}

// index names the index of conferences that has the fewest rows for a part.
func (p part) index() string {
	name := map[by]string{byOpen: "_open", byOutcome: "_outcome", byLabel: "_label", byCause: "_cause", byBand: "_band"}[p.by]
	switch {
	case p.by == byLong:
		name = "_long"
	case p.app:
		name = "_app" + name
	case name == "":
		name = "_start"
	}
	return `{by conference` + name + `}`
}

// condition is terms that all hold, and their arguments.
type condition struct {
	terms []string
	args  []any
}

func (c *condition) add(term string, values ...any) {
	c.terms = append(c.terms, term)
	c.args = append(c.args, values...)
}

func (c *condition) part(by by, q storage.Query) part {
	p := part{by: by, app: q.AppID != "", args: c.args}
	if len(c.terms) > 0 {
		p.where = "WHERE " + strings.Join(c.terms, " AND ")
	}
	return p
}

// begin starts the conditions of a driver, and names the columns that it has in order.
func begin(q storage.Query, d driver) (c condition, start, key string) {
	start, key = "c.start_ms", "c.key"
	switch d.by {
	case byTerm:
		start, key = "t.start_ms", "t.conference"
		c.add("t.term = ?", int64(d.term))
	case byOutcome:
		if d.outcome != "" {
			c.add("c.outcome = ?", Text(d.outcome))
		}
	case byBand:
		c.add("c.mos_band = ?", d.band)
	case byPlace:
		c.add("p.conference_id = ?", Text(d.conferenceID))
		if q.AppID != "" { // as well as the conference's: both are the key that finds the place
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

// countPart is what a driver looks through.
func countPart(q storage.Query, d driver) part {
	c, start, key := begin(q, d)
	bounds(&c, q, start, key)
	if d.by != byTerm && q.AppID != "" {
		c.add("c.app_id = ?", Text(q.AppID))
	}
	for _, e := range equals(q) {
		if e.by == d.by {
			e.add(&c)
		}
	}
	return c.part(d.by, q)
}

// usualPart is the part of a listing that a driver looks through.
func usualPart(q storage.Query, d driver) part {
	c, start, key := begin(q, d)
	bounds(&c, q, start, key)
	common(&c, q, d)
	for _, w := range term.Of(q) {
		if d.by != byTerm || d.term < w.Low || w.High < d.term || !w.Fits(d.term) {
			addTerm(&c, w, key)
		}
		hideNames(&c, w, key)
	}
	return c.part(d.by, q)
}

// longPart is the part of a listing that lasts longer than a day and began a day before its
// From.
func longPart(q storage.Query, drivers []driver) part {
	d := driver{by: byLong}
	if len(drivers) == 1 && drivers[0].by == byPlace {
		d = drivers[0]
	}
	from := frames.CeilMs(q.From)
	before := q
	before.From = time.Time{}
	c, start, key := begin(before, d)
	c.add("c.long")
	c.add("c.start_ms < ?", from-dayMs)
	bounds(&c, q, start, key)
	common(&c, q, d)
	for _, w := range term.Of(q) {
		addTerm(&c, w, key)
		hideNames(&c, w, key)
	}
	return c.part(d.by, q)
}

// addTerm adds what a conference must have besides what found it. Between low and high are
// all apps and kinds where no app is named: few rows of one conference.
func addTerm(c *condition, w term.Wanted, key string) {
	has := "EXISTS (SELECT 1 FROM {table term} x WHERE x.conference = " + key +
		" AND x.term BETWEEN ? AND ? AND (x.term & 15) BETWEEN ? AND ? {fence})"
	args := []any{int64(w.Low), int64(w.High), int64(w.First), int64(w.Last)}
	if w.ConferenceID != "" {
		has, args = "(p.conference_id = ? OR "+has+")", append([]any{Text(w.ConferenceID)}, args...)
	}
	c.add(has, args...)
}

// hideNames leaves out the conferences that have a value as a real name, which the reader may not see.
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

// equal is a column of a summary that a query names the value of.
type equal struct {
	by            by
	column, value string
}

func equals(q storage.Query) (out []equal) {
	for _, e := range []equal{{byOutcome, "outcome", q.Outcome}, {byLabel, "label", q.Label}, {byCause, "cause", q.Cause}} {
		if e.value != "" {
			out = append(out, e)
		}
	}
	return out
}

func (e equal) add(c *condition) {
	c.add("c."+e.column+" = ?", Text(e.value))
	if e.by != byOutcome {
		c.add("c." + e.column + " <> ''") // as its index says
	}
}

// bounds adds what a query says of the time, but for its From.
func bounds(c *condition, q storage.Query, start, key string) {
	if !q.To.IsZero() {
		c.add(start+" < ?", frames.CeilMs(q.To))
	}
	if q.Before != (storage.Cursor{}) {
		c.add("("+start+", "+key+") < (?, ?)", q.Before.Start.UnixMilli(), q.Before.Key)
	}
}

// common is what the parts share.
func common(c *condition, q storage.Query, d driver) {
	if q.AppID != "" {
		c.add("c.app_id = ?", Text(q.AppID))
	}
	if !q.From.IsZero() {
		c.add("c.end_ms >= ?", frames.CeilMs(q.From))
	}
	for _, e := range equals(q) {
		if e.by == d.by {
			e.add(c)
		} else {
			c.add("{has "+e.column+" "+d.row()+"}", Text(e.value))
		}
	}
	scored(c, q, d)
	if q.ConferenceID != "" && d.by != byPlace {
		c.add("p.conference_id = ?", Text(q.ConferenceID))
	}
	if q.Unsummarised {
		c.add("c.open")
	}
}
