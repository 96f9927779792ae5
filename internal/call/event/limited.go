package event

import "github.com/qosrtc/qos/protocol"

// Limit is a reason for which an encoder is limited: a qualityLimitationReason (webrtc-stats).
type Limit string

// The reasons.
const (
	ByBandwidth Limit = "bandwidth"
	ByCPU       Limit = "cpu"
)

// An encoder that reports no reason (Firefox) counts as limited by bandwidth below this target. With sufficient bandwidth
// Firefox has a target of 500 kbit/s and more for pictures of at least leastPixels.
const (
	limitedTargetBps = 300e3
	leastPixels      = 176 * 144
)

// LimitedMs returns the time in the interval in which the encoder was limited. For an encoder that counts no times it is the
// whole interval or 0, by the last reason, or by the target bit rate if the encoder reports no reason.
func (m *Measurement) LimitedMs(by Limit) Value {
	counted := protocol.CPULimitedMs
	if by == ByBandwidth {
		counted = protocol.BandwidthLimitedMs
	}
	target := m.Get(protocol.TargetBitrateBps)
	switch {
	case m.Known(counted):
		return m.Value(counted)
	case m.Limitation != "":
		return m.wholeOrZero(m.Limitation == string(by))
	case by == ByBandwidth && target > 0 && !m.Layer() && m.Get(protocol.Width)*m.Get(protocol.Height) >= leastPixels:
		return m.wholeOrZero(target < limitedTargetBps)
	}
	return Value{}
}

// wholeOrZero returns the whole interval, or 0.
func (m *Measurement) wholeOrZero(is bool) Value {
	if is {
		return Value{m.IntervalMs, true}
	}
	return Value{0, true}
}
