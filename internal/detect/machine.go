package detect

import (
	"cmp"
	"math"
	"slices"
)

// forgetMs is how long nothing may come before what was found is taken to be over. It is
// the silence that ends a fabric (docs/protocol.md, section 10).
const forgetMs = 30_000

// Span is a stretch of time, ms since the epoch.
type Span struct{ FromMs, ToMs int64 }

// Episode is one time that a detector was raised: from where the metric first passed the
// threshold to where it was last seen not to be well.
type Episode struct {
	SinceMs, UntilMs int64
	Open             bool // it was not resolved when the evidence ended
}

// Machine raises and resolves over evidence in order of time. It is a value of a few words;
// set After and ResolveAfter before use.
type Machine struct {
	AfterMs, ResolveAfterMs int64

	earlyMs int64 // how much less than AfterMs it takes while it was never anything but bad
	other   bool  // it was something but bad

	raised bool
	since  int64 // where the metric began to be bad
	until  int64 // where it last was not well
	badMs  int64 // in a row, while not raised
	goodMs int64 // in a row, while raised
	lastMs int64 // end of the evidence
}

// NewMachine returns a machine with a detector's hysteresis in time.
func NewMachine(t Timing) Machine {
	return Machine{
		AfterMs: t.After.Milliseconds(), ResolveAfterMs: t.ResolveAfter.Milliseconds(), earlyMs: t.early.Milliseconds(),
	}
}

// Step takes what is known of the time from fromMs to toMs. It reports the episode that
// ended, if one did.
func (m *Machine) Step(c Class, fromMs, toMs int64) (e Episode, resolved bool) {
	if fromMs-m.lastMs > forgetMs {
		e, resolved = m.Excuse()
	}
	if c == Unknown {
		return e, resolved
	}
	m.lastMs = toMs
	m.other = m.other || c != Breach
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
	if m.badMs >= m.AfterMs || !m.other && m.badMs >= m.AfterMs-m.earlyMs {
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

// Excuse ends whatever goes on: what is muted or held is no fault, and what nothing is
// heard of is not known to go on. It reports the episode that ended.
func (m *Machine) Excuse() (Episode, bool) {
	raised := m.raised
	m.raised, m.badMs, m.goodMs = false, 0, 0
	return Episode{SinceMs: m.since, UntilMs: m.until}, raised
}

// Episodes runs a machine over the time-line; class says what a word means to the detector.
// What lies in excused, ascending and disjoint, is no fault.
func (t *Timeline) Episodes(timing Timing, excused []Span, class func(Word) Class) (found []Episode) {
	return t.EpisodesUntil(math.MaxInt64, timing, excused, class)
}

// EpisodesUntil is Episodes by the evidence that there was until then.
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

// Merge makes spans ascending and disjoint, in place.
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
