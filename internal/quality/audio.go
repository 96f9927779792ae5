package quality

import "math"

const (
	packetMs        = 20      // what browsers send; no statistic tells the packet time
	silenceLevel    = 0.00316 // -50 dBov
	minSpeechBps    = 6e3     // below it no codec that we rate by bit rate carries speech
	buffersOfJitter = 2       // jitter buffer that is assumed for a known jitter
	packetSamples   = 960     // of Opus, whose clock is 48 kHz, in packetMs
	maxLoss         = 0.2     // to which the E-model was made
	maxDelayMs      = 500     // likewise
	randomRun       = 2       // packets: up to this mean run losses count as random
	burstyRun       = 3       // and from here as bursty
)

// AudioInput is what one interval tells of an audio stream. Counts are increases over
// the interval, fractions 0 to 1.
type AudioInput struct {
	Outbound               bool   // scored by what the remote end reports
	Unheard                bool   // outbound: nothing came back at all, so that the report is an old one
	Codec                  string // MIME subtype
	IntervalMs             Opt
	Bytes                  Opt // payload, sent or received
	Packets                Opt // sent or received
	PacketsLost            Opt
	PacketsDiscarded       Opt
	FECPackets             Opt // that carried redundancy: in-band FEC, RED
	Samples                Opt
	ConcealedSamples       Opt
	SilentConcealedSamples Opt
	ConcealmentEvents      Opt // runs of concealed samples
	RemoteLossFraction     Opt // outbound
	RemotePacketsLost      Opt // outbound, where no fraction is known
	JitterMs               Opt // at the receiving end
	JitterBufferDelayMs    Opt
	RTTMs                  Opt
	TargetBitrateBps       Opt
	AudioLevel             Opt // linear
}

// ScoreAudio scores an audio stream over one interval with the E-model of its codec's
// band. MOS is conversational (with delay), MOSListening what it would be without delay.
func ScoreAudio(in AudioInput) Result {
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
func (in *AudioInput) loss() (float64, Reason) {
	if in.Outbound {
		return in.remoteLoss()
	}
	if !in.Packets.ok || in.Packets.v+in.PacketsLost.orZero() == 0 {
		return 0, NoPackets
	}
	concealed := in.ConcealedSamples.ok && in.Samples.positive()
	if !in.PacketsLost.ok && !concealed {
		return 0, NoLossEvidence
	}
	loss := in.residualLoss(concealed)
	if concealed {
		audible := in.ConcealedSamples.v - in.SilentConcealedSamples.orZero()
		loss = math.Max(loss, audible/in.Samples.v)
	}
	return clamp(loss, 0, 1), Scored
}

// residualLoss is the fraction that was lost and not brought back. No statistic tells how many
// packets redundancy brought back; at most as many as carried some. Where concealment is known
// that is what they are taken for, for whatever was not brought back was concealed, and is
// charged as such. They count neither as lost nor as expected.
func (in *AudioInput) residualLoss(concealed bool) float64 {
	lost, ok := in.PacketsLost.Get()
	if !ok {
		return 0
	}
	if concealed {
		lost = math.Max(0, lost-in.FECPackets.orZero())
	}
	expected := in.Packets.v + lost
	if expected == 0 {
		return 0
	}
	return (lost + in.PacketsDiscarded.orZero()) / expected
}

// lossRun is the mean length, in packets, of what was audibly concealed at a time: how the
// losses lay, for that no statistic tells.
func (in *AudioInput) lossRun() (float64, bool) {
	if in.Outbound || !in.ConcealedSamples.ok || !in.ConcealmentEvents.positive() {
		return 0, false
	}
	audible := math.Max(0, in.ConcealedSamples.v-in.SilentConcealedSamples.orZero())
	return audible / in.ConcealmentEvents.v / packetSamples, true
}

// remoteLoss is the loss of an outbound stream, by the remote end's reports.
func (in *AudioInput) remoteLoss() (float64, Reason) {
	if !in.Packets.positive() {
		return 0, NoPackets
	}
	loss, ok := remoteLoss(in.RemoteLossFraction, in.RemotePacketsLost, in.Packets)
	if !ok || in.Unheard {
		return 0, NoRemoteReport
	}
	return loss, Scored
}

// remoteLoss prefers the fraction to the count: the library works it out between the remote
// end's reports, which come every few seconds, so a short interval holds the losses of none or
// of more than itself.
func remoteLoss(fraction, lost, packets Opt) (float64, bool) {
	if f, ok := fraction.Get(); ok {
		return clamp(f, 0, 1), true
	}
	if n, ok := lost.Get(); ok && packets.positive() {
		return clamp(n/packets.v, 0, 1), true
	}
	return 0, false
}

// delayMs is the one-way delay from mouth to ear, as far as a browser can see it.
func (in *AudioInput) delayMs(codec *audioCodec, res *Result) float64 {
	if !in.RTTMs.ok {
		res.Assumed |= AssumedRTT
	}
	buffer, ok := in.JitterBufferDelayMs.Get()
	if !ok {
		res.Assumed |= AssumedJitterBuffer
		buffer = buffersOfJitter * in.JitterMs.orZero()
	}
	return in.RTTMs.orZero()/2 + buffer + packetMs + codec.lookaheadMs
}

// bitrate is the rate that the codec ran at while there was something to say: the larger
// of the measured rate and the target. Silence is coded in next to nothing though nothing
// is wrong, so without speech, by level or by a rate at which there can be none, the
// codec's default rate is assumed.
func (in *AudioInput) bitrate(codec *audioCodec, res *Result) float64 {
	bps := math.Max(in.measuredBitrate(), in.TargetBitrateBps.orZero())
	silent := in.AudioLevel.ok && in.AudioLevel.v < silenceLevel
	if bps >= minSpeechBps && !silent || bps >= codec.defaultBps {
		return bps
	}
	res.Assumed |= AssumedBitrate
	return codec.defaultBps
}

// measuredBitrate is the rate of the packets that there were, each standing for 20 ms:
// neither lost packets nor those that discontinuous transmission never sent, nor an
// interval that the stream did not fill, make the codec look worse than it was.
func (in *AudioInput) measuredBitrate() float64 {
	if !in.Packets.positive() {
		return 0
	}
	ms := in.Packets.v * packetMs
	if in.IntervalMs.positive() {
		ms = math.Min(ms, in.IntervalMs.v) // shorter packets
	}
	return in.Bytes.orZero() * 8000 / ms
}
