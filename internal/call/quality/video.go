package quality

import (
	"errors"
	"fmt"
	"math"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// modelVideo is the version of the video model. Any change to a formula MUST raise it.
const modelVideo = "qos-video/8"

const (
	// minCodingBps is the least target bit rate of WebRTC's encoders. At a lower rate, without
	// loss, limits and freezes, the picture did not change.
	minCodingBps  = 30e3
	tolerableLoss = 0.02
	maxPauseMs    = 5000
	freezeMs      = 60e3 // in which freezes are counted
	fullFPS       = 24
	ownSizePixels = 640 * 480 // from which the model was anchored (G.1070, VGA)
	ownSizeWeight = 0.617     // 1 - 0.383: below that area bits per pixel decide
	unlimitedRate = 0.8       // share of its target below which an encoder needs no more
)

// VideoParams are the constants of the video model that an operator may change.
type VideoParams struct {
	X0          float64 // midpoint of the coding term: 7.0 conversation, 7.7 film and sport
	FreezeCount float64 // weight of each freeze in the last 60 s
	FreezeShare float64 // weight of the frozen share of the interval
	OutboundD   float64 // loss in percent that divides an outbound score by e
}

// DefaultVideoParams returns the defaults: conversation on a camera.
func DefaultVideoParams() VideoParams {
	return VideoParams{X0: 7, FreezeCount: 0.10, FreezeShare: 2, OutboundD: 10}
}

// Validate reports every constant outside its range.
func (p VideoParams) Validate() error {
	var errs []error
	check := func(name string, v, lo, hi float64) {
		if !(v >= lo && v <= hi) {
			errs = append(errs, fmt.Errorf("%s is %g, must be from %g to %g", name, v, lo, hi))
		}
	}
	check("x0", p.X0, 4, 10)
	check("freeze_count_weight", p.FreezeCount, 0, 2)
	check("freeze_share_weight", p.FreezeShare, 0, 20)
	check("outbound_loss_percent", p.OutboundD, 0.5, 100)
	return errors.Join(errs...)
}

// addChanged adds the constants that differ from the defaults to the inputs, so that the score can
// be computed again.
func (p VideoParams) addChanged(res *Result) {
	d := DefaultVideoParams()
	for _, c := range [...]struct {
		name       InputName
		have, want float64
	}{
		{InX0, p.X0, d.X0},
		{InFreezeCountWeight, p.FreezeCount, d.FreezeCount},
		{InFreezeShareWeight, p.FreezeShare, d.FreezeShare},
		{InOutboundLossPercent, p.OutboundD, d.OutboundD},
	} {
		if c.have != c.want {
			res.add(c.name, c.have)
		}
	}
}

// video is a measurement of a video stream.
type video struct{ *event.Measurement }

// ScoreVideo scores a video stream over one interval: 1 + 3.664 C U T F, with the factors C for
// coding, U for upscaling, T for the frame rate and F for freezes.
func ScoreVideo(m *event.Measurement, p VideoParams) Result {
	in := video{m}
	if reason := in.noEvidence(); reason != Scored {
		return unscored(reason)
	}
	res := Result{Model: modelVideo, MOS: 1}
	p.addChanged(&res)
	frozen := in.frozenShare()
	if in.dead() || frozen >= 1 {
		res.add(InFrozenFraction, 1)
		return res
	}
	f := in.interruptions(p, &res)
	appearance, reason := in.appearance(p, frozen, &res)
	if reason != Scored {
		return unscored(reason)
	}
	res.MOS = 1 + perfectMOS*appearance*f
	return res
}

// noEvidence returns the reason why there is no score, as far as it needs no computation.
func (in video) noEvidence() Reason {
	switch {
	case in.Get(protocol.Packets) == 0:
		return NoPackets
	case in.IsPadding():
		return NoPayload
	case in.Outbound() && in.frames().Is(0):
		return NoFrames
	case in.Undecoded():
		return NotDecoded
	case in.LowerLayer:
		return LowerLayer
	case in.Outbound() && in.Unheard:
		return NoRemoteReport
	}
	return Scored
}

// frames returns the number of frames that were sent or received; where the sender does not count
// them, of those that it encoded.
func (in video) frames() event.Value {
	if in.Outbound() {
		return in.Value(protocol.Frames).Or(in.Value(protocol.FramesEncoded))
	}
	return in.Value(protocol.Frames)
}

// dead reports whether packets arrived and no frame was decoded, or the picture paused for maxPauseMs.
func (in video) dead() bool {
	return !in.Outbound() && (in.Value(protocol.FramesDecoded).Is(0) || in.Get(protocol.PauseMs) > maxPauseMs && !in.resting())
}

// resting reports whether a received screen share lost nothing: where it shows no new frame, its content does not change.
func (in video) resting() bool {
	return in.Screen && in.Inbound() && in.Known(protocol.PacketsLost) && in.Get(protocol.PacketsLost) <= 0 &&
		in.Get(protocol.NACKs) == 0 && in.Get(protocol.PLIs) == 0 && in.Get(protocol.FIRs) == 0 && in.Get(protocol.FramesDropped) == 0
}

// frozenShare returns the share of the interval in which the picture was frozen. A pause is also a
// freeze, so the longer of the two counts.
func (in video) frozenShare() float64 {
	ms := in.StillMs().V
	if in.Outbound() || in.resting() || ms == 0 || in.IntervalMs == 0 {
		return 0
	}
	return math.Min(1, ms/in.IntervalMs)
}

// interruptions returns F without the frozen share: by the number of freezes, or for an outbound
// stream, whose freezes only the receiver measures, by the loss that may cause them.
func (in video) interruptions(p VideoParams, res *Result) float64 {
	if in.Outbound() {
		res.Assumed |= AssumedFreezes
		loss := in.unrepairedLoss()
		if !loss.Known {
			res.Assumed |= AssumedLoss
			return 1
		}
		res.add(InLossFraction, loss.V)
		return math.Exp(-100 * loss.V / p.OutboundD)
	}
	freezes := in.freezes60s()
	res.add(InFreezes60s, freezes)
	return math.Exp(-p.FreezeCount * freezes)
}

// unrepairedLoss returns the remote loss without the packets whose retransmission arrived. The remote
// end counts those as lost, since the retransmission is another stream (RFC 4588). The loss of
// retransmissions is assumed to be the same.
func (in video) unrepairedLoss() event.Value {
	loss := in.Loss().Fraction
	if packets := in.Get(protocol.Packets); loss.Known && packets > 0 {
		again := in.Get(protocol.RetransmittedPackets) / packets
		loss.V = math.Max(0, loss.V-(1-loss.V)*again)
	}
	return loss
}

// freezes60s returns the number of freezes in the last 60 s. For a longer interval that is the
// mean for 60 s, since the times of the freezes are unknown.
func (in video) freezes60s() float64 {
	if in.resting() {
		return 0
	}
	freezes := math.Max(in.Get(protocol.Freezes60s), in.Get(protocol.Freezes))
	if ms := in.IntervalMs; ms > freezeMs {
		return freezes * freezeMs / ms
	}
	return freezes
}

// leastPixels is the least size of a picture with a score. A media server ends a muted or stopped stream with black
// frames of 8×8, and a browser reports the size of the last frame of an interval.
const leastPixels = 16 * 16

// appearance returns C U T and the frozen share's part of F.
func (in video) appearance(p VideoParams, frozen float64, res *Result) (float64, Reason) {
	pixels := in.Get(protocol.Width) * in.Get(protocol.Height)
	if pixels < leastPixels {
		return 0, NoFrameSize
	}
	res.add(InPixels, pixels)
	u := in.upscaling(pixels, res)
	c, reason := in.coded(pixels, p, frozen, res)
	if reason != Scored {
		return 0, reason
	}
	motion, ok := in.motion(p, c, frozen, res)
	if !ok {
		return 0, NoFrameRate
	}
	return motion * u, Scored
}

// motion returns C T, the frozen share's part of F, and the factor of uneven frames.
func (in video) motion(p VideoParams, c coding, frozen float64, res *Result) (float64, bool) {
	still := math.Exp(-p.FreezeShare * frozen)
	if in.Screen {
		in.addFrozenShare(frozen, res)
		return c.at(fullFPS) * still, true
	}
	fps, ok := in.frameRate()
	if !ok {
		return 0, false
	}
	res.add(InFPS, fps)
	in.addFrozenShare(frozen, res)
	even := c.withRate(fps)
	return even * still * in.unevenness(p, c, even, fps, res), true
}

// unevenness returns the factor of unevenly spaced frames, by the harmonic rate. A freeze lowers that rate too.
// So the factor is at most as severe as one freeze, and 1 if there is one: no interval has a better score by
// a freeze, or by several in place of one.
func (in video) unevenness(p VideoParams, c coding, even, fps float64, res *Result) float64 {
	harmonic := in.Get(protocol.HarmonicFPS)
	if harmonic == 0 || harmonic >= fps || even == 0 {
		return 1
	}
	freezes, _ := res.Input(InFreezes60s)
	asFreezes := math.Max(c.withRate(harmonic)/even, math.Exp(-p.FreezeCount))
	factor := math.Min(1, asFreezes*math.Exp(p.FreezeCount*freezes))
	if factor < 1 {
		res.add(InHarmonicFPS, harmonic)
	}
	return factor
}

// addFrozenShare adds the frozen share to the inputs.
func (in video) addFrozenShare(frozen float64, res *Result) {
	if !in.Outbound() {
		res.add(InFrozenFraction, frozen)
	}
}

// upscaling returns U, for few pixels on a large area. For an outbound stream it is 1: the sender's
// page shows a preview, and the receiver's area is unknown.
func (in video) upscaling(pixels float64, res *Result) float64 {
	if in.Outbound() {
		return 1
	}
	shown := in.Get(protocol.DisplayedPixels)
	if shown == 0 {
		res.Assumed |= AssumedDisplay
		return 1
	}
	res.add(InDisplayedPixels, shown)
	k := math.Max(0, math.Log2(shown/pixels))
	return 1 / (1 + 0.029*k*k)
}

// frameRate returns the frames over the interval, or the harmonic rate if that is higher: a stream that began or
// ended in the interval has too few frames. FPS, the rate of the last second, is used without both.
func (in video) frameRate() (float64, bool) {
	fps := in.Get(protocol.HarmonicFPS)
	frames := in.frames()
	if decoded := in.Value(protocol.FramesDecoded); decoded.Known && in.Inbound() {
		frames = decoded
	}
	if frames.Positive() && in.IntervalMs > 0 {
		fps = math.Max(fps, frames.V*1000/in.IntervalMs)
	}
	if fps == 0 {
		fps = in.Get(protocol.FPS)
	}
	return fps, fps > 0
}

// nothingToCode reports whether a low bit rate has no other cause than a picture that does not
// change: a disabled camera sends black frames.
func (in video) nothingToCode(bps, frozen float64, res *Result) bool {
	if bps >= minCodingBps || in.Limitation == "bandwidth" || in.Get(protocol.Freezes) > 0 {
		return false
	}
	loss, _ := res.Input(InLossFraction)
	return frozen == 0 && loss <= tolerableLoss
}
