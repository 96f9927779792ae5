package detect

import (
	"cmp"
	"math"
	"slices"
)

// forgetMs is the time without evidence after which an episode counts as ended, ms. It is also
// the silence that ends a fabric (docs/protocol.md, section 10).
const forgetMs = 30_000

// Span is an interval of time, ms since the epoch.
type Span struct{ FromMs, ToMs int64 }

// Episode is the time for which a detector was raised: from the first measurement beyond the
// raise threshold to the end of the last one that was not good, ms since the epoch.
type Episode struct {
	SinceMs, UntilMs int64
	Open             bool // not resolved when the evidence ended
}

// Machine raises and resolves over evidence in order of time. It is a small value; NewMachine
// or the caller sets AfterMs and ResolveAfterMs before use.
type Machine struct {
	AfterMs, ResolveAfterMs int64

	leadMs    int64 // shortens AfterMs as long as all evidence was bad
	anyNotBad bool  // some evidence was not bad

	raised bool
	since  int64 // when the evidence became bad
	until  int64 // end of the last evidence that was not good
	badMs  int64 // consecutive bad evidence while not raised
	goodMs int64 // consecutive good evidence while raised
	lastMs int64 // end of the evidence
}

// NewMachine returns a machine with the given hysteresis in time.
func NewMachine(t Timing) Machine {
	return Machine{
		AfterMs: t.After.Milliseconds(), ResolveAfterMs: t.ResolveAfter.Milliseconds(), leadMs: t.lead.Milliseconds(),
	}
}

// Step adds the evidence of the time from fromMs to toMs. It returns the episode that
// ended, if one did.
func (m *Machine) Step(c Class, fromMs, toMs int64) (e Episode, resolved bool) {
	if fromMs-m.lastMs > forgetMs {
		e, resolved = m.Excuse()
	}
	if c == Unknown {
		return e, resolved
	}
	m.lastMs = toMs
	m.anyNotBad = m.anyNotBad || c != Breach
	if m.raised {
		if ended, ok := m.hold(c, fromMs, toMs); ok {
			return ended, true
		}
		return e, resolved
	}
	if c != Breach {
		m.badMs = 0
		return e, resolved
	}
	if m.badMs == 0 {
		m.since = fromMs
	}
	m.badMs += toMs - fromMs
	if m.badMs >= m.AfterMs || !m.anyNotBad && m.badMs >= m.AfterMs-m.leadMs {
		m.raised, m.until, m.goodMs = true, toMs, 0
	}
	return e, resolved
}

// hold is Step while raised.
func (m *Machine) hold(c Class, fromMs, toMs int64) (Episode, bool) {
	if c != Clear {
		m.until, m.goodMs = toMs, 0
		return Episode{}, false
	}
	m.goodMs += toMs - fromMs
	if m.goodMs < m.ResolveAfterMs {
		return Episode{}, false
	}
	return m.Excuse()
}

// Excuse ends the open episode and returns it. It is called for time that is no fault (muted,
// on hold) and for time without evidence.
func (m *Machine) Excuse() (Episode, bool) {
	raised := m.raised
	m.raised, m.badMs, m.goodMs = false, 0, 0
	return Episode{SinceMs: m.since, UntilMs: m.until}, raised
}

// Episodes runs a machine over the time-line; class classifies a word for the detector.
// Time in excused is no fault. The spans MUST be ascending and disjoint.
func (t *Timeline) Episodes(timing Timing, excused []Span, class func(Word) Class) (found []Episode) {
	return t.EpisodesUntil(math.MaxInt64, timing, excused, class)
}

// EpisodesUntil is Episodes over the evidence before untilMs.
func (t *Timeline) EpisodesUntil(untilMs int64, timing Timing, excused []Span, class func(Word) Class) (found []Episode) {
	if timing.Disabled {
		return nil
	}
	m := NewMachine(timing)
	step := func(e Episode, ended bool) {
		if ended {
			found = append(found, e)
		}
	}
	t.Each(func(from, to int64, word Word) {
		if to = min(to, untilMs); from >= to {
			return
		}
		c := class(word)
		for len(excused) > 0 && excused[0].ToMs <= from {
			if excused[0].ToMs > excused[0].FromMs {
				step(m.Excuse())
			}
			excused = excused[1:]
		}
		for len(excused) > 0 && excused[0].FromMs < to {
			if excused[0].FromMs > from {
				step(m.Step(c, from, excused[0].FromMs))
			}
			step(m.Excuse())
			if from = excused[0].ToMs; from >= to {
				return
			}
			excused = excused[1:]
		}
		step(m.Step(c, from, to))
	})
	if e, open := m.Excuse(); open {
		e.Open = true
		found = append(found, e)
	}
	return found
}

// Merge returns the union of spans, ascending and disjoint. It reuses their memory.
func Merge(spans []Span) []Span {
	slices.SortFunc(spans, compareSpans)
	out := spans[:0]
	for _, s := range spans {
		switch n := len(out); {
		case s.ToMs <= s.FromMs:
		case n > 0 && s.FromMs <= out[n-1].ToMs:
			out[n-1].ToMs = max(out[n-1].ToMs, s.ToMs)
		default:
			out = append(out, s)
		}
	}
	return out
}

func compareSpans(a, b Span) int {
	return cmp.Or(cmp.Compare(a.FromMs, b.FromMs), cmp.Compare(a.ToMs, b.ToMs))
}
