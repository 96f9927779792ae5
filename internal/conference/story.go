package conference

import (
	"math"

	"github.com/qosrtc/qos/internal/cause"
	"github.com/qosrtc/qos/internal/detect"
)

// What causes are found from: for each stretch of a stream's time, what its measurements
// said. It is a function of the set of measurements, like all else that is kept.
const (
	told      detect.Facts = 1 << iota // there was a measurement
	lossSeen                           // the loss could be told
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
func storyOf(m *Stats, screen bool) detect.Facts {
	facts := told | rttFacts(m)
	if m.StatsType == candidatePair {
		return facts
	}
	facts |= pathFacts(m)
	if m.StatsType == outboundRTP {
		facts |= encoderFacts(m)
	} else {
		facts |= decoderFacts(m)
	}
	if m.Rid == "" { // of several layers some are off, and it is nobody's fault
		facts |= contentFacts(m, screen)
	}
	return facts
}

func when(is bool, fact detect.Facts) detect.Facts {
	if is {
		return fact
	}
	return 0
}

func rttFacts(m *Stats) detect.Facts {
	return when(m.RTTMs.Known, rttSeen) | when(m.RTTMs.Known && m.RTTMs.V > cause.DelayMs, slow)
}

// pathFacts are about loss and jitter, on the way here or as the remote end tells.
func pathFacts(m *Stats) detect.Facts {
	jitter, loss := m.JitterMs, Value{}
	if m.StatsType == outboundRTP {
		jitter = m.RemoteJitterMs
		switch {
		case m.RemoteLossFraction.Known:
			loss = m.RemoteLossFraction
		case m.RemoteLost.Known && m.Packets > 0:
			loss = Known(m.RemoteLost.V / m.Packets)
		}
	} else if expected := m.Packets + max(0, m.PacketsLost); expected >= storyPackets && !m.LossUntold {
		loss = Known(max(0, m.PacketsLost) / expected)
	}
	if m.Packets < storyPackets && !loss.Known {
		return 0
	}
	even := m.MediaType == audio || m.FPS.V >= storyFPS // few pictures come unevenly by nature
	return when(loss.Known || jitter.Known, lossSeen) | when(loss.Known && loss.V > cause.LossFraction, lossy) |
		when(jitter.Known && jitter.V > jitterLimit(m) && m.Packets >= storyPackets && even, jittery)
}

func jitterLimit(m *Stats) float64 {
	if m.MediaType == audio {
		return cause.SoundJitterMs
	}
	return cause.JitterMs
}

// held reports whether the encoder was held back for most of the interval.
func held(m *Stats, ms Value, reason string) bool {
	if ms.Known {
		return ms.V >= m.IntervalMs/2
	}
	return m.Limitation == reason
}

func encoderFacts(m *Stats) detect.Facts {
	rate := m.TargetBitrateBps.V
	if !m.TargetBitrateBps.Known {
		rate = 8000 * m.Bytes / max(1, m.IntervalMs)
	}
	starved := m.MediaType == video && m.Rid == "" && m.TargetBitrateBps.V > 0 && m.TargetBitrateBps.V < cause.NoBandwidth
	return when(starved || held(m, m.BandwidthLimitedMs, "bandwidth") && rate < cause.LittleBandwidth, limited) |
		when(held(m, m.CPULimitedMs, "cpu"), cpuBound) | when(m.Limitation != "", limitSeen) |
		when(tooBusy(m, m.EncodeMs), busy)
}

// tooBusy: coding took nearly all of the time, or much of it and too little came of it. A
// slow machine that keeps up is no fault.
func tooBusy(m *Stats, coding Value) bool {
	slow := m.FPS.Known && m.FPS.V < cause.SmoothFPS && coding.V >= cause.SlowWorkShare*m.IntervalMs
	return coding.Known && (slow || coding.V >= cause.WorkShare*m.IntervalMs)
}

func decoderFacts(m *Stats) detect.Facts {
	expected := m.Packets + max(0, m.PacketsLost)
	whole := !m.LossUntold && m.PacketsLost < cause.ChoppyLoss*expected
	shown := m.FramesDecoded.V - max(0, m.FramesDropped.V)
	made := max(0, m.ConcealedSamples-m.SilentConcealed)
	calm := m.JitterMs.Known && m.JitterMs.V <= cause.SoundJitterMs // what comes late is made up as well
	return when(m.FramesDecoded.Known && m.Frames.Known && m.Frames.V >= storyFrames && whole && shown < cause.StuckFraction*m.Frames.V, stuck) |
		when(m.Samples > 0 && expected >= storyPackets && whole && calm && made > cause.ChoppyFraction*m.Samples, choppy) |
		when(tooBusy(m, m.DecodeMs), busy)
}

// contentFacts are about what there was to send, or what came.
func contentFacts(m *Stats, screen bool) detect.Facts {
	if m.Packets == 0 {
		off := m.MediaType == video && m.TargetBitrateBps.Known && m.TargetBitrateBps.V == 0 // a server asked for none of it
		return when(m.PacketsSeen.Known && !off, nothing)
	}
	switch {
	case m.StatsType == outboundRTP && m.MediaType == audio:
		return when(m.AudioLevel.Known && m.AudioLevel.V < cause.SilentLevel, weak)
	case m.StatsType == outboundRTP && m.MediaType == video && !screen:
		few := m.Frames.Known && m.Frames.V*1000 < cause.WeakFPS*m.IntervalMs
		if few && m.Bytes*8000 < blackBps*m.IntervalMs { // what a browser sends for a camera that is gone
			return nothing
		}
		free := !held(m, m.BandwidthLimitedMs, "bandwidth") && !held(m, m.CPULimitedMs, "cpu") // else it is not for want of pictures
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
func (s *stream) tell(e *Event, screen bool) {
	ms := int64(min(max(e.Stats.IntervalMs, 1), storyIntervalMs))
	s.story.AddFacts(e.AtMs-ms, e.AtMs, storyOf(e.Stats, screen))
}

// offBeat reports whether an interval is not of whole seconds, or nearly so.
func offBeat(intervalMs float64) bool {
	rest := math.Mod(intervalMs, cause.BeatMs)
	return rest > cause.OffBeatMs && rest < cause.BeatMs-cause.OffBeatMs
}

// storyIntervalMs is the protocol's longest interval.
const storyIntervalMs = 600_000
