package conference

import "github.com/qosrtc/qos/internal/detect"

// NeedsEvaluation reports whether something that may raise an issue, or end one, was applied
// since the last call of Evaluated.
func (c *Conference) NeedsEvaluation() bool { return c.dirty }

// Evaluated notes that the issues were evaluated; again says that they have to be once more.
func (c *Conference) Evaluated(again bool) { c.dirty = again }

// Evaluate finds what is wrong at nowMs while the conference may go on. It calls see for each
// issue with its spans, ascending: the issue as it is in each. The last one is Open where it
// goes on now. Value and Worst are those of a duration or a count in the span; of other metrics
// those of the stream so far. Evaluate reports whether time alone may raise something.
func (c *Conference) Evaluate(nowMs int64, see func(spans []Issue)) (again bool) {
	now := moment(nowMs)
	f := c.newFinder(c.brief(now), c.judge.labels, now)
	f.see = func(issue Issue, spans []detect.Span) { see(issue.inSpans(spans)) }
	f.all()
	return f.lasts
}

// inSpans returns the issue as it is in each span.
func (i Issue) inSpans(spans []detect.Span) []Issue {
	out := make([]Issue, len(spans))
	for k, span := range spans {
		one := i
		one.SinceMs, one.UntilMs, one.TotalMs = span.FromMs, span.ToMs, span.ToMs-span.FromMs
		one.Open = i.Open && k == len(spans)-1
		switch {
		case i.times:
			one.Value = float64(one.TotalMs)
			one.Worst = one.Value
		case i.points:
			one.Value, one.Worst = 1, 1
		}
		one.Value, one.Worst = round4(one.Value), round4(one.Worst)
		out[k] = one
	}
	return out
}

// NewestArrived reports whether the newest record of a fabric of a session, or of any of its
// fabrics where fabric is 0, arrived here rather than being read from the store.
func (c *Conference) NewestArrived(session string, fabric int) bool {
	p := c.participants[session]
	if p == nil {
		return false
	}
	for number, f := range p.fabrics {
		if (fabric == 0 || number == fabric) && f.own >= f.last {
			return true
		}
	}
	return false
}
