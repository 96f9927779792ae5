package quality

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/protocol"
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

// video is a measurement of pictures.
type video struct{ *event.Measurement }

// ScoreVideo scores a video stream over one interval:
// 1 + 3.664 C U T F, of coding, upscaling, frame rate and freezes.
func ScoreVideo(m *event.Measurement, p VideoParams) Result {
	in := video{m}
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
func (in video) noEvidence() Reason {
	switch {
	case in.Get(protocol.Packets) == 0:
		return NoPackets
	case in.Value(protocol.Bytes).Is(0):
		return NoPayload
	case in.Outbound() && in.frames().Is(0):
		return NoFrames
	case in.LowerLayer:
		return LowerLayer
	case in.Outbound() && in.Unheard:
		return NoRemoteReport
	}
	return Scored
}

// frames are those that were sent or received; where the sender does not count them, those that
// it encoded.
func (in video) frames() event.Value {
	if in.Outbound() {
		return in.Value(protocol.Frames).Or(in.Value(protocol.FramesEncoded))
	}
	return in.Value(protocol.Frames)
}

// dead tells whether packets came and no picture did, or the picture stood still for long.
func (in video) dead() bool {
	return !in.Outbound() && (in.Value(protocol.FramesDecoded).Is(0) || in.Get(protocol.PauseMs) > maxPauseMs)
}

// frozenShare is the share of the interval in which the picture stood still. A pause is
// also a freeze, so the longer of the two counts.
func (in video) frozenShare() float64 {
	ms := in.StillMs().V
	if in.Outbound() || ms == 0 || in.IntervalMs == 0 {
		return 0
	}
	return math.Min(1, ms/in.IntervalMs)
}

// interruptions is F without the frozen share: the number of freezes, or for an outbound
// stream, whose freezes only the receiver knows, the loss that may cause them.
func (in video) interruptions(p VideoParams, res *Result) float64 {
	if in.Outbound() {
		res.Assumed |= AssumedFreezes
		loss := in.Loss().Fraction
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

// freezes60s is the number of freezes in the last 60 s. Of an interval that is longer than
// that it is the share of 60 s, for when they were is not known.
func (in video) freezes60s() float64 {
	freezes := math.Max(in.Get(protocol.Freezes60s), in.Get(protocol.Freezes))
	if ms := in.IntervalMs; ms > freezeMs {
		return freezes * freezeMs / ms
	}
	return freezes
}

// appearance is C U T and the frozen share's part of F.
func (in video) appearance(p VideoParams, frozen float64, res *Result) (float64, Reason) {
	pixels := in.Get(protocol.Width) * in.Get(protocol.Height)
	if pixels == 0 {
		return 0, NoFrameSize
	}
	res.add(InPixels, pixels)
	u := in.upscaling(pixels, res)
	if c, ok := in.screenQP(res); ok {
		in.charge(frozen, res)
		return c * u * math.Exp(-p.FreezeShare*frozen), Scored
	}
	if !in.Known(protocol.Bytes) {
		return 0, NoBitrate
	}
	if in.IntervalMs == 0 {
		return 0, NoInterval
	}
	bps := math.Max(0, in.Get(protocol.Bytes)-in.Get(protocol.RetransmittedBytes)) * 8000 / in.IntervalMs
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
func (in video) motion(p VideoParams, x, frozen float64, res *Result) (float64, bool) {
	even, ok := in.frameRate()
	if !ok {
		return 0, false
	}
	fps, score := even, in.codingAndRate(x, even)*math.Exp(-p.FreezeShare*frozen)
	if in.Get(protocol.HarmonicFPS) > 0 {
		uneven := in.codingAndRate(x, in.Get(protocol.HarmonicFPS))
		if frozen == 0 || uneven < score {
			fps, score, frozen = in.Get(protocol.HarmonicFPS), uneven, 0
		}
	}
	res.add(InFPS, fps)
	in.charge(frozen, res)
	return score, true
}

// charge takes down the frozen share that was charged.
func (in video) charge(frozen float64, res *Result) {
	if !in.Outbound() {
		res.add(InFrozenFraction, frozen)
	}
}

// codingAndRate is C T. At a given bit rate fewer frames look better each, and where the
// picture is coded very badly that alone would outweigh the loss of motion: a stream that
// lost frames never scores above one with all of them.
func (in video) codingAndRate(x, fps float64) float64 {
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

// frameRate is the plain rate; the harmonic one where there is no other.
func (in video) frameRate() (float64, bool) {
	if in.Get(protocol.FPS) > 0 {
		return in.Get(protocol.FPS), true
	}
	if frames := in.Value(protocol.FramesDecoded).Or(in.frames()); frames.Positive() {
		return frames.V * 1000 / in.IntervalMs, true
	}
	return in.Get(protocol.HarmonicFPS), in.Get(protocol.HarmonicFPS) > 0
}

// nothingToCode tells whether so low a bit rate has no other cause than a picture that
// does not change: a disabled camera sends black frames.
func (in video) nothingToCode(bps, frozen float64, res *Result) bool {
	if bps >= minCodingBps || in.Limitation == "bandwidth" || in.Get(protocol.Freezes) > 0 {
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
func (in video) screenQP(res *Result) (float64, bool) {
	if !in.Screen || !in.Known(protocol.QP) {
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
			res.add(InQP, in.Get(protocol.QP))
			return clamp(1-0.5*(in.Get(protocol.QP)-q.good)/(q.bad-q.good), 0, 1), true
		}
	}
	return 0, false
}
