package conference

import (
	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/event"
)

// maxUndecided is the number of undecided intervals of a stream.
const maxUndecided = 256

// undecided is an interval with two scores, of which the records of all participants decide: of audio the
// second counts silence as loss, of video it is that of a screen. Where nothing was expected it has no score.
type undecided struct {
	rank            uint64
	from, to        int64
	measured, other float64
	label           string // of measured
	assumed         bool   // both assume a quantiser
}

// decided are the times that decide: in which an interval has its other score if half of it lies there, and no score if a part of it does.
type decided struct{ other, none []detect.Span }

// decide returns the score of an interval; false if it has none.
func (u *undecided) decide(by decided) (mos float64, ok bool) {
	if within(u.from, u.to, by.none) > 0 {
		return 0, false
	}
	if 2*within(u.from, u.to, by.other) < u.to-u.from {
		return u.measured, true
	}
	return u.other, true
}

// undecidedOf returns the two scores of an interval; false if it has one.
func undecidedOf(e *event.Event, ms int64) (undecided, bool) {
	switch e.Measured.MediaType {
	case audio:
		return soundOf(e, ms)
	case video:
		return pictureOf(e, ms)
	}
	return undecided{}, false
}

// addUndecided keeps the earliest intervals, by rank; the others count as measured. The result is a
// function of the set of intervals.
func (s *stream) addUndecided(one undecided) {
	if last, over := keepLowest(&s.undecided, one, maxUndecided, func(a undecided) uint64 { return a.rank }); over {
		s.scoredWith(last.assumed).add(last.measured, last.to-last.from, last.label)
	}
}
