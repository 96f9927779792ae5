package conference

import (
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
)

// maxUndecided bounds the undecided intervals of a stream.
const maxUndecided = 256

// undecided is an interval with two possible scores; the records of all participants determine which is valid. The
// other score counts silence as loss for audio, and is that of a screen for video.
type undecided struct {
	rank            uint64
	from, to        int64
	measured, other float64
	label           string // of measured
	assumed         bool   // both assume a quantiser
}

// decision holds the times that determine the score of an undecided interval: its other score is valid if at least half of it
// is within other, and it has no score if any part of it is within none.
type decision struct{ other, none []detect.Span }

// decide returns the score of an interval; false if it has none.
func (u *undecided) decide(by decision) (mos float64, ok bool) {
	if overlapMs(u.from, u.to, by.none) > 0 {
		return 0, false
	}
	if 2*overlapMs(u.from, u.to, by.other) < u.to-u.from {
		return u.measured, true
	}
	return u.other, true
}

// undecidedOf returns an interval with its two possible scores; false if it has only one.
func undecidedOf(e *event.Event, ms int64) (undecided, bool) {
	switch e.Measured.MediaType {
	case audio:
		return soundOf(e, ms)
	case video:
		return pictureOf(e, ms)
	}
	return undecided{}, false
}

// addUndecided adds an undecided interval. Only the earliest, by rank, remain undecided; the others have their
// measured score. The result is a function of the set of intervals.
func (s *stream) addUndecided(one undecided) {
	if last, over := keepLowest(&s.undecided, one, maxUndecided, func(a undecided) uint64 { return a.rank }); over {
		s.scoredWith(last.assumed).add(last.measured, last.to-last.from, last.label)
	}
}
