package join

import (
	"github.com/qosrtc/qos/internal/call/instance"
)

// Owners returns the span for which Table.Around returns all rows that may own an annotation
// about a time: the last that starts before it, and one that starts soon after it.
func Owners(at int64) instance.Span { return instance.Span{Start: at, End: at + instance.Gap} }

// Beside returns the span for which Table.Around returns a row and its neighbours.
func Beside(row instance.Span) instance.Span {
	return instance.Span{Start: row.Start - 1, End: row.End}
}

// Find returns the row that owns annotations about a time: the time is inside it, or up to
// instance.Gap before it, or up to instance.Reach after it. rows are those around Owners.
func Find(rows []Row, at int64) (Row, bool) {
	i := instance.Owner(spans(rows), at)
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

// Own returns the times whose annotations c owns. rows are those around Beside.
func Own(c Row, rows []Row) instance.Span {
	var b borders
	for i := range rows {
		switch r := &rows[i]; {
		case r.Span.End < c.Span.Start:
			b.previous = r
		case r.Span.Start > c.Span.End && b.next == nil:
			b.next = r
		}
	}
	return b.own(c.Span)
}
