package join

import (
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

// Conditions turns a query into SQL over a conference c and its place p; values are
// arguments, in the order of their question marks. text says how the engine keeps texts.
func Conditions(q storage.Query, text func(string) any) (where string, args []any) {
	var terms []string
	add := func(term string, values ...any) {
		terms = append(terms, term)
		args = append(args, values...)
	}
	if q.AppID != "" {
		add("c.app_id = ?", text(q.AppID))
	}
	if q.ConferenceID != "" {
		add("p.conference_id = ?", text(q.ConferenceID))
		if q.AppID != "" {
			add("p.app_id = ?", text(q.AppID)) // as well: both are the key that finds the place
		}
	}
	if !q.From.IsZero() {
		add("c.end_ms >= ?", frames.CeilMs(q.From))
	}
	if !q.To.IsZero() {
		add("c.start_ms < ?", frames.CeilMs(q.To))
	}
	if q.Outcome != "" {
		add("c.outcome = ?", text(q.Outcome))
	}
	if q.Unsummarised {
		add("(c.revision IS NULL OR c.summary_start <> c.start_ms OR c.summary_end <> c.end_ms)")
	}
	if q.Before != (storage.Cursor{}) {
		add("(c.start_ms, c.key) < (?, ?)", q.Before.Start.UnixMilli(), q.Before.Key)
	}
	if len(terms) == 0 {
		return "", nil
	}
	return "WHERE " + strings.Join(terms, " AND "), args
}
