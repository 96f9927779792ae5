package join

import (
	"cmp"
	"maps"
	"slices"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/term"
)

// Touched is the times and contents of records written in one transaction, by the keys of PlaceID and session.
type Touched map[int64]map[int64]*moments

// moments are the times of one session under one PlaceID.
type moments struct {
	activity    []moment
	annotations []int64
}

// moment is a time of activity, with the terms and renames of its records.
type moment struct {
	at       int64
	recorded term.Recorded
}

// Add adds a row that was written.
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
		m.activity = append(m.activity, moment{row.At, row.Recorded})
	} else {
		m.annotations = append(m.annotations, row.ConferenceAt)
	}
}

// Join updates the conferences of the rows, one PlaceID after the other.
func (t Touched) Join(table func(place int64) (Table, error)) error {
	for _, place := range slices.Sorted(maps.Keys(t)) {
		rows, err := table(place)
		if err != nil {
			return err
		}
		p, sessions := Place{rows}, t[place]
		for session, m := range sessions {
			for _, s := range stretches(m.activity) {
				if err := p.Activity(session, s.span, s.recorded); err != nil {
					return err
				}
			}
		}
		for session, m := range sessions {
			slices.Sort(m.annotations)
			for _, at := range slices.Compact(m.annotations) {
				if err := p.Annotation(session, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// stretch is a span of activity, with the terms and renames of its records.
type stretch struct {
	span     instance.Span
	recorded term.Recorded
}

// stretches merges times into spans.
func stretches(times []moment) (out []stretch) {
	slices.SortFunc(times, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	for _, m := range times {
		last := len(out) - 1
		if last >= 0 && out[last].span.Contains(m.at) {
			out[last].span = out[last].span.Union(instance.At(m.at))
		} else {
			out = append(out, stretch{span: instance.At(m.at)})
			last++
		}
		out[last].recorded.Add(m.recorded)
	}
	return out
}
