package conference

import (
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/detect"
)

// intervals returns the times in which all that this end sends was muted, on hold or shared. Media whose streams
// were all paused were muted.
func (f *fabric) intervals(number int, end int64) []Interval {
	return slices.Concat(f.paired(number, 0, end), f.silenced(number, audio, end), f.silenced(number, video, end))
}

// silenced returns the times in which each stream of a kind of media that this end sends was paused or was not there.
func (f *fabric) silenced(number int, media string, end int64) (out []Interval) {
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

// measured returns when the first measurement of a stream began and the last one ended; the first is later where there is none.
func (s *stream) measured() (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	s.causeFacts.Each(func(from, to int64, _ detect.Word) { first, last = min(first, from), max(last, to) })
	return first, last
}

// pauses returns the times in which one stream was paused: its sender muted it, or nobody wanted it.
func (f *fabric) pauses(ssrc, end int64) []Interval {
	return slices.DeleteFunc(f.ofStream(ssrc, end), func(i Interval) bool { return i.Kind == slowed || i.Kind == capped })
}

// The kinds of the times in which the application limited a stream, and of the toggle that switches both.
const (
	limits    = "limits"
	slowed    = "slowed" // to at most fewFrames pictures a second
	capped    = "capped" // to at most littleBps
	fewFrames = 12
	littleBps = 400e3
)

// limited returns the times of a kind.
func (f *fabric) limited(kind string, ssrc, end int64) []Interval {
	return slices.DeleteFunc(f.ofStream(ssrc, end), func(i Interval) bool { return i.Kind != kind })
}

func (f *fabric) ofStream(ssrc, end int64) []Interval {
	if ssrc == 0 {
		return nil
	}
	return f.paired(0, ssrc, end)
}

// paired pairs the switches of a stream, or of all if ssrc is 0. An interval that was never switched off ends with the fabric.
func (f *fabric) paired(number int, ssrc, end int64) (out []Interval) {
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
