package join

import (
	"maps"
	"slices"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// Touched is what a write adds: who was in which place, and when.
type Touched map[int64]map[int64]*moments // by keys of place and session

// moments are times of one session in one place.
type moments struct{ activity, other []int64 }

// Add takes in a row that was written.
func (t Touched) Add(place, session int64, row *frames.Row) {
	if t[place] == nil {
		t[place] = map[int64]*moments{}
	}
	m := t[place][session]
	if m == nil {
		m = &moments{}
		t[place][session] = m
	}
	if row.Activity {
		m.activity = append(m.activity, row.At)
	} else {
		m.other = append(m.other, row.ConferenceAt)
	}
}

// Join makes the conferences that the rows belong to, place by place.
func (t Touched) Join(table func(place int64) (Table, error)) error {
	for _, place := range slices.Sorted(maps.Keys(t)) {
		rows, err := table(place)
		if err != nil {
			return err
		}
		p, sessions := Place{rows}, t[place]
		for session, m := range sessions {
			for _, span := range sessionSpans(m.activity) {
				if err := p.Activity(session, span); err != nil {
					return err
				}
			}
		}
		for session, m := range sessions {
			slices.Sort(m.other)
			for _, at := range slices.Compact(m.other) {
				if err := p.Other(session, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sessionSpans joins times into spans.
func sessionSpans(times []int64) (spans []instance.Span) {
	slices.Sort(times)
	for _, at := range times {
		last := len(spans) - 1
		if last >= 0 && spans[last].Contains(at) {
			spans[last] = spans[last].Union(instance.At(at))
		} else {
			spans = append(spans, instance.At(at))
		}
	}
	return spans
}
