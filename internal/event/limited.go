package event

import "github.com/qosrtc/qos/protocol"

// Limit is a reason for which an encoder is limited, as qualityLimitationReason has it (webrtc-stats).
type Limit string

// The reasons.
const (
	ByBandwidth Limit = "bandwidth"
	ByCPU       Limit = "cpu"
)

// An encoder that reports no reason (Firefox) is limited by bandwidth below this target. With room on its path Firefox has 500 kbit/s and more for
// pictures of at least leastPixels.
const (
	limitedTargetBps = 300e3
	leastPixels      = 176 * 144
)

// LimitedMs returns in how much of the interval the encoder was limited. An encoder that counts no times was limited in all of it or in nothing,
// by its last reason, or by its target if it reports no reason.
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
		return m.all(m.Limitation == string(by))
	case by == ByBandwidth && target > 0 && !m.Layer() && m.Get(protocol.Width)*m.Get(protocol.Height) >= leastPixels:
		return m.all(target < limitedTargetBps)
	}
	return Value{}
}

// all returns the whole interval, or nothing of it.
func (m *Measurement) all(is bool) Value {
	if is {
		return Value{m.IntervalMs, true}
	}
	return Value{0, true}
}
