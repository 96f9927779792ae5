package conference

import (
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
}

// undecidedOf returns the two scores of an interval; false if it has one.
func undecidedOf(e *event.Event, ms int64) (undecided, bool) {
	switch e.Measured.MediaType {
	case audio:
		return silenceOf(e, ms)
	case video:
		return pictureOf(e, ms)
	}
	return undecided{}, false
}

// addUndecided keeps the earliest intervals, by rank; the others count as measured. The result is a
// function of the set of intervals.
func (s *stream) addUndecided(one undecided) {
	if last, over := keepLowest(&s.undecided, one, maxUndecided, func(a undecided) uint64 { return a.rank }); over {
		s.scored.add(last.measured, last.to-last.from, last.label)
	}
}
