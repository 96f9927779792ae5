package join

import "github.com/qosrtc/qos/internal/instance"

// Find returns the row at a time, which may lie up to the gap beside it; then activity
// comes before what has none, and the nearer before the other. rows are all within the
// gap of the time, in order.
func Find(rows []Row, at int64) (Row, bool) {
	active, idle := split(rows)
	for _, rows := range [][]Row{active, idle} {
		if i := nearest(rows, at); i >= 0 && rows[i].Span.Contains(at) {
			return rows[i], true
		}
	}
	return Row{}, false
}

// Zone returns the times whose records that are not activity belong to c. rows are all
// rows within twice the gap of it; more do no harm.
func Zone(c Row, rows []Row) instance.Span {
	if !c.Activity {
		return c.Span
	}
	own := instance.Span{Start: c.Span.Start - instance.Gap, End: c.Span.End + instance.Gap}
	for _, r := range rows {
		switch {
		case !r.Activity:
		case r.Span.End < c.Span.Start:
			own.Start = max(own.Start, (r.Span.End+c.Span.Start)/2+1)
		case r.Span.Start > c.Span.End:
			own.End = min(own.End, (c.Span.End+r.Span.Start)/2)
		}
	}
	return own
}

// nearest returns the row, in order of time, that is nearest to a moment, the earlier of
// two that are as near; -1 when there is none.
func nearest(rows []Row, at int64) int {
	best := -1
	for i, r := range rows {
		if best < 0 || distance(r.Span, at) < distance(rows[best].Span, at) {
			best = i
		}
	}
	return best
}

func distance(s instance.Span, at int64) int64 { return max(s.Start-at, at-s.End, 0) }
