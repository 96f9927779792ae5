package conference

import "github.com/qosrtc/qos/internal/call/detect"

// NeedsEvaluation reports whether a record that may raise or end an issue was applied since the
// last call of Evaluated.
func (c *Conference) NeedsEvaluation() bool { return c.dirty }

// Evaluated marks the issues as evaluated, or as still to be evaluated if again is true.
func (c *Conference) Evaluated(again bool) { c.dirty = again }

// Evaluate finds the issues of a live conference at nowMs. It calls report for each issue with
// one element for each span, ascending. The last one is Open if it has not ended. Value and
// Worst of a duration or a count are those of the span; of other metrics those of the stream so
// far. Evaluate reports whether an issue may be raised or end without another record.
func (c *Conference) Evaluate(nowMs int64, report func(spans []Issue)) (again bool) {
	now := moment(nowMs)
	c.findServers()
	f := c.newFinder(c.brief(now), c.criteria.labels, now)
	f.report = func(issue Issue, spans []detect.Span) { report(issue.inSpans(spans)) }
	f.findAll()
	return f.pending
}

// inSpans returns one issue for each span.
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
// fabrics if fabric is 0, arrived here and was not read from the store.
func (c *Conference) NewestArrived(session string, fabric int) bool {
	p := c.participants[session]
	if p == nil {
		return false
	}
	for number, f := range p.fabrics {
		if (fabric == 0 || number == fabric) && f.ownLastMs >= f.last {
			return true
		}
	}
	return false
}
