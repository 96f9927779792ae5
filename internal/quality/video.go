package quality

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// modelVideo is the version of the video model: raise it with any change to a formula.
const modelVideo = "qos-video/3"

const (
	// minCodingBps is the least that WebRTC encoders are made to run at. Below it, and
	// without a sign of trouble, there was nothing to code.
	minCodingBps  = 30e3
	tolerableLoss = 0.02
	maxPauseMs    = 5000
	freezeMs      = 60e3 // in which freezes are counted
	fullFPS       = 24
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

// addChanged takes down the constants that are not the defaults: without them nobody could
// compute the score again.
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

// VideoInput is what one interval tells of a video stream. Counts are increases over the
// interval, fractions 0 to 1.
type VideoInput struct {
	Outbound           bool   // scored by what is sent and what the remote end reports
	Unheard            bool   // outbound: nothing came back at all, so that the report is an old one
	Screen             bool   // shows a screen: its frame rate is no fault
	LowerLayer         bool   // a larger layer of the same picture was sent beside it
	BandwidthLimited   bool   // the encoder says that the network holds it back
	Codec              string // MIME subtype
	IntervalMs         Opt
	Bytes              Opt // payload, sent or received, with retransmissions
	RetransmittedBytes Opt
	Packets            Opt
	Frames             Opt // sent or received
	FramesDecoded      Opt
	Width              Opt
	Height             Opt
	DisplayedPixels    Opt
	FPS                Opt
	HarmonicFPS        Opt
	Freezes            Opt
	Freezes60s         Opt
	FreezeMs           Opt
	PauseMs            Opt
	QP                 Opt
	RemoteLossFraction Opt // outbound
	RemotePacketsLost  Opt // outbound, where no fraction is known
}

// ScoreVideo scores a video stream over one interval:
// 1 + 3.664 C U T F, of coding, upscaling, frame rate and freezes.
func ScoreVideo(in VideoInput, p VideoParams) Result {
	if why := in.noEvidence(); why != Scored {
		return unscored(why)
	}
	res := Result{Model: modelVideo, MOS: 1}
	p.addChanged(&res)
	frozen := in.frozenShare()
	if in.dead() || frozen >= 1 {
		res.add(InFrozenFraction, 1)
		return res
	}
	f := in.interruptions(p, &res)
	look, why := in.appearance(p, frozen, &res)
	if why != Scored {
		return unscored(why)
	}
	res.MOS = 1 + 3.664*look*f
	return res
}

// noEvidence tells why nothing can be said, as far as it shows at first sight.
func (in *VideoInput) noEvidence() Reason {
	switch {
	case !in.Packets.positive():
		return NoPackets
	case in.Bytes.is(0):
		return NoPayload
	case in.Outbound && in.Frames.is(0):
		return NoFrames
	case in.LowerLayer:
		return LowerLayer
	case in.Outbound && in.Unheard:
		return NoRemoteReport
	}
	return Scored
}

// dead tells whether packets came and no picture did, or the picture stood still for long.
func (in *VideoInput) dead() bool {
	return !in.Outbound && (in.FramesDecoded.is(0) || in.PauseMs.orZero() > maxPauseMs)
}

// frozenShare is the share of the interval in which the picture stood still. A pause is
// also a freeze, so the longer of the two counts.
func (in *VideoInput) frozenShare() float64 {
	ms := math.Max(in.FreezeMs.orZero(), in.PauseMs.orZero())
	if in.Outbound || ms == 0 || !in.IntervalMs.positive() {
		return 0
	}
	return math.Min(1, ms/in.IntervalMs.v)
}

// interruptions is F without the frozen share: the number of freezes, or for an outbound
// stream, whose freezes only the receiver knows, the loss that may cause them.
func (in *VideoInput) interruptions(p VideoParams, res *Result) float64 {
	if in.Outbound {
		res.Assumed |= AssumedFreezes
		loss, ok := remoteLoss(in.RemoteLossFraction, in.RemotePacketsLost, in.Packets)
		if !ok {
			res.Assumed |= AssumedLoss
			return 1
		}
		res.add(InLossFraction, loss)
		return math.Exp(-100 * loss / p.OutboundD)
	}
	freezes := in.freezes60s()
	res.add(InFreezes60s, freezes)
	return math.Exp(-p.FreezeCount * freezes)
}

// freezes60s is the number of freezes in the last 60 s. Of an interval that is longer than
// that it is the share of 60 s, for when they were is not known.
func (in *VideoInput) freezes60s() float64 {
	freezes := math.Max(in.Freezes60s.orZero(), in.Freezes.orZero())
	if ms := in.IntervalMs.orZero(); ms > freezeMs {
		return freezes * freezeMs / ms
	}
	return freezes
}

// appearance is C U T and the frozen share's part of F.
func (in *VideoInput) appearance(p VideoParams, frozen float64, res *Result) (float64, Reason) {
	if !in.Width.positive() || !in.Height.positive() {
		return 0, NoFrameSize
	}
	pixels := in.Width.v * in.Height.v
	res.add(InPixels, pixels)
	u := in.upscaling(pixels, res)
	if c, ok := in.screenQP(res); ok {
		in.charge(frozen, res)
		return c * u * math.Exp(-p.FreezeShare*frozen), Scored
	}
	if !in.Bytes.ok {
		return 0, NoBitrate
	}
	if !in.IntervalMs.positive() {
		return 0, NoInterval
	}
	bps := math.Max(0, in.Bytes.v-in.RetransmittedBytes.orZero()) * 8000 / in.IntervalMs.v
	if in.nothingToCode(bps, frozen, res) {
		return 0, NoMotion
	}
	res.add(InBitrateBps, bps)
	eff, known := videoEfficiency(in.Codec)
	if !known {
		res.Assumed |= AssumedCodec
	}
	motion, ok := in.motion(p, math.Log(bps)-0.383*math.Log(pixels)+eff-p.X0, frozen, res)
	if !ok {
		return 0, NoFrameRate
	}
	return motion * u, Scored
}

// motion is C T and the frozen share's part of F. A freeze lowers the harmonic rate too, so
// the two are not multiplied: the dearer of them counts, the uneven rate, or the even one
// with the frozen share.
func (in *VideoInput) motion(p VideoParams, x, frozen float64, res *Result) (float64, bool) {
	even, ok := in.frameRate()
	if !ok {
		return 0, false
	}
	fps, score := even, in.codingAndRate(x, even)*math.Exp(-p.FreezeShare*frozen)
	if in.HarmonicFPS.positive() {
		uneven := in.codingAndRate(x, in.HarmonicFPS.v)
		if frozen == 0 || uneven < score {
			fps, score, frozen = in.HarmonicFPS.v, uneven, 0
		}
	}
	res.add(InFPS, fps)
	in.charge(frozen, res)
	return score, true
}

// charge takes down the frozen share that was charged.
func (in *VideoInput) charge(frozen float64, res *Result) {
	if !in.Outbound {
		res.add(InFrozenFraction, frozen)
	}
}

// codingAndRate is C T. At a given bit rate fewer frames look better each, and where the
// picture is coded very badly that alone would outweigh the loss of motion: a stream that
// lost frames never scores above one with all of them.
func (in *VideoInput) codingAndRate(x, fps float64) float64 {
	ct := coding(x, fps)
	if in.Screen || fps >= fullFPS {
		return ct
	}
	ct *= math.Max(0, 1-0.30*math.Log(fullFPS/fps))
	return math.Min(ct, coding(x, fullFPS))
}

// coding is C, the logistic function fitted to 756 clips with human scores.
func coding(x, fps float64) float64 {
	return 1 / (1 + math.Exp(-(x-0.25*math.Log(fps))/0.722))
}

// upscaling is U: few pixels on a large area. Who sends does not know the area: what is
// shown there is a preview.
func (in *VideoInput) upscaling(pixels float64, res *Result) float64 {
	if in.Outbound {
		return 1
	}
	shown, ok := in.DisplayedPixels.Get()
	if !ok || shown == 0 {
		res.Assumed |= AssumedDisplay
		return 1
	}
	res.add(InDisplayedPixels, shown)
	k := math.Max(0, math.Log2(shown/pixels))
	return 1 / (1 + 0.029*k*k)
}

// frameRate is the plain rate; the harmonic one where there is no other.
func (in *VideoInput) frameRate() (float64, bool) {
	if in.FPS.positive() {
		return in.FPS.v, true
	}
	if frames := in.FramesDecoded.orElse(in.Frames); frames.positive() {
		return frames.v * 1000 / in.IntervalMs.v, true
	}
	return in.HarmonicFPS.v, in.HarmonicFPS.positive()
}

// nothingToCode tells whether so low a bit rate has no other cause than a picture that
// does not change: a disabled camera sends black frames.
func (in *VideoInput) nothingToCode(bps, frozen float64, res *Result) bool {
	if bps >= minCodingBps || in.BandwidthLimited || in.Freezes.positive() {
		return false
	}
	loss, _ := res.Input(InLossFraction)
	return frozen == 0 && loss <= tolerableLoss
}

// videoEfficiency returns what a codec gains over H.264, in ln(bit/s).
func videoEfficiency(codec string) (float64, bool) {
	codec = subtype(codec)
	for _, c := range [...]struct {
		name string
		eff  float64
	}{
		{"vp8", 0},
		{"h264", 0},
		{"vp9", 0.58},
		{"h265", 0.58},
		{"hevc", 0.58},
		{"av1", 0.88}, // VMAF-based and a weak fit
		{"av1x", 0.88},
	} {
		if strings.EqualFold(c.name, codec) {
			return c.eff, true
		}
	}
	return 0, false
}

// screenQP is C of a screen by its quantisation parameter: slides need next to no bits,
// so their bit rate tells nothing. 1 up to where libwebrtc's QualityScaler holds a picture
// for better than needed, 0.5 where it holds it for too bad, and on in a line.
func (in *VideoInput) screenQP(res *Result) (float64, bool) {
	if !in.Screen || !in.QP.ok {
		return 0, false
	}
	codec := subtype(in.Codec)
	for _, q := range [...]struct {
		name      string
		good, bad float64
	}{
		{"vp8", 29, 95},
		{"vp9", 96, 185},
		{"h264", 24, 37},
	} {
		if strings.EqualFold(q.name, codec) {
			res.add(InQP, in.QP.v)
			return clamp(1-0.5*(in.QP.v-q.good)/(q.bad-q.good), 0, 1), true
		}
	}
	return 0, false
}
