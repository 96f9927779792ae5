package quality

import (
	"math"

	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/protocol"
)

const (
	packetMs        = 20      // what browsers send; no statistic tells the packet time
	silenceLevel    = 0.00316 // -50 dBov
	minSpeechBps    = 6e3     // below it no codec that we rate by bit rate carries speech
	buffersOfJitter = 2       // jitter buffer that is assumed for a known jitter
	packetSamples   = 960     // of Opus, whose clock is 48 kHz, in packetMs
	maxLoss         = 0.2     // to which the E-model was made
	maxDelayMs      = 500     // likewise
	minPackets      = 20      // below it a share of lost packets means nothing
	randomRun       = 2       // packets: up to this mean run losses count as random
	burstyRun       = 3       // and from here as bursty
)

// audio is a measurement of sound.
type audio struct{ *event.Measurement }

// ScoreAudio scores an audio stream over one interval with the E-model of its codec's
// band. MOS is conversational (with delay), MOSListening what it would be without delay.
func ScoreAudio(m *event.Measurement) Result {
	in := audio{m}
	loss, why := in.loss()
	if why != Scored {
		return unscored(why)
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
	if run, ok := in.lossRun(); ok && codec.knowsBursts() {
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

// loss returns the fraction that was lost and not made good.
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

// notPlayed reports whether packets came and the page took no sample of them: its jitter buffer discards them all.
func (in audio) notPlayed() bool {
	return in.Value(protocol.Samples).Is(0) && in.Get(protocol.Packets) >= minPackets
}

// residualLoss is the fraction that was lost and not brought back. No statistic has how many packets redundancy brought
// back; at most as many as copies came. Copies are FEC packets, and with RED (RFC 2198) what is discarded, since the
// packet was there already. Where concealment is known that many are taken for brought back: the others were
// concealed, and are charged as such. So are packets that are discarded because they came too late. They count neither
// as lost nor as expected.
func (in audio) residualLoss(concealed bool) float64 {
	if !in.Known(protocol.PacketsLost) {
		return 0
	}
	lost, late := math.Max(0, in.Get(protocol.PacketsLost)), in.Get(protocol.PacketsDiscarded)
	switch {
	case concealed:
		lost, late = math.Max(0, lost-in.Get(protocol.FECPackets)-late), 0
	case in.Known(protocol.ConcealedSamples) || in.Known(protocol.Samples): // it is counted, and one of the two is not known in this interval
		late = 0
	}
	expected := in.Get(protocol.Packets) + lost
	if expected == 0 {
		return 0
	}
	return (lost + late) / expected
}

// lossRun is the mean length, in packets, of what was audibly concealed at a time: how the
// losses lay, for that no statistic tells.
func (in audio) lossRun() (float64, bool) {
	audible, runs := in.AudiblyConcealed(), in.Get(protocol.ConcealmentEvents)
	if in.Outbound() || !audible.Known || runs == 0 {
		return 0, false
	}
	return audible.V / runs / packetSamples, true
}

// remoteLoss is the loss of an outbound stream, by the remote end's reports.
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

// delayMs is the one-way delay from mouth to ear, as far as a browser can see it, without a delay that somebody chose.
func (in audio) delayMs(codec *audioCodec, res *Result) float64 {
	if !in.Known(protocol.RTTMs) {
		res.Assumed |= AssumedRTT
	}
	buffer := in.NetworkBufferMs()
	if !buffer.Known {
		res.Assumed |= AssumedJitterBuffer
		buffer.V = buffersOfJitter * in.ReceiverJitterMs().V
	}
	return in.Get(protocol.RTTMs)/2 + buffer.V + packetMs + codec.lookaheadMs
}

// bitrate is the rate that the codec ran at while there was something to say: the larger
// of the measured rate and the target. Silence is coded in next to nothing though nothing
// is wrong, so without speech, by level or by a rate at which there can be none, the
// codec's default rate is assumed.
func (in audio) bitrate(codec *audioCodec, res *Result) float64 {
	bps := math.Max(in.measuredBitrate(), in.Get(protocol.TargetBitrateBps))
	silent := in.Known(protocol.AudioLevel) && in.Get(protocol.AudioLevel) < silenceLevel
	if bps >= minSpeechBps && !silent || bps >= codec.defaultBps {
		return bps
	}
	res.Assumed |= AssumedBitrate
	return codec.defaultBps
}

// measuredBitrate is the rate of the packets that there were, each standing for 20 ms:
// neither lost packets nor those that discontinuous transmission never sent, nor an
// interval that the stream did not fill, make the codec look worse than it was.
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
