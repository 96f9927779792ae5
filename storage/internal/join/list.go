package join

import (
	"cmp"
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
	// MaxStreams bounds the terms by which a listing is driven: of a value that more apps
	// have than this, next to every conference is one, and the newest are looked through.
	MaxStreams = 64
	// few is up to how many rows are counted to find out what is rarest.
	few = 1000
)

// Limit returns how many rows a query asks for.
func Limit(q storage.Query) int { return limited(q.Limit) }

func limited(asked int) int {
	if asked <= 0 {
		return defaultLimit
	}
	return min(asked, maxLimit)
}

// DayMs is a day. Hardly any conference lasts longer; the column long says which do.
const DayMs = 24 * 60 * 60 * 1000

// By is the index that drives a part of a listing.
type By int

// The indexes: all are in order of (start, key) within what they are asked for.
const (
	ByStart By = iota
	ByOpen
	ByOutcome
	ByLabel
	ByCause
	ByPlace // of one conferenceID
	ByTerm  // of one term
	ByLong  // conferences that last longer than a day
)

// Part is a part of a listing: SQL over a conference c, its place p and, by a term, the term
// t.
type Part struct {
	By    By
	App   bool // of one app
	Where string
	Args  []any // in the order of the question marks
}

// Driver is what a listing looks through: the conferences of one term, or of one conferenceID,
// or what an index has of the query.
type Driver struct {
	By           By
	Term         term.Term
	ConferenceID string
}

// Listed is a row of a listing, as far as its order goes.
type Listed interface{ Place() storage.Cursor }

// Index is what a listing asks of an engine, in one view of the store.
type Index[R Listed] interface {
	// Terms returns the terms from low to high that any conference has, in order, at most
	// limit.
	Terms(low, high term.Term, limit int) ([]term.Term, error)
	// Count counts the rows of a part, up to a limit.
	Count(p Part, limit int) (int, error)
	// Rows returns the first rows of a part, in order of (start, key) backwards.
	Rows(p Part, limit int) ([]R, error)
}

// List answers a query: up to limit rows, the newest first, and one more where there is more.
//
// A query with a From has two parts, and the listing is all of the first, then all of the
// second. Where it names no start before which nothing is looked at, everything older would
// be looked through for what is still going on: so the first part starts a day earlier, and
// the few that last longer and started before that are the second.
func List[R Listed](q storage.Query, text func(string) any, x Index[R]) ([]R, error) {
	limit := Limit(q) + 1
	drivers, ok, err := drivers(q, text, x)
	if err != nil || !ok {
		return nil, err
	}
	rows, err := drive(q, text, x, drivers, limit)
	if err != nil || q.From.IsZero() || len(rows) >= limit {
		return rows, err
	}
	more, err := x.Rows(LongPart(q, text, drivers), limit-len(rows))
	return append(rows, more...), err
}

// drive merges what the drivers find.
func drive[R Listed](q storage.Query, text func(string) any, x Index[R], drivers []Driver, limit int) (rows []R, err error) {
	for _, d := range drivers {
		some, err := x.Rows(UsualPart(q, text, d), limit)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	if len(drivers) == 1 {
		return rows, nil
	}
	slices.SortFunc(rows, func(a, b R) int { return compare(b.Place(), a.Place()) })
	rows = slices.CompactFunc(rows, func(a, b R) bool { return a.Place().Key == b.Place().Key })
	return rows[:min(len(rows), limit)], nil
}

func compare(a, b storage.Cursor) int {
	return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Key, b.Key))
}

// drivers returns what a query is best looked through by: of all that narrows it, what the
// fewest conferences have. It is false where nothing can be found.
func drivers[R Listed](q storage.Query, text func(string) any, x Index[R]) ([]Driver, bool, error) {
	var choices [][]Driver
	for _, w := range term.Of(q) {
		some, all, err := streams(w, x)
		if err != nil || len(some) == 0 && all {
			return nil, false, err
		}
		if all {
			choices = append(choices, some)
		}
	}
	if q.ConferenceID != "" {
		return []Driver{{By: ByPlace, ConferenceID: q.ConferenceID}}, true, nil
	}
	for _, e := range equals(q) {
		choices = append(choices, []Driver{{By: e.by}})
	}
	if q.Unsummarised { // few, always
		choices = [][]Driver{{{By: ByOpen}}}
	}
	if len(choices) == 0 {
		return []Driver{{By: ByStart}}, true, nil
	}
	best, err := rarest(choices, func(d Driver, limit int) (int, error) { return x.Count(countPart(q, text, d), limit) })
	return best, true, err
}

// streams returns the drivers of a condition; all says that these are all.
func streams[R Listed](w term.Wanted, x Index[R]) (out []Driver, all bool, err error) {
	terms, err := x.Terms(w.Low, w.High, 16*MaxStreams)
	if err != nil {
		return nil, false, err
	}
	for _, t := range terms {
		if w.Fits(t) {
			out = append(out, Driver{By: ByTerm, Term: t})
		}
	}
	if w.ConferenceID != "" {
		out = append(out, Driver{By: ByPlace, ConferenceID: w.ConferenceID})
	}
	return out, len(out) <= MaxStreams && len(terms) < 16*MaxStreams, nil
}

// rarest returns the choice that has the fewest conferences, the first of those with many.
func rarest(choices [][]Driver, count func(d Driver, limit int) (int, error)) ([]Driver, error) {
	best, least := choices[0], few+1
	if len(choices) == 1 {
		return best, nil
	}
	for _, choice := range choices {
		n := 0
		for _, d := range choice {
			if n >= few {
				break
			}
			some, err := count(d, few-n)
			if err != nil {
				return nil, err
			}
			n += some
		}
		if n < least {
			best, least = choice, n
		}
	}
	return best, nil
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

func (c *condition) part(by By, q storage.Query) Part {
	p := Part{By: by, App: q.AppID != "", Args: c.args}
	if len(c.terms) > 0 {
		p.Where = "WHERE " + strings.Join(c.terms, " AND ")
	}
	return p
}

// begin starts the conditions of a driver, and names the columns that it has in order.
func begin(q storage.Query, text func(string) any, d Driver) (c condition, start, key string) {
	start, key = "c.start_ms", "c.key"
	switch d.By {
	case ByTerm:
		start, key = "t.start_ms", "t.conference"
		c.add("t.term = ?", int64(d.Term))
	case ByPlace:
		c.add("p.conference_id = ?", text(d.ConferenceID))
		if q.AppID != "" { // as well as the conference's: both are the key that finds the place
			c.add("p.app_id = ?", text(q.AppID))
		}
	}
	if !q.From.IsZero() {
		c.add(start+" >= ?", frames.CeilMs(q.From)-DayMs)
	}
	return c, start, key
}

// countPart is what a driver looks through.
func countPart(q storage.Query, text func(string) any, d Driver) Part {
	c, start, key := begin(q, text, d)
	bounds(&c, q, start, key)
	if d.By != ByTerm && q.AppID != "" {
		c.add("c.app_id = ?", text(q.AppID))
	}
	for _, e := range equals(q) {
		if e.by == d.By {
			e.add(&c, text)
		}
	}
	return c.part(d.By, q)
}

// UsualPart is the part of a listing that a driver looks through.
func UsualPart(q storage.Query, text func(string) any, d Driver) Part {
	c, start, key := begin(q, text, d)
	bounds(&c, q, start, key)
	common(&c, q, text, d.By)
	for _, w := range term.Of(q) {
		if d.By != ByTerm || d.Term < w.Low || w.High < d.Term || !w.Fits(d.Term) {
			addTerm(&c, w, text, key)
		}
	}
	return c.part(d.By, q)
}

// LongPart is the part of a listing that lasts longer than a day and began a day before its
// From.
func LongPart(q storage.Query, text func(string) any, drivers []Driver) Part {
	d := Driver{By: ByLong}
	if len(drivers) == 1 && drivers[0].By == ByPlace {
		d = drivers[0]
	}
	from := frames.CeilMs(q.From)
	before := q
	before.From = time.Time{}
	c, start, key := begin(before, text, d)
	c.add("c.long")
	c.add("c.start_ms < ?", from-DayMs)
	bounds(&c, q, start, key)
	common(&c, q, text, d.By)
	for _, w := range term.Of(q) {
		addTerm(&c, w, text, key)
	}
	return c.part(d.By, q)
}

// addTerm adds what a conference must have besides what found it. Between low and high are
// all apps and kinds where no app is named: few rows of one conference.
func addTerm(c *condition, w term.Wanted, text func(string) any, key string) {
	has := "EXISTS (SELECT 1 FROM " + TermTable + " x WHERE x.conference = " + key +
		" AND x.term BETWEEN ? AND ? AND (x.term & 15) BETWEEN ? AND ? " + Fence + ")"
	args := []any{int64(w.Low), int64(w.High), int64(w.First), int64(w.Last)}
	if w.ConferenceID != "" {
		has, args = "(p.conference_id = ? OR "+has+")", append([]any{text(w.ConferenceID)}, args...)
	}
	c.add(has, args...)
}

const (
	// TermTable stands for the engine's name of its table of terms.
	TermTable = "{term}"
	// Fence stands for what keeps the engine from asking a condition before it has the row
	// that it is about: a frequent term is many rows.
	Fence = "{fence}"
)

// equal is a column of a summary that a query names the value of.
type equal struct {
	by            By
	column, value string
}

func equals(q storage.Query) (out []equal) {
	for _, e := range []equal{{ByOutcome, "outcome", q.Outcome}, {ByLabel, "label", q.Label}, {ByCause, "cause", q.Cause}} {
		if e.value != "" {
			out = append(out, e)
		}
	}
	return out
}

func (e equal) add(c *condition, text func(string) any) {
	c.add("c."+e.column+" = ?", text(e.value))
	if e.by != ByOutcome {
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
func common(c *condition, q storage.Query, text func(string) any, by By) {
	if q.AppID != "" {
		c.add("c.app_id = ?", text(q.AppID))
	}
	if !q.From.IsZero() {
		c.add("c.end_ms >= ?", frames.CeilMs(q.From))
	}
	for _, e := range equals(q) {
		e.add(c, text)
	}
	if q.ConferenceID != "" && by != ByPlace {
		c.add("p.conference_id = ?", text(q.ConferenceID))
	}
	if q.Unsummarised {
		c.add("c.open")
	}
}
