package conference

import (
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/call/quality"
)

// A stream's label follows its interval scores with hysteresis: it falls with the first worse
// interval, and rises after two better ones in a row that are 0.1 above the bound. So scores
// around a bound change it once.

// LabelSpan is a time in which a stream had one label.
type LabelSpan struct {
	Label   string `json:"label"`   // excellent, good, fair, poor or bad
	StartMs int64  `json:"startMs"` // in ms since the Unix epoch
	EndMs   int64  `json:"endMs"`   // in ms since the Unix epoch
}

// maxLabelSpans bounds a stream's list.
const maxLabelSpans = 64

// labelState is the input of the hysteresis: twice the rank of the score's label, plus one if
// the score is within labelMargin of the bound, so that a worse stream does not rise to it.
func labelState(mos float64, labels quality.Bounds) int {
	for rank, bound := range labels {
		if mos >= bound {
			return 2*rank + btoi(mos < bound+labelMargin)
		}
	}
	return 2 * badLabel
}

// labeler derives the label spans from a stream's scores in order of time.
type labeler struct {
	needMs   int64 // consecutive time of better scores that a rise needs
	rank     int   // of the current label; -1 before the first score
	betterMs int64 // consecutive time of better scores so far
	earned   int   // the worst rank of the scores in betterMs
	lastMs   int64
	spans    []LabelSpan
	listed   bool // the current label is the last of spans
	changes  int
}

// labelSpans returns the stream's labels over time, and the number of changes.
func (s *stream) labelSpans() ([]LabelSpan, int) {
	l := labeler{rank: -1, spans: []LabelSpan{}, needMs: int64(1.5 * s.interval.value() / float64(max(1, s.count)))}
	s.detectors.line.Each(func(from, to int64, word detect.Word) {
		if state, ok := word.State(); ok {
			l.step(state/2, state%2 == 1, from, to)
		}
	})
	return l.spans, l.changes
}

func (l *labeler) step(rank int, near bool, from, to int64) {
	if l.rank >= 0 && from-l.lastMs > instance.Gap {
		l.rank = -1 // no score for longer than the gap
	}
	l.lastMs = to
	earned := rank + btoi(near)
	switch {
	case l.rank < 0, rank > l.rank:
		l.become(rank, from)
	case earned >= l.rank:
		l.betterMs = 0
	default:
		l.better(earned, from, to)
	}
	l.extend(to)
}

// better adds scores whose label is better than the stream's.
func (l *labeler) better(earned int, from, to int64) {
	if l.betterMs == 0 {
		l.earned = earned
	}
	l.earned = max(l.earned, earned)
	before := l.betterMs
	l.betterMs += to - from
	if l.betterMs >= l.needMs {
		at := min(to, from+max(0, l.needMs-before))
		l.extend(at)
		l.become(l.earned, at)
	}
}

func (l *labeler) become(rank int, at int64) {
	l.changes += btoi(l.rank >= 0)
	l.rank, l.betterMs = rank, 0
	if l.listed = len(l.spans) < maxLabelSpans; l.listed {
		l.spans = append(l.spans, LabelSpan{labelNames[rank], at, at})
	}
}

// extend extends the current span to at.
func (l *labeler) extend(at int64) {
	if l.listed {
		last := &l.spans[len(l.spans)-1]
		last.EndMs = max(last.EndMs, at)
	}
}
