package detect

import (
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/protocol"
)

// The metrics of the level detectors. Each returns false where a measurement is no evidence.
// Measurements hold no value that is out of range: what is known is not negative, but for a loss.

// What is too little to judge by.
const (
	minPackets = 20 // fewer make a fraction of a single loss
	minFrames  = 10
	minBps     = 30e3 // below it there is no motion to code (docs/quality.md)
	minAudible = 0.005
	enoughBps  = 1.5e6 // of a video
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

// concealedRun is the mean length of what was concealed at a time. Up to 60 ms concealment
// goes on with the sound, then it fades out.
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

// frameRate is that of a camera that has something to show. Which rate each of several
// layers should have only the application knows.
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

// bandwidthLimited is no fault of an encoder that has enough for any picture: the estimate of the path has yet to grow.
func bandwidthLimited(m *event.Measurement) (float64, bool) {
	if m.Get(protocol.TargetBitrateBps) >= enoughBps {
		return 0, m.Outbound()
	}
	return limited(m, event.ByBandwidth)
}

func cpuLimited(m *event.Measurement) (float64, bool) {
	return limited(m, event.ByCPU)
}

// limited is the share of time in which the encoder was limited.
func limited(m *event.Measurement, by event.Limit) (float64, bool) {
	if m.Pair() || !m.Outbound() || !m.Video() || m.Value(protocol.Frames).Is(0) { // a browser goes on counting for a layer that is off
		return 0, false
	}
	return share(m, m.LimitedMs(by))
}

// coding is the share of time that was spent on coding pictures.
func coding(m *event.Measurement) (float64, bool) {
	switch {
	case m.Pair() || !m.Video():
		return 0, false
	case m.Outbound():
		return share(m, m.Value(protocol.EncodeMs))
	}
	return share(m, m.Value(protocol.DecodeMs))
}

// dropped is the share of frames that came and were not shown, where the network is not to
// blame.
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

// silence is the level of a microphone that is sent.
func silence(m *event.Measurement) (float64, bool) {
	v, ok := get(m, protocol.AudioLevel)
	return v, ok && !m.Pair() && m.Outbound() && !m.Video() && m.Get(protocol.Packets) > 0
}

// share of the interval.
func share(m *event.Measurement, ms event.Value) (float64, bool) {
	return min(1, ms.V/m.IntervalMs), ms.Known && m.IntervalMs > 0
}

func get(m *event.Measurement, k protocol.Measure) (float64, bool) { return m.Get(k), m.Known(k) }
