package quality

import (
	"math"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

const (
	packetMs           = 20      // packet time of browsers, which no statistic has
	silenceLevel       = 0.00316 // -50 dBov
	minSpeechBps       = 6e3     // a codec with factors for several bit rates carries no speech below it
	jitterBufferFactor = 2       // assumed length of the jitter buffer, as a multiple of the jitter
	samplesPerPacket   = 960     // of Opus, whose clock is 48 kHz, in packetMs
	maxLoss            = 0.2     // up to which the E-model was validated
	maxDelayMs         = 500     // likewise
	minPackets         = 20      // with fewer packets a single loss is a high fraction
	randomRun          = 2       // packets: losses count as random up to this mean run
	burstyRun          = 3       // packets: losses count as bursty from this mean run on
)

// audio is a measurement of an audio stream.
type audio struct{ *event.Measurement }

// ScoreAudio scores an audio stream over one interval with the E-model of its codec's
// band. MOS is conversational (with delay), MOSListening excludes the delay.
func ScoreAudio(m *event.Measurement) Result {
	in := audio{m}
	loss, reason := in.loss()
	if reason != Scored {
		return unscored(reason)
	}
	codec, known := findAudioCodec(in.Codec)
	res := Result{Model: codec.model}
	if !known {
		res.Assumed |= AssumedCodec
	}
	res.add(InLossFraction, loss)
	delay := in.delayMs(codec, &res)
	res.add(InDelayMs, delay)
	bps := 0.0
	if codec.rated() {
		bps = in.bitrate(codec, &res)
		res.add(InBitrateBps, bps)
	}
	lost := losses{ppl: 100 * loss}
	if run, ok := in.lossRun(); ok && codec.hasBurstFactors() {
		lost.bursty = clamp((run-randomRun)/(burstyRun-randomRun), 0, 1)
		res.add(InLossRun, run)
	}
	listening := codec.rating(bps, lost)
	res.R = clamp(listening-Idd(delay), 0, 100)
	res.MOS = MOS(res.R)
	res.MOSListening = MOS(listening)
	res.extrapolated = loss > maxLoss || delay > maxDelayMs
	return res
}

// loss returns the fraction of the audio that was lost and not restored.
func (in audio) loss() (float64, Reason) {
	if in.Outbound() {
		return in.remoteLoss()
	}
	if !in.Known(protocol.Packets) || in.Loss().Expected == 0 {
		return 0, NoPackets
	}
	if in.Loss().Expected < minPackets {
		return 0, TooFewPackets
	}
	if in.notPlayed() {
		return 0, NotPlayed
	}
	if in.Undecoded() {
		return 0, NotDecoded
	}
	concealed := in.Known(protocol.ConcealedSamples) && in.Get(protocol.Samples) > 0
	if !in.Known(protocol.PacketsLost) && !concealed {
		return 0, NoLossEvidence
	}
	loss := in.residualLoss(concealed)
	if concealed {
		loss = math.Max(loss, in.AudiblyConcealed().V/in.Get(protocol.Samples))
	}
	return clamp(loss, 0, 1), Scored
}

// notPlayed reports whether packets were received and the page played none of them: its jitter buffer discards them all.
func (in audio) notPlayed() bool {
	return in.Value(protocol.Samples).Is(0) && in.Get(protocol.Packets) >= minPackets
}

// residualLoss returns the fraction of packets that were lost and not recovered. No statistic counts the packets that
// redundancy recovered; they are at most the received copies: FEC packets, and with RED (RFC 2198) the discarded ones,
// whose original had arrived. Where concealment is known, that number counts as recovered: the other lost packets were
// concealed, and so were packets that were discarded because they were late, and loss charges the concealment. Late
// packets then count neither as lost nor as expected.
func (in audio) residualLoss(concealed bool) float64 {
	if !in.Known(protocol.PacketsLost) {
		return 0
	}
	lost, late := math.Max(0, in.Get(protocol.PacketsLost)), in.Get(protocol.PacketsDiscarded)
	switch {
	case concealed:
		lost, late = math.Max(0, lost-in.Get(protocol.FECPackets)-late), 0
	case in.Known(protocol.ConcealedSamples) || in.Known(protocol.Samples): // the browser counts concealment, but not in this interval
		late = 0
	}
	expected := in.Get(protocol.Packets) + lost
	if expected == 0 {
		return 0
	}
	return (lost + late) / expected
}

// lossRun returns the mean length of an audible concealment, in packets. It approximates the length
// of runs of lost packets, which no statistic has.
func (in audio) lossRun() (float64, bool) {
	audible, runs := in.AudiblyConcealed(), in.Get(protocol.ConcealmentEvents)
	if in.Outbound() || !audible.Known || runs == 0 {
		return 0, false
	}
	return audible.V / runs / samplesPerPacket, true
}

// remoteLoss returns the loss of an outbound stream, by the remote end's reports.
func (in audio) remoteLoss() (float64, Reason) {
	if in.Get(protocol.Packets) == 0 {
		return 0, NoPackets
	}
	if in.Get(protocol.Packets) < minPackets {
		return 0, TooFewPackets
	}
	loss := in.Loss().Fraction
	if !loss.Known || in.Unheard {
		return 0, NoRemoteReport
	}
	return loss.V, Scored
}

// delayMs returns the measurable part of the one-way delay from mouth to ear, without a delay that the application chose.
func (in audio) delayMs(codec *audioCodec, res *Result) float64 {
	if !in.Known(protocol.RTTMs) {
		res.Assumed |= AssumedRTT
	}
	buffer := in.NetworkBufferMs()
	if !buffer.Known {
		res.Assumed |= AssumedJitterBuffer
		buffer.V = jitterBufferFactor * in.ReceiverJitterMs().V
	}
	return in.Get(protocol.RTTMs)/2 + buffer.V + packetMs + codec.lookaheadMs
}

// bitrate returns the bit rate of the codec during speech: the larger of the measured rate and the
// target. Silence has a very low rate without a fault, so without speech, by audio level or by a
// rate below minSpeechBps, the codec's default rate is assumed.
func (in audio) bitrate(codec *audioCodec, res *Result) float64 {
	bps := math.Max(in.measuredBitrate(), in.Get(protocol.TargetBitrateBps))
	silent := in.Known(protocol.AudioLevel) && in.Get(protocol.AudioLevel) < silenceLevel
	if bps >= minSpeechBps && !silent || bps >= codec.defaultBps {
		return bps
	}
	res.Assumed |= AssumedBitrate
	return codec.defaultBps
}

// measuredBitrate returns the bit rate within the packets, each of 20 ms. So it is independent of
// lost packets, of the pauses of discontinuous transmission, and of an interval that the stream
// did not fill.
func (in audio) measuredBitrate() float64 {
	if in.Get(protocol.Packets) == 0 {
		return 0
	}
	ms := in.Get(protocol.Packets) * packetMs
	if in.IntervalMs > 0 {
		ms = math.Min(ms, in.IntervalMs) // shorter packets
	}
	return mediaBytes(in.Measurement) * 8000 / ms
}
