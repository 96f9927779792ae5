package conference

import (
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/call/detect"
)

// intervals returns the mutes, holds and screen shares of this end. Media whose streams were all paused count as
// muted.
func (f *fabric) intervals(number int, end int64) []Interval {
	return slices.Concat(f.toggled(number, 0, end), f.allPausedIntervals(number, audio, end), f.allPausedIntervals(number, video, end))
}

// allPausedIntervals returns the times in which each stream of a kind of media that this end sends was paused or did not exist.
func (f *fabric) allPausedIntervals(number int, media string, end int64) (out []Interval) {
	if !slices.ContainsFunc(f.toggles, func(t toggle) bool { return t.ssrc != 0 && t.kind == media }) {
		return nil
	}
	all := []detect.Span{{FromMs: math.MinInt64, ToMs: math.MaxInt64}}
	var some []detect.Span
	for key, s := range f.streams {
		if key.statsType != outboundRTP || key.mediaType != media {
			continue
		}
		paused := spansOf(f.pauses(key.ssrc, end))
		some = append(some, paused...)
		all = intersect(all, detect.Merge(append(paused, s.absent()...)))
	}
	for _, i := range intersect(all, detect.Merge(some)) {
		out = append(out, Interval{media, number, i.FromMs, i.ToMs})
	}
	return out
}

// absent returns the time before the first measurement of a stream and after the last one.
func (s *stream) absent() []detect.Span {
	first, last := s.measured()
	if first > last {
		return nil
	}
	return []detect.Span{{FromMs: math.MinInt64, ToMs: first}, {FromMs: last, ToMs: math.MaxInt64}}
}

// measured returns the begin of a stream's first measurement and the end of its last one; first > last without one.
func (s *stream) measured() (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	s.causeFacts.Each(func(from, to int64, _ detect.Word) { first, last = min(first, from), max(last, to) })
	return first, last
}

// pauses returns the times in which one stream was paused: its sender muted it, or it had no subscriber.
func (f *fabric) pauses(ssrc, end int64) []Interval {
	return slices.DeleteFunc(f.ofStream(ssrc, end), func(i Interval) bool { return i.Kind == slowed || i.Kind == capped })
}

// The kinds of times in which the application limited a stream.
const (
	limits    = "limits" // a toggle that switches slowed and capped
	slowed    = "slowed" // to at most fewFrames frames per second
	capped    = "capped" // to at most littleBps
	fewFrames = 12
	littleBps = 400e3
)

// limited returns the times of a stream of the kind slowed or capped.
func (f *fabric) limited(kind string, ssrc, end int64) []Interval {
	return slices.DeleteFunc(f.ofStream(ssrc, end), func(i Interval) bool { return i.Kind != kind })
}

func (f *fabric) ofStream(ssrc, end int64) []Interval {
	if ssrc == 0 {
		return nil
	}
	return f.toggled(0, ssrc, end)
}

// toggled returns the intervals between the toggles of a stream, or of those of the whole fabric if ssrc is 0. An interval
// that was never switched off ends at end.
func (f *fabric) toggled(number int, ssrc, end int64) (out []Interval) {
	open := map[string]int{} // kind to index in out
	for _, t := range f.toggles {
		if t.ssrc != ssrc {
			continue
		}
		for kind, begins := range t.switches() {
			i, on := open[kind]
			switch {
			case begins && !on:
				open[kind] = len(out)
				out = append(out, Interval{kind, number, t.at, max(t.at, end)})
			case !begins && on:
				out[i].EndMs = max(out[i].StartMs, t.at)
				delete(open, kind)
			}
		}
	}
	return out
}
