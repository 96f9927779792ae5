package join

import (
	"slices"
	"strings"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

const (
	defaultLimit = 50
	maxLimit     = 200
)

// Limit returns how many rows a query asks for.
func Limit(q storage.Query) int {
	if q.Limit <= 0 {
		return defaultLimit
	}
	return min(q.Limit, maxLimit)
}

// DayMs is a day. Hardly any conference lasts longer; the column long says which do.
const DayMs = 24 * 60 * 60 * 1000

// Part is a part of a listing: SQL over a conference c and its place p.
type Part struct {
	Where string
	Args  []any // in the order of the question marks
	Long  bool  // only conferences that last longer than a day
}

// Parts turns a query into SQL. The listing is all rows of the first part, each part in
// order of (start, key) backwards, then all of the next. text says how the engine keeps
// texts.
//
// A query with a From has two. Where it names no start before which nothing is looked at,
// everything older would be looked through for what is still going on: so the first part
// starts a day earlier, and the few that last longer and started before that are the second.
func Parts(q storage.Query, text func(string) any) []Part {
	all := terms(q, text)
	if q.From.IsZero() {
		return []Part{all.part(false)}
	}
	usual, long := all, all
	from := frames.CeilMs(q.From) - DayMs
	usual.add("c.start_ms >= ?", from)
	long.add("c.long")
	long.add("c.start_ms < ?", from)
	return []Part{usual.part(false), long.part(true)}
}

// condition is terms that all hold, and their arguments.
type condition struct {
	terms []string
	args  []any
}

func (c *condition) add(term string, values ...any) {
	c.terms = append(slices.Clip(c.terms), term)
	c.args = append(slices.Clip(c.args), values...)
}

func (c *condition) part(long bool) Part {
	if len(c.terms) == 0 {
		return Part{Long: long}
	}
	return Part{"WHERE " + strings.Join(c.terms, " AND "), c.args, long}
}

func terms(q storage.Query, text func(string) any) (c condition) {
	if q.AppID != "" {
		c.add("c.app_id = ?", text(q.AppID))
	}
	if q.ConferenceID != "" {
		c.add("p.conference_id = ?", text(q.ConferenceID))
		if q.AppID != "" {
			c.add("p.app_id = ?", text(q.AppID)) // as well: both are the key that finds the place
		}
	}
	if !q.From.IsZero() {
		c.add("c.end_ms >= ?", frames.CeilMs(q.From))
	}
	if !q.To.IsZero() {
		c.add("c.start_ms < ?", frames.CeilMs(q.To))
	}
	if q.Outcome != "" {
		c.add("c.outcome = ?", text(q.Outcome))
	}
	if q.Unsummarised {
		c.add("c.open")
	}
	if q.Before != (storage.Cursor{}) {
		c.add("(c.start_ms, c.key) < (?, ?)", q.Before.Start.UnixMilli(), q.Before.Key)
	}
	return c
}
