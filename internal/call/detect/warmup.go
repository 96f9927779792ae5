package detect

// WarmUpMs is the time in which a new stream adapts, ms: the jitter buffer shrinks, the bit rate and the
// frame rate grow, key frames are requested for new layers. The value is judgement: Chromium's bandwidth
// estimate takes up to some 15 s.
const WarmUpMs = 20_000

// Adapts reports whether the metric adapts to a new stream within WarmUpMs.
func (l Level) Adapts() bool { return levels[l].adapts }

// WarmUp reports whether a span began and ended within WarmUpMs after one of begins, the times at which
// streams began. The span may begin up to CellMs before the stream, the precision of a Timeline.
func WarmUp(s Span, begins []int64) bool {
	for _, at := range begins {
		if s.FromMs >= at-CellMs && s.ToMs < at+WarmUpMs {
			return true
		}
	}
	return false
}
