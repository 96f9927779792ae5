package conference

import (
	"math"

	"github.com/qosrtc/qos/internal/cause"
	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/protocol"
)

// Causes follow from facts about each measured interval of a stream. The time-line of facts is
// a function of the set of measurements.
const (
	hasMeasurement detect.Facts = 1 << iota // the interval was measured
	lossSeen                                // the loss is known
	lossy                                   // the loss is over cause.LossFraction
	jittery                                 // the jitter is over cause.JitterMs, of audio cause.SoundJitterMs
	rttSeen                                 // the round-trip time is known
	slow                                    // the round-trip time is over cause.DelayMs
	limited                                 // the encoder was limited by bandwidth
	cpuBound                                // the encoder was limited by CPU
	busy                                    // coding took most of the time
	stuck                                   // frames were received and not shown
	choppy                                  // samples were concealed without loss
	concealed                               // with or without
	nothing                                 // no packets, or black frames at a low rate
	weak                                    // packets with almost no content
	limitSeen                               // the encoder's limitation is known
	still                                   // frames were sent of pictures that do not change
	moving                                  // frames were sent of pictures that change
	screen                                  // the client reports a screen
	waiting                                 // the jitter buffer of audio holds more than cause.BufferMs
	grown                                   // more than cause.GrownBufferMs
	holding                                 // more than cause.CalmBufferMs
	blank                                   // frames were sent with hardly more than a header, as of a camera that is switched off
	gap                                     // sound was concealed because packets are missing that do not count as lost
	surplus                                 // more sound arrived than the interval is long
	halting                                 // less sound was sent than the interval is long
	below100                                // an encoder with less than 100 kbit/s, or a path with room for more than that (rooms)
	below200
	below300
	flowing   // packets were sent or received
	undecoded // media arrived and nothing of them could be decoded
	padding   // packets arrived without payload
	unseen    // no packet arrived of a picture that has a place on the page
	delayed   // the jitter buffer was to hold more than chosenDelayMs beyond what the network needs
)

// Below these a measurement proves no fault.
const (
	minFactPackets = 20
	minFactFrames  = 5
	minFactFPS     = 8
	blackBps       = 2000
	chosenDelayMs  = 150
)

// causeFactsOf returns the facts of a measurement.
func causeFactsOf(m *event.Measurement) detect.Facts {
	facts := hasMeasurement | rttFacts(m)
	if m.Pair() {
		return facts | roomFacts(func(r room) bool { return m.Get(protocol.AvailableOutgoingBps) >= r.pathBps })
	}
	facts |= pathFacts(m) | when(m.Get(protocol.Packets) > 0, flowing)
	if m.Outbound() {
		facts |= encoderFacts(m) | pictureFacts(m) | when(m.Screen, screen)
	} else {
		facts |= decoderFacts(m) | when(m.Get(protocol.ExternalDelayMs) > chosenDelayMs, delayed)
	}
	if !m.Layer() { // simulcast layers may be off without a fault
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

// pathFacts returns the facts about loss and jitter, measured here or reported by the remote end.
func pathFacts(m *event.Measurement) detect.Facts {
	jitter, all := m.ReceiverJitterMs(), m.Loss()
	loss := all.Fraction
	if all.Expected < minFactPackets {
		loss = event.Value{}
	}
	if m.Get(protocol.Packets) < minFactPackets && !loss.Known {
		return 0
	}
	even := m.Audio() || m.Get(protocol.FPS) >= minFactFPS // at low frame rates jitter is high without a fault
	return when(loss.Known || jitter.Known, lossSeen) | when(loss.Known && loss.V > cause.LossFraction, lossy) |
		when(m.Get(protocol.Packets) >= minFactPackets && even && (jitter.Known && jitter.V > jitterLimit(m) || stalled(m)), jittery) |
		bufferFacts(m)
}

// bufferFacts returns how much the jitter buffer of audio holds.
func bufferFacts(m *event.Measurement) detect.Facts {
	if m.Get(protocol.Packets) < minFactPackets {
		return 0
	}
	return when(buffers(m, cause.BufferMs), waiting) | when(buffers(m, cause.GrownBufferMs), grown) | when(buffers(m, cause.CalmBufferMs), holding)
}

// A network that stalls delivers packets late and together. The jitter, a mean of the last 16 packets,
// forgets a stall within a third of a second; the jitter buffer, which has grown, does not.
const (
	stallBufferMs = 150  // mean time in the buffer of audio
	stallShare    = 0.02 // of the samples, audibly concealed
)

// waits reports whether a jitter buffer of audio has grown.
func waits(m *event.Measurement) bool { return buffers(m, stallBufferMs) }

func buffers(m *event.Measurement, ms float64) bool {
	return m.Audio() && m.Inbound() && m.NetworkBufferMs().V > ms
}

// stalled reports whether packets were late for a grown buffer although none was lost.
func stalled(m *event.Measurement) bool {
	loss := m.Loss()
	return waits(m) && loss.Lost.Known && loss.Lost.V < cause.ChoppyLoss*loss.Expected &&
		m.Get(protocol.Samples) > 0 && m.AudiblyConcealed().V > stallShare*m.Get(protocol.Samples)
}

// Sound that is missing although no packet counts as lost.
const (
	packetMs  = 20  // of sound in a packet; longer packets are so few that they count as sent with pauses
	leastGap  = 400 // ms that are missing in an interval: browsers count the packets of shorter gaps
	surplusMs = 100 // of sound that arrives in an interval beyond its length: it was late in the one before
)

// soundMs returns the time of the sound in the packets.
func soundMs(m *event.Measurement) float64 { return packetMs * m.Get(protocol.Packets) }

// gapped reports whether a part of the sound was concealed and as many packets did not arrive, none of which counts as lost:
// browsers take a gap of more than 50 packets for a new beginning of the stream.
func gapped(m *event.Measurement) bool {
	return m.Inbound() && m.Audio() && m.Get(protocol.Packets) > 0 && soundMs(m) <= m.IntervalMs-leastGap &&
		m.Get(protocol.Samples) > 0 && m.Get(protocol.ConcealedSamples) > cause.LossFraction*m.Get(protocol.Samples)
}

// gaps returns the times of received sound of which a part is missing without a loss, if all of it was sent. What is late
// arrives in the interval that follows.
func (s *stream) gaps() (missing []detect.Span) {
	if len(s.unbroken) == 0 {
		return nil
	}
	var last detect.Span
	s.causeFacts.Each(func(from, to int64, word detect.Word) {
		if n := len(missing); word&surplus != 0 && n > 0 && missing[n-1] == last {
			missing = missing[:n-1]
		}
		last = detect.Span{FromMs: from, ToMs: to}
		if word&(gap|lossy) == gap && within(from, to, s.unbroken) == to-from {
			missing = append(missing, last)
		}
	})
	return missing
}

// halts returns the times around the intervals of sent sound in which a part of it was not sent.
func (p *participant) halts() (spans []detect.Span) {
	for _, f := range p.fabrics {
		for key, s := range f.streams {
			if key.statsType == outboundRTP && key.mediaType == audio {
				spans = append(spans, extended(s.factSpans(halting|nothing), f.intervalMs())...)
			}
		}
	}
	return detect.Merge(spans)
}

// A frame of a picture that equals the one before has little more than a header, or, if the encoder codes it again as
// well as it can, a hundredth of a byte a pixel; noise alone makes a camera's frame many times larger.
const (
	stillFrameBytes = 50
	stillPixels     = 5000 // for one more byte
	blankTimes      = 2
	movingTimes     = 5
	bestCoding      = 0.98 // from which an encoder cannot code a picture any better
	bestStillPixels = 80   // for one more byte of a picture that is coded so well and does not change
)

// pictureFacts returns whether a camera's picture changes.
func pictureFacts(m *event.Measurement) detect.Facts {
	frames := m.Get(protocol.Frames)
	if !m.Video() || m.Screen || m.Layer() || frames*1000 < cause.WeakFPS*m.IntervalMs || !m.Known(protocol.Bytes) {
		return 0
	}
	limit := stillFrameBytes + m.Get(protocol.Width)*m.Get(protocol.Height)/stillPixels
	size := m.Get(protocol.Bytes) / max(1, frames)
	coding, known := quality.Coding(m.Codec, m.Get(protocol.QP))
	empty := when(size < blankTimes*limit, blank)
	if best := m.Get(protocol.Width) * m.Get(protocol.Height) / bestStillPixels; known && m.Known(protocol.QP) && coding >= bestCoding && size < best {
		return still | empty
	}
	return empty | when(size < limit, still) | when(size > movingTimes*limit, moving)
}

// stillAtEndMs returns how long a picture had not changed at the end, if it changed for most of the time
// before. A camera that froze or went black does so; a photograph is still from the beginning, and slides
// change now and then.
func (s *stream) stillAtEndMs(excuses []Interval) float64 {
	var last, endMs int64 // the newest change, and the end
	s.causeFacts.Each(func(_, to int64, word detect.Word) {
		endMs = max(endMs, to)
		if word&(still|moving) != still {
			last = to
		}
	})
	after, before := 0.0, 0.0
	s.causeFacts.Each(func(from, to int64, word detect.Word) {
		switch ms := float64(to - from); {
		case from >= last && word&still != 0:
			after += ms
		case word&moving != 0:
			before += ms
		case word&still != 0: // it was still before too
			before -= ms
		}
	})
	for _, e := range excuses {
		after -= float64(max(0, min(endMs, e.EndMs)-max(last, e.StartMs)))
	}
	if before < minMovingMs {
		return 0
	}
	return max(0, after)
}

// blankInTurnsMs returns for how long pictures were blank in turns with others, which must be there for at least as long:
// a camera that is switched off now and then. Slides do not change for most of the time.
func (s *stream) blankInTurnsMs(intervalMs int64, excuses []Interval) float64 {
	all, empty := factMs(&s.causeFacts, hasMeasurement, nil), factMs(&s.causeFacts, blank, nil)
	if all-empty < max(minMovingMs, empty) {
		return 0
	}
	return s.turnsMs(blank, intervalMs, excuses)
}

// turnsMs returns the time of a fact that is true only if it was for a whole interval: half an interval is added at both
// ends of each stretch, because the fact began and ended within the intervals beside it.
func (s *stream) turnsMs(fact detect.Facts, intervalMs int64, excuses []Interval) float64 {
	first, last := int64(lastMs), int64(0)
	s.causeFacts.Each(func(from, to int64, _ detect.Word) { first, last = min(first, from), max(last, to) })
	possible := intersect([]detect.Span{{FromMs: first, ToMs: last}}, complement(spansOf(excuses)))
	return float64(spanMs(intersect(extended(s.factSpans(fact), intervalMs/2), possible)))
}

// minMovingMs is the least time of a moving picture before one that does not move.
const minMovingMs = 4000

func jitterLimit(m *event.Measurement) float64 {
	if m.Audio() {
		return cause.SoundJitterMs
	}
	return cause.JitterMs
}

// isLimited reports whether the encoder was limited for most of the interval.
func isLimited(m *event.Measurement, by event.Limit) bool {
	ms := m.LimitedMs(by)
	return ms.Known && ms.V >= m.IntervalMs/2
}

// room is the bit rate of an encoder, and the bandwidth estimate of its path from which the network is not what limits it.
// The estimate is for all that is sent, with repetitions.
type room struct {
	encoderBps, pathBps float64
	fact                detect.Facts
}

var rooms = [...]room{{100e3, 250e3, below100}, {200e3, 400e3, below200}, {cause.LittleBandwidth, 600e3, below300}}

func roomFacts(is func(room) bool) (facts detect.Facts) {
	for _, r := range rooms {
		facts |= when(is(r), r.fact)
	}
	return facts
}

func encoderFacts(m *event.Measurement) detect.Facts {
	rate := m.Get(protocol.TargetBitrateBps)
	if !m.Known(protocol.TargetBitrateBps) {
		rate = 8000 * m.Get(protocol.Bytes) / max(1, m.IntervalMs)
	}
	if m.Value(protocol.Frames).Is(0) && (m.Layer() || m.Get(protocol.TargetBitrateBps) == 0) { // it is off
		return 0
	}
	starved := m.Video() && !m.Layer() && m.Get(protocol.TargetBitrateBps) > 0 && m.Get(protocol.TargetBitrateBps) < cause.NoBandwidth
	facts := when(m.Video(), roomFacts(func(r room) bool { return rate < r.encoderBps }))
	return facts | when(starved || isLimited(m, event.ByBandwidth) && rate < cause.LittleBandwidth, limited) |
		when(isLimited(m, event.ByCPU), cpuBound) | when(m.Limitation != "", limitSeen) |
		when(tooBusy(m, m.Value(protocol.EncodeMs)), busy)
}

// tooBusy reports whether coding took nearly all of the time, or much of it at a low frame
// rate. A slow machine that reaches the frame rate is no fault.
func tooBusy(m *event.Measurement, coding event.Value) bool {
	slow := m.Known(protocol.FPS) && m.Get(protocol.FPS) < cause.SmoothFPS && coding.V >= cause.SlowWorkShare*m.IntervalMs
	return coding.Known && (slow || coding.V >= cause.WorkShare*m.IntervalMs)
}

func decoderFacts(m *event.Measurement) detect.Facts {
	if m.Undecoded() {
		return undecoded
	}
	if m.IsPadding() {
		return padding
	}
	loss := m.Loss()
	whole := loss.Lost.Known && loss.Lost.V < cause.ChoppyLoss*loss.Expected
	shown := m.Get(protocol.FramesDecoded) - max(0, m.Get(protocol.FramesDropped))
	calm := m.Known(protocol.JitterMs) && m.Get(protocol.JitterMs) <= cause.SoundJitterMs && !waits(m) // late packets are concealed as well
	heard := m.Get(protocol.Samples) > 0 && loss.Expected >= minFactPackets && m.AudiblyConcealed().V > cause.ChoppyFraction*m.Get(protocol.Samples)
	return when(m.Known(protocol.FramesDecoded) && m.Known(protocol.Frames) && m.Get(protocol.Frames) >= minFactFrames && whole && shown < cause.StuckFraction*m.Get(protocol.Frames), stuck) |
		when(heard && whole && calm && !gapped(m), choppy) | when(heard, concealed) |
		when(whole && gapped(m), gap) | when(m.Audio() && soundMs(m) >= m.IntervalMs+surplusMs, surplus) |
		when(tooBusy(m, m.Value(protocol.DecodeMs)), busy)
}

// contentFacts returns the facts about the content that was sent or received.
func contentFacts(m *event.Measurement) detect.Facts {
	if m.Get(protocol.Packets) == 0 {
		// A server requested no video, or a screen did not change.
		off := m.Video() && m.Value(protocol.TargetBitrateBps).Is(0) || m.Outbound() && m.Screen
		return when(m.Known(protocol.Packets) && !off, nothing) | when(m.Inbound() && m.Get(protocol.DisplayedPixels) > 0, unseen)
	}
	switch {
	case m.Outbound() && m.Audio():
		return when(soundMs(m) <= m.IntervalMs-leastGap/2, halting) | when(m.Known(protocol.AudioLevel) && m.Get(protocol.AudioLevel) < cause.SilentLevel, weak)
	case m.Outbound() && m.Video() && !m.Screen:
		few := m.Known(protocol.Frames) && m.Get(protocol.Frames)*1000 < cause.WeakFPS*m.IntervalMs
		if few && m.Get(protocol.Bytes)*8000 < blackBps*m.IntervalMs { // browsers send this for a camera that was removed
			return nothing
		}
		free := !isLimited(m, event.ByBandwidth) && !isLimited(m, event.ByCPU) // else it is not for want of pictures
		return when(free && few, weak)
	}
	return 0
}

// factMs returns the time in which a fact was true outside of the excuses, ms.
func factMs(line *detect.Timeline, fact detect.Facts, excuses []Interval) (ms float64) {
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

// addCauseFacts adds the facts of a measurement to the stream's time-line.
func (s *stream) addCauseFacts(e *event.Event) {
	ms := int64(min(max(e.Measured.IntervalMs, 1), maxFactIntervalMs))
	s.causeFacts.AddFacts(e.AtMs-ms, e.AtMs, causeFactsOf(e.Measured))
}

// offBeat reports whether an interval differs from whole seconds by more than cause.OffBeatMs.
func offBeat(intervalMs float64) bool {
	rest := math.Mod(intervalMs, cause.BeatMs)
	return rest > cause.OffBeatMs && rest < cause.BeatMs-cause.OffBeatMs
}

// maxFactIntervalMs is the protocol's longest interval.
const maxFactIntervalMs = 600_000
