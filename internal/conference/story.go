package conference

import (
	"math"

	"github.com/qosrtc/qos/internal/cause"
	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/protocol"
)

// What causes are found from: for each stretch of a stream's time, what its measurements
// said. It is a function of the set of measurements, like all else that is kept.
const (
	told      detect.Facts = 1 << iota // there was a measurement
	lossSeen                           // the loss was known
	lossy                              // it was over cause.LossFraction
	jittery                            // over cause.JitterMs
	rttSeen                            // the round trip was told
	slow                               // it was over cause.DelayMs
	limited                            // the encoder had little bandwidth
	cpuBound                           // the encoder had too little processor
	busy                               // coding took most of the time
	stuck                              // frames came and were not shown
	choppy                             // sound was made up though nothing was lost
	nothing                            // not a packet, or a black picture now and then
	weak                               // packets, and next to nothing in them
	limitSeen                          // the encoder said whether it was held back
)

// What is too little to judge by.
const (
	storyPackets = 10
	storyFrames  = 5
	storyFPS     = 8
	blackBps     = 2000
)

// storyOf says what a measurement says.
func storyOf(m *event.Measurement) detect.Facts {
	facts := told | rttFacts(m)
	if m.Pair() {
		return facts
	}
	facts |= pathFacts(m)
	if m.Outbound() {
		facts |= encoderFacts(m)
	} else {
		facts |= decoderFacts(m)
	}
	if !m.Layer() { // of several layers some are off, and it is nobody's fault
		facts |= contentFacts(m)
	}
	return facts
}

func when(is bool, fact detect.Facts) detect.Facts {
	if is {
		return fact
	}
	return 0
}

func rttFacts(m *event.Measurement) detect.Facts {
	return when(m.Known(protocol.RTTMs), rttSeen) | when(m.Known(protocol.RTTMs) && m.Get(protocol.RTTMs) > cause.DelayMs, slow)
}

// pathFacts are about loss and jitter, on the way here or as the remote end tells.
func pathFacts(m *event.Measurement) detect.Facts {
	jitter, all := m.ReceiverJitterMs(), m.Loss()
	loss := all.Fraction
	if m.Inbound() && all.Expected < storyPackets {
		loss = event.Value{}
	}
	if m.Get(protocol.Packets) < storyPackets && !loss.Known {
		return 0
	}
	even := m.Audio() || m.Get(protocol.FPS) >= storyFPS // few pictures come unevenly by nature
	return when(loss.Known || jitter.Known, lossSeen) | when(loss.Known && loss.V > cause.LossFraction, lossy) |
		when(jitter.Known && jitter.V > jitterLimit(m) && m.Get(protocol.Packets) >= storyPackets && even, jittery)
}

func jitterLimit(m *event.Measurement) float64 {
	if m.Audio() {
		return cause.SoundJitterMs
	}
	return cause.JitterMs
}

// held reports whether the encoder was held back for most of the interval.
func held(m *event.Measurement, ms event.Value, reason string) bool {
	if ms.Known {
		return ms.V >= m.IntervalMs/2
	}
	return m.Limitation == reason
}

func encoderFacts(m *event.Measurement) detect.Facts {
	rate := m.Get(protocol.TargetBitrateBps)
	if !m.Known(protocol.TargetBitrateBps) {
		rate = 8000 * m.Get(protocol.Bytes) / max(1, m.IntervalMs)
	}
	starved := m.Video() && !m.Layer() && m.Get(protocol.TargetBitrateBps) > 0 && m.Get(protocol.TargetBitrateBps) < cause.NoBandwidth
	return when(starved || held(m, m.Value(protocol.BandwidthLimitedMs), "bandwidth") && rate < cause.LittleBandwidth, limited) |
		when(held(m, m.Value(protocol.CPULimitedMs), "cpu"), cpuBound) | when(m.Limitation != "", limitSeen) |
		when(tooBusy(m, m.Value(protocol.EncodeMs)), busy)
}

// tooBusy: coding took nearly all of the time, or much of it and too little came of it. A
// slow machine that keeps up is no fault.
func tooBusy(m *event.Measurement, coding event.Value) bool {
	slow := m.Known(protocol.FPS) && m.Get(protocol.FPS) < cause.SmoothFPS && coding.V >= cause.SlowWorkShare*m.IntervalMs
	return coding.Known && (slow || coding.V >= cause.WorkShare*m.IntervalMs)
}

func decoderFacts(m *event.Measurement) detect.Facts {
	loss := m.Loss()
	whole := loss.Lost.Known && loss.Lost.V < cause.ChoppyLoss*loss.Expected
	shown := m.Get(protocol.FramesDecoded) - max(0, m.Get(protocol.FramesDropped))
	calm := m.Known(protocol.JitterMs) && m.Get(protocol.JitterMs) <= cause.SoundJitterMs // what comes late is made up as well
	return when(m.Known(protocol.FramesDecoded) && m.Known(protocol.Frames) && m.Get(protocol.Frames) >= storyFrames && whole && shown < cause.StuckFraction*m.Get(protocol.Frames), stuck) |
		when(m.Get(protocol.Samples) > 0 && loss.Expected >= storyPackets && whole && calm && m.AudiblyConcealed().V > cause.ChoppyFraction*m.Get(protocol.Samples), choppy) |
		when(tooBusy(m, m.Value(protocol.DecodeMs)), busy)
}

// contentFacts are about what there was to send, or what came.
func contentFacts(m *event.Measurement) detect.Facts {
	if m.Get(protocol.Packets) == 0 {
		off := m.Video() && m.Value(protocol.TargetBitrateBps).Is(0) // a server asked for none of it
		return when(m.Known(protocol.Packets) && !off, nothing)
	}
	switch {
	case m.Outbound() && m.Audio():
		return when(m.Known(protocol.AudioLevel) && m.Get(protocol.AudioLevel) < cause.SilentLevel, weak)
	case m.Outbound() && m.Video() && !m.Screen:
		few := m.Known(protocol.Frames) && m.Get(protocol.Frames)*1000 < cause.WeakFPS*m.IntervalMs
		if few && m.Get(protocol.Bytes)*8000 < blackBps*m.IntervalMs { // what a browser sends for a camera that is gone
			return nothing
		}
		free := !held(m, m.Value(protocol.BandwidthLimitedMs), "bandwidth") && !held(m, m.Value(protocol.CPULimitedMs), "cpu") // else it is not for want of pictures
		return when(free && few, weak)
	}
	return 0
}

// storyMs sums up the time in which a fact held.
func storyMs(line *detect.Timeline, fact detect.Facts) (ms float64) {
	line.Each(func(from, to int64, word detect.Word) {
		if word&fact == fact {
			ms += float64(to - from)
		}
	})
	return ms
}

// storyWithout sums up the time in which a fact held, and none of the excuses.
func storyWithout(line *detect.Timeline, fact detect.Facts, excuses []Interval) (ms float64) {
	line.Each(func(from, to int64, word detect.Word) {
		if word&fact != fact {
			return
		}
		for _, e := range excuses { // ascending, disjoint
			ms += float64(max(0, min(to, e.StartMs)-from))
			from = max(from, min(to, e.EndMs))
		}
		ms += float64(to - from)
	})
	return ms
}

// tell adds a measurement to the stream's story.
func (s *stream) tell(e *event.Event) {
	ms := int64(min(max(e.Measured.IntervalMs, 1), storyIntervalMs))
	s.story.AddFacts(e.AtMs-ms, e.AtMs, storyOf(e.Measured))
}

// offBeat reports whether an interval is not of whole seconds, or nearly so.
func offBeat(intervalMs float64) bool {
	rest := math.Mod(intervalMs, cause.BeatMs)
	return rest > cause.OffBeatMs && rest < cause.BeatMs-cause.OffBeatMs
}

// storyIntervalMs is the protocol's longest interval.
const storyIntervalMs = 600_000
