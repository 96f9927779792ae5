package detect

// WarmUpMs is the time after the beginning of a stream in which its parts adapt, ms: the jitter buffer shrinks, the bit rate
// and the frame rate grow, key frames are requested for new layers. The value is judgement: Chromium's estimate of the bandwidth takes
// up to some 15 s.
const WarmUpMs = 20_000

// Adapts reports whether the metric is that of a part that adapts to a new stream.
func (l Level) Adapts() bool { return levels[l].adapts }

// WarmUp reports whether a span began and ended within WarmUpMs after one of the times at which a stream began. The span may have
// begun up to CellMs before the stream, the precision of a Timeline.
func WarmUp(s Span, begins []int64) bool {
	for _, at := range begins {
		if s.FromMs >= at-CellMs && s.ToMs < at+WarmUpMs {
			return true
		}
	}
	return false
}
