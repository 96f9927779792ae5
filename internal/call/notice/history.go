package notice

import (
	"fmt"
	"time"
)

// maxSpans bounds the spans of one reason. Beyond it the oldest is dropped: conferences that ended within it notify no more.
const maxSpans = 16

// keepSpans is longer than the time for which points are stored, to which rules of the past are applied.
const keepSpans = 26 * time.Hour

// Span is the rule of single conferences, ratings or tests of one reason, from SinceMs to the next span.
type Span struct {
	SinceMs    int64   `json:"sinceMs"` // 0: always
	Individual bool    `json:"individual,omitempty"`
	Limit      float64 `json:"limit,omitempty"` // 0 where Individual is false
}

// History holds the rules of an app's individual notices over time, so that a rule is applied only to conferences that
// ended after it was set, at any time and by any collector. The zero value is that of an app without rules.
type History struct {
	Base  string            `json:"base,omitempty"`  // digest of the configuration's part
	Spans map[Reason][]Span `json:"spans,omitempty"` // of each reason, ascending
}

// Limit returns the limit of a reason's rule at a time. individual reports whether single conferences, ratings or tests
// notified at that time.
func (h *History) Limit(r Reason, at time.Time) (limit float64, individual bool) {
	for _, s := range h.Spans[r] {
		if s.SinceMs > at.UnixMilli() {
			break
		}
		limit, individual = s.Limit, s.Individual
	}
	return limit, individual
}

// Follow returns the history after an evaluation of the rules at now. Changed rules are in force from set on if the
// management API changed them at that time and the configuration (base) is unchanged, else from now on. The first rules
// are in force from set on, or always. from is the time from which the rules differ, the zero time without a difference.
func (h *History) Follow(base, rules *Rules, set, now time.Time) (next History, from time.Time) {
	next = History{Base: base.digest(), Spans: make(map[Reason][]Span, reasons)}
	for i, reason := range Reasons {
		spans := h.Spans[reason]
		s := rules[i].span()
		switch {
		case len(spans) == 0:
			if !set.IsZero() {
				s.SinceMs = min(set.UnixMilli(), now.UnixMilli())
			}
		case spans[len(spans)-1].same(s):
			next.Spans[reason] = spans
			continue
		default:
			last := spans[len(spans)-1].SinceMs
			s.SinceMs = max(now.UnixMilli(), last)
			if at := set.UnixMilli(); h.Base == next.Base && at > last && at < s.SinceMs {
				s.SinceMs = at
			}
		}
		if at := time.UnixMilli(s.SinceMs); from.IsZero() || at.Before(from) {
			from = at
		}
		next.Spans[reason] = append(recent(spans, now), s)
	}
	return next, from
}

// recent returns a copy of the spans without expired ones, and with room for another.
func recent(spans []Span, now time.Time) []Span {
	for len(spans) >= maxSpans || len(spans) > 1 && spans[1].SinceMs < now.Add(-keepSpans).UnixMilli() {
		spans = spans[1:]
	}
	return append([]Span{}, spans...)
}

func (r *Rule) span() Span {
	if !r.Individual {
		return Span{}
	}
	return Span{Individual: true, Limit: r.Limit}
}

func (s Span) same(other Span) bool {
	return s.Individual == other.Individual && s.Limit == other.Limit
}

// digest returns a hash of the part of the rules that a history depends on.
func (r *Rules) digest() string {
	var parts []string
	for i := range r {
		parts = append(parts, fmt.Sprint(r[i].Individual, r[i].Limit))
	}
	return ID(parts...)
}
