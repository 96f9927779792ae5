package conference

import (
	"math"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// The facts about each measured interval of a stream, from which causes are inferred. The time-line
// of facts is a function of the set of measurements.
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
	concealed                               // samples were concealed, with or without loss
	nothing                                 // no packets, or black frames at a low rate
	weak                                    // packets with almost no content
	limitSeen                               // the encoder's limitation is known
	still                                   // frames were sent whose picture does not change
	moving                                  // frames were sent whose picture changes
	screen                                  // the client reports a screen
	waiting                                 // the jitter buffer of audio holds more than cause.BufferMs
	grown                                   // more than cause.GrownBufferMs
	holding                                 // more than cause.CalmBufferMs
	blank                                   // frames were sent with hardly more than a header, as by a camera that is switched off
	gap                                     // audio was concealed because packets are missing that do not count as lost
	surplus                                 // the audio that arrived is longer than the interval
	halting                                 // the audio that was sent is shorter than the interval
	below100                                // an encoder with less than 100 kbit/s, or a path with bandwidth for more than that (rooms)
	below200
	below300
	flowing   // packets were sent or received
	undecoded // media arrived and could not be decoded
	padding   // packets arrived without payload
	unseen    // no packet of a video arrived for which the page shows an element
	delayed   // the application chose a delay of more than chosenDelayMs for the jitter buffer
)

// A measurement with less than these proves no fault.
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
	facts |= pathFacts(m) | factIf(m.Get(protocol.Packets) > 0, flowing)
	if m.Outbound() {
		facts |= encoderFacts(m) | pictureFacts(m) | factIf(m.Screen, screen)
	} else {
		facts |= decoderFacts(m) | factIf(m.Get(protocol.ExternalDelayMs) > chosenDelayMs, delayed)
	}
	if !m.Layer() { // simulcast layers may be off without a fault
		facts |= contentFacts(m)
	}
	return facts
}

func factIf(is bool, fact detect.Facts) detect.Facts {
	if is {
		return fact
	}
	return 0
}

func rttFacts(m *event.Measurement) detect.Facts {
	return factIf(m.Known(protocol.RTTMs), rttSeen) | factIf(m.Known(protocol.RTTMs) && m.Get(protocol.RTTMs) > cause.DelayMs, slow)
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
	return factIf(loss.Known || jitter.Known, lossSeen) | factIf(loss.Known && loss.V > cause.LossFraction, lossy) |
		factIf(m.Get(protocol.Packets) >= minFactPackets && even && (jitter.Known && jitter.V > jitterLimit(m) || isStalled(m)), jittery) |
		bufferFacts(m)
}

// bufferFacts returns how much the jitter buffer of audio holds.
func bufferFacts(m *event.Measurement) detect.Facts {
	if m.Get(protocol.Packets) < minFactPackets {
		return 0
	}
	return factIf(buffers(m, cause.BufferMs), waiting) | factIf(buffers(m, cause.GrownBufferMs), grown) | factIf(buffers(m, cause.CalmBufferMs), holding)
}

// A network that stalls delivers packets late and together. The jitter, a mean of the last 16 packets,
// is low again a third of a second after a stall; the jitter buffer remains large.
const (
	stallBufferMs = 150  // mean time in the buffer of audio
	stallShare    = 0.02 // of the samples, audibly concealed
)

// bufferHasGrown reports whether a jitter buffer of audio has grown.
func bufferHasGrown(m *event.Measurement) bool { return buffers(m, stallBufferMs) }

func buffers(m *event.Measurement, ms float64) bool {
	return m.Audio() && m.Inbound() && m.NetworkBufferMs().V > ms
}

// isStalled reports whether packets were late for a grown buffer although none was lost.
func isStalled(m *event.Measurement) bool {
	loss := m.Loss()
	return bufferHasGrown(m) && loss.Lost.Known && loss.Lost.V < cause.ChoppyLoss*loss.Expected &&
		m.Get(protocol.Samples) > 0 && m.AudiblyConcealed().V > stallShare*m.Get(protocol.Samples)
}

// Audio that is missing although no packet counts as lost.
const (
	packetMs  = 20  // of audio in a packet; with longer packets a stream counts as sent with pauses
	leastGap  = 400 // ms that are missing in an interval: browsers count the packets of shorter gaps as lost
	surplusMs = 100 // ms of audio beyond the length of an interval: it was late in the previous one
)

// soundMs returns the duration of the audio in the packets.
func soundMs(m *event.Measurement) float64 { return packetMs * m.Get(protocol.Packets) }

// hasGap reports whether audio was concealed, and packets are missing that do not count as lost: browsers treat the
// packets after a gap of more than 50 as a restart of the stream.
func hasGap(m *event.Measurement) bool {
	return m.Inbound() && m.Audio() && m.Get(protocol.Packets) > 0 && soundMs(m) <= m.IntervalMs-leastGap &&
		m.Get(protocol.Samples) > 0 && m.Get(protocol.ConcealedSamples) > cause.LossFraction*m.Get(protocol.Samples)
}

// gaps returns the intervals of received audio with missing packets that do not count as lost, where the sender sent
// without pauses. An interval is omitted if the next one has a surplus: the packets were late.
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
		if word&(gap|lossy) == gap && overlapMs(from, to, s.unbroken) == to-from {
			missing = append(missing, last)
		}
	})
	return missing
}

// halts returns the times around the intervals in which this participant sent audio with pauses, or none.
func (p *participant) halts() (spans []detect.Span) {
	for _, f := range p.fabrics {
		for key, s := range f.streams {
			if key.statsType == outboundRTP && key.mediaType == audio {
				spans = append(spans, widen(s.factSpans(halting|nothing), f.intervalMs())...)
			}
		}
	}
	return detect.Merge(spans)
}

// A frame that equals the previous one has little more than a header, or, if the encoder codes it again at its best
// quality, a hundredth of a byte per pixel; noise alone makes a camera's frame many times larger.
const (
	stillFrameBytes = 50
	stillPixels     = 5000 // pixels per further byte
	blankTimes      = 2
	movingTimes     = 5
	bestCoding      = 0.98 // least value of the best quality
	bestStillPixels = 80   // pixels per byte of an unchanged picture at the best quality
)

// pictureFacts returns the facts about the changes of a camera's picture.
func pictureFacts(m *event.Measurement) detect.Facts {
	frames := m.Get(protocol.Frames)
	if !m.Video() || m.Screen || m.Layer() || frames*1000 < cause.WeakFPS*m.IntervalMs || !m.Known(protocol.Bytes) {
		return 0
	}
	limit := stillFrameBytes + m.Get(protocol.Width)*m.Get(protocol.Height)/stillPixels
	size := m.Get(protocol.Bytes) / max(1, frames)
	coding, known := quality.Coding(m)
	empty := factIf(size < blankTimes*limit, blank)
	if best := m.Get(protocol.Width) * m.Get(protocol.Height) / bestStillPixels; known && coding >= bestCoding && size < best {
		return still | empty
	}
	return empty | factIf(size < limit, still) | factIf(size > movingTimes*limit, moving)
}

// stillAtEndMs returns the time at the end in which a picture did not change, ms; 0 if it did not change
// for most of the time before. That is the pattern of a camera that froze or became black; a photograph
// is still from the beginning, and slides change now and then.
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
		case word&still != 0:
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

// blankInTurnsMs returns the time of blank pictures, ms; 0 if other pictures did not last for at least as long. That is the
// pattern of a camera that is switched off now and then. Slides do not change for most of the time.
func (s *stream) blankInTurnsMs(intervalMs int64, excuses []Interval) float64 {
	all, empty := factMs(&s.causeFacts, hasMeasurement, nil), factMs(&s.causeFacts, blank, nil)
	if all-empty < max(minMovingMs, empty) {
		return 0
	}
	return s.turnsMs(blank, intervalMs, excuses)
}

// turnsMs returns the time of a fact that is true only for whole intervals, ms. It adds half an interval at both ends of
// each span, because the state began and ended within the adjacent intervals.
func (s *stream) turnsMs(fact detect.Facts, intervalMs int64, excuses []Interval) float64 {
	first, last := int64(lastMs), int64(0)
	s.causeFacts.Each(func(from, to int64, _ detect.Word) { first, last = min(first, from), max(last, to) })
	possible := intersect([]detect.Span{{FromMs: first, ToMs: last}}, complement(spansOf(excuses)))
	return float64(spanMs(intersect(widen(s.factSpans(fact), intervalMs/2), possible)))
}

// minMovingMs is the least time of a moving picture before one that does not move is evidence.
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

// room is a bit rate of an encoder, with the bandwidth estimate from which the network does not limit it to that rate. The
// estimate is for all that is sent, retransmissions included.
type room struct {
	encoderBps, pathBps float64
	fact                detect.Facts
}

var rooms = [...]room{{100e3, 250e3, below100}, {200e3, 400e3, below200}, {cause.LittleBandwidth, 600e3, below300}}

func roomFacts(is func(room) bool) (facts detect.Facts) {
	for _, r := range rooms {
		facts |= factIf(is(r), r.fact)
	}
	return facts
}

func encoderFacts(m *event.Measurement) detect.Facts {
	rate := m.Get(protocol.TargetBitrateBps)
	if !m.Known(protocol.TargetBitrateBps) {
		rate = 8000 * m.Get(protocol.Bytes) / max(1, m.IntervalMs)
	}
	if m.Value(protocol.Frames).Is(0) && (m.Layer() || m.Get(protocol.TargetBitrateBps) == 0) { // the encoder is inactive
		return 0
	}
	starved := m.Video() && !m.Layer() && m.Get(protocol.TargetBitrateBps) > 0 && m.Get(protocol.TargetBitrateBps) < cause.NoBandwidth
	facts := factIf(m.Video(), roomFacts(func(r room) bool { return rate < r.encoderBps }))
	return facts | factIf(starved || isLimited(m, event.ByBandwidth) && rate < cause.LittleBandwidth, limited) |
		factIf(isLimited(m, event.ByCPU), cpuBound) | factIf(m.Limitation != "", limitSeen) |
		factIf(tooBusy(m, m.Value(protocol.EncodeMs)), busy)
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
	calm := m.Known(protocol.JitterMs) && m.Get(protocol.JitterMs) <= cause.SoundJitterMs && !bufferHasGrown(m) // late packets are concealed as well
	heard := m.Get(protocol.Samples) > 0 && loss.Expected >= minFactPackets && m.AudiblyConcealed().V > cause.ChoppyFraction*m.Get(protocol.Samples)
	return factIf(m.Known(protocol.FramesDecoded) && m.Known(protocol.Frames) && m.Get(protocol.Frames) >= minFactFrames && whole && shown < cause.StuckFraction*m.Get(protocol.Frames), stuck) |
		factIf(heard && whole && calm && !hasGap(m), choppy) | factIf(heard, concealed) |
		factIf(whole && hasGap(m), gap) | factIf(m.Audio() && soundMs(m) >= m.IntervalMs+surplusMs, surplus) |
		factIf(tooBusy(m, m.Value(protocol.DecodeMs)), busy)
}

// contentFacts returns the facts about the content that was sent or received.
func contentFacts(m *event.Measurement) detect.Facts {
	if m.Get(protocol.Packets) == 0 {
		// A server requested no video, or a screen did not change.
		off := m.Video() && m.Value(protocol.TargetBitrateBps).Is(0) || m.Outbound() && m.Screen
		return factIf(m.Known(protocol.Packets) && !off, nothing) | factIf(m.Inbound() && m.Get(protocol.DisplayedPixels) > 0, unseen)
	}
	switch {
	case m.Outbound() && m.Audio():
		return factIf(soundMs(m) <= m.IntervalMs-leastGap/2, halting) | factIf(m.Known(protocol.AudioLevel) && m.Get(protocol.AudioLevel) < cause.SilentLevel, weak)
	case m.Outbound() && m.Video() && !m.Screen:
		few := m.Known(protocol.Frames) && m.Get(protocol.Frames)*1000 < cause.WeakFPS*m.IntervalMs
		if few && m.Get(protocol.Bytes)*8000 < blackBps*m.IntervalMs { // browsers send this for a camera that was removed
			return nothing
		}
		free := !isLimited(m, event.ByBandwidth) && !isLimited(m, event.ByCPU) // else the encoder lacks resources and not pictures
		return factIf(free && few, weak)
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

// isOffBeat reports whether an interval differs from whole seconds by more than cause.OffBeatMs.
func isOffBeat(intervalMs float64) bool {
	rest := math.Mod(intervalMs, cause.BeatMs)
	return rest > cause.OffBeatMs && rest < cause.BeatMs-cause.OffBeatMs
}

// maxFactIntervalMs is the protocol's longest interval.
const maxFactIntervalMs = 600_000
