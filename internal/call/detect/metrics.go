package detect

import (
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// The metrics of the level detectors. Each returns false where a measurement is no evidence.
// No value of a measurement is out of range: known values are not negative, except losses.

// Limits below which a measurement is no evidence, but for enoughBps.
const (
	minPackets = 20 // with fewer packets a single loss is a high fraction
	minFrames  = 10
	minBps     = 30e3 // a camera at a lower bit rate shows no motion (docs/quality.md)
	minAudible = 0.005
	enoughBps  = 1.5e6 // target bit rate that suffices for any video
)

func inbound(m *event.Measurement, video bool) bool {
	return !m.Pair() && !m.Outbound() && m.Video() == video
}

func loss(m *event.Measurement) (float64, bool) {
	if m.Pair() {
		return 0, false
	}
	l := m.Loss()
	return l.Fraction.V, l.Fraction.Known && l.Expected >= minPackets
}

// concealedRun returns the mean length of a concealment, ms. Up to 60 ms concealment continues
// the sound, then it fades out.
func concealedRun(m *event.Measurement) (float64, bool) {
	share, ok := concealed(m)
	if !ok || !m.Known(protocol.ConcealmentEvents) || !(m.IntervalMs > 0) {
		return 0, false
	}
	if share < minAudible || m.Get(protocol.ConcealmentEvents) <= 0 {
		return 0, true
	}
	return share * m.IntervalMs / m.Get(protocol.ConcealmentEvents), true
}

func concealed(m *event.Measurement) (float64, bool) {
	audible, samples := m.AudiblyConcealed(), m.Get(protocol.Samples)
	if !inbound(m, false) || !audible.Known || samples <= 0 || m.Undecoded() {
		return 0, false
	}
	return min(1, audible.V/samples), true
}

func frozen(m *event.Measurement) (float64, bool) {
	if !inbound(m, true) || m.Screen {
		return 0, false
	}
	if m.Undecoded() {
		return 0, false
	}
	if m.Value(protocol.FramesDecoded).Is(0) && m.Get(protocol.Packets) >= minPackets && !m.IsPadding() {
		return 1, true
	}
	return share(m, m.StillMs())
}

// frameRate returns the frames per second of a camera whose picture moves. A simulcast layer is
// no evidence: the application chooses its rate.
func frameRate(m *event.Measurement) (float64, bool) {
	moving := m.Get(protocol.Bytes)*8000 >= minBps*m.IntervalMs
	if m.Pair() || !m.Video() || m.Screen || m.Outbound() && m.Layer() || !m.Known(protocol.FPS) || !moving {
		return 0, false
	}
	return m.Get(protocol.FPS), m.Get(protocol.FPS) > 0
}

func rtt(m *event.Measurement) (float64, bool) { return get(m, protocol.RTTMs) }

func jitter(m *event.Measurement) (float64, bool) {
	v := m.ReceiverJitterMs()
	return v.V, v.Known && (m.Outbound() || m.Get(protocol.Packets) >= minPackets)
}

func jitterBuffer(m *event.Measurement) (float64, bool) {
	v := m.NetworkBufferMs()
	return v.V, v.Known && inbound(m, false)
}

// bandwidthLimited returns the share of time in which the network limited the encoder; 0 at a target
// bit rate that suffices for any picture: there the bandwidth estimate is still growing.
func bandwidthLimited(m *event.Measurement) (float64, bool) {
	if m.Get(protocol.TargetBitrateBps) >= enoughBps {
		return 0, m.Outbound()
	}
	return limited(m, event.ByBandwidth)
}

func cpuLimited(m *event.Measurement) (float64, bool) {
	return limited(m, event.ByCPU)
}

// limited returns the share of time in which the encoder was limited.
func limited(m *event.Measurement, by event.Limit) (float64, bool) {
	if m.Pair() || !m.Outbound() || !m.Video() || m.Value(protocol.Frames).Is(0) { // a browser counts time for inactive layers too
		return 0, false
	}
	return share(m, m.LimitedMs(by))
}

// coding returns the share of time that the encoder or decoder spent on pictures.
func coding(m *event.Measurement) (float64, bool) {
	switch {
	case m.Pair() || !m.Video():
		return 0, false
	case m.Outbound():
		return share(m, m.Value(protocol.EncodeMs))
	}
	return share(m, m.Value(protocol.DecodeMs))
}

// dropped returns the share of received frames that were not shown, where loss is not the cause.
func dropped(m *event.Measurement) (float64, bool) {
	frames := m.Get(protocol.Frames)
	if !inbound(m, true) || !m.Known(protocol.FramesDropped) || frames < minFrames || m.Undecoded() || m.Loss().Fraction.V >= 0.02 {
		return 0, false
	}
	return min(1, m.Get(protocol.FramesDropped)/frames), true
}

func keyFrameRequests(m *event.Measurement) (float64, bool) {
	if m.Pair() || !m.Video() || !m.Known(protocol.PLIs) || !(m.IntervalMs > 0) || m.Undecoded() {
		return 0, false
	}
	return (m.Get(protocol.PLIs) + m.Get(protocol.FIRs)) * 1000 / m.IntervalMs, true
}

// silence returns the audio level of a microphone whose audio is sent.
func silence(m *event.Measurement) (float64, bool) {
	v, ok := get(m, protocol.AudioLevel)
	return v, ok && !m.Pair() && m.Outbound() && !m.Video() && m.Get(protocol.Packets) > 0
}

// share returns ms as a share of the interval.
func share(m *event.Measurement, ms event.Value) (float64, bool) {
	return min(1, ms.V/m.IntervalMs), ms.Known && m.IntervalMs > 0
}

func get(m *event.Measurement, k protocol.Measure) (float64, bool) { return m.Get(k), m.Known(k) }
