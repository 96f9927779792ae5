package quality

import (
	"math"
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// C at quantisers of H.264: scores of 4.19, 3.34 and 1.37. Up to 45 they are within 0.11 of P.1203.1 mode 3, at 24 and 37 its
// values.
const (
	goodCoding  = 0.87 // at 24
	badCoding   = 0.64 // at 37
	worstCoding = 0.1  // at 51
)

// perfectMOS is the score of a perfect picture, above 1.
const perfectMOS = 3.664

// coding is how well frames are coded, C: by their quantiser, or by their bit rate.
type coding struct {
	fixed  float64 // where x is not used
	byRate bool
	x      float64 // ln(bit/s) and its corrections, less x0
	least  float64 // what it is at least, whatever the bit rate
}

// at returns C at a frame rate: at a given bit rate fewer frames are coded better each.
func (c coding) at(fps float64) float64 {
	if !c.byRate {
		return c.fixed
	}
	// The logistic function fitted to 756 clips with human scores.
	return math.Max(c.least, 1/(1+math.Exp(-(c.x-0.25*math.Log(fps))/0.722)))
}

// withRate returns C T. Where a picture is coded very badly the gain of fewer frames would
// outweigh the loss of motion: a stream that lost frames never scores above one with all of them.
func (c coding) withRate(fps float64) float64 {
	if fps >= fullFPS {
		return c.at(fps)
	}
	return math.Min(c.at(fps)*math.Max(0, 1-0.30*math.Log(fullFPS/fps)), c.at(fullFPS))
}

// coded returns C. Where no quantiser is known, C of a screen and of received video is assumed: a bit rate shows it only together with
// what the encoder was allowed, since a still picture needs few bits.
func (in video) coded(pixels float64, p VideoParams, frozen float64, res *Result) (coding, Reason) {
	bps, why := in.payloadBps()
	if why == Scored && !in.Screen && in.nothingToCode(bps, frozen, res) {
		return coding{}, NoMotion
	}
	codec := findVideoCodec(in.Codec)
	if c, ok := Coding(in.Measurement); ok {
		res.add(InQP, in.Get(protocol.QP))
		return coding{fixed: c}, Scored
	}
	if in.Screen && in.Limitation == "bandwidth" {
		return coding{}, NoQP
	}
	if in.Screen || in.Inbound() {
		res.Assumed |= AssumedQP
		return coding{fixed: goodCoding}, Scored
	}
	if why != Scored {
		return coding{}, why
	}
	res.add(InBitrateBps, bps)
	if codec.name == "" {
		res.Assumed |= AssumedCodec
	}
	c := coding{byRate: true, x: math.Log(bps) + detail(pixels) + codec.efficiency - p.X0}
	if in.unlimited(bps) {
		res.add(InTargetBitrateBps, in.Get(protocol.TargetBitrateBps))
		c.least = goodCoding
	}
	return c, Scored
}

// payloadBps is the bit rate without what was sent twice. Of what is sent, padding is not counted
// either: an encoder does not exceed its target for long.
func (in video) payloadBps() (float64, Reason) {
	switch {
	case !in.Known(protocol.Bytes):
		return 0, NoBitrate
	case in.IntervalMs == 0:
		return 0, NoInterval
	}
	bps := mediaBytes(in.Measurement) * 8000 / in.IntervalMs
	if target := in.Get(protocol.TargetBitrateBps); in.Outbound() && target > 0 {
		bps = math.Min(bps, target)
	}
	return bps, Scored
}

// mediaBytes is the payload without what was sent again. A client that reports only the number of such
// packets that it received: each counts as an average one.
func mediaBytes(m *event.Measurement) float64 {
	bytes, again := m.Get(protocol.Bytes), m.Get(protocol.RetransmittedPackets)
	if m.Known(protocol.RetransmittedBytes) || m.Outbound() || again == 0 {
		return math.Max(0, bytes-m.Get(protocol.RetransmittedBytes))
	}
	packets := m.Get(protocol.Packets)
	return bytes * packets / (packets + again)
}

// unlimited reports whether the encoder used less than it was allowed: it needed no more.
func (in video) unlimited(bps float64) bool {
	return in.Limitation == "none" && bps > 0 && bps <= unlimitedRate*in.Get(protocol.TargetBitrateBps)
}

// detail returns how far a bit rate suffices for a number of pixels. Below VGA, for which the model was made, the bits per pixel decide.
func detail(pixels float64) float64 {
	return ownSizeWeight*math.Max(0, math.Log(ownSizePixels/pixels)) - 0.383*math.Log(pixels)
}

// Coding returns how well the frames of a measurement of video are coded by their mean quantiser, 0.1 to 1; false if the quantiser or the
// codec's scale is unknown.
func Coding(m *event.Measurement) (coding float64, known bool) {
	coding, known = findVideoCodec(m.Codec).byQP(m.Get(protocol.QP))
	return coding, known && m.Known(protocol.QP)
}

// WithCoding returns the score that an interval of received video has if its frames are coded so well, 0.1 to 1, in place of the coding
// that ScoreVideo assumes without a quantiser.
func WithCoding(mos, coding float64) float64 { return 1 + (mos-1)*coding/goodCoding }

// VideoMOS returns the score of frames that are coded so well and shown so far, each 0 to 1.
func VideoMOS(coding, shown float64) float64 { return 1 + perfectMOS*coding*shown }

// videoCodec has the scale of a codec's quantiser and its efficiency.
type videoCodec struct {
	name                   string
	efficiency             float64 // what it gains over H.264, in ln(bit/s)
	goodQP, badQP, worstQP float64 // as good as H.264's 24, 37 and 51; 0: unknown
}

// videoCodecs: the quantisers were measured with the encoders of Chromium 156, see docs/quality.md. AV1's efficiency is
// VMAF-based and a weak fit.
var videoCodecs = [...]videoCodec{
	{"vp8", 0, 29, 95, 160},
	{"vp9", 0.58, 100, 207, 277},
	{"av1", 0.88, 101, 207, 277},
	{"av1x", 0.88, 101, 207, 277},
	{"h264", 0, 24, 37, 51},
	{"h265", 0.58, 24, 37, 51}, // the scale of H.264
	{"hevc", 0.58, 24, 37, 51},
}

// findVideoCodec returns the codec of a MIME type or subtype, the zero value if it is unknown.
func findVideoCodec(mime string) videoCodec {
	name := subtype(mime)
	for _, c := range videoCodecs {
		if strings.EqualFold(c.name, name) {
			return c
		}
	}
	return videoCodec{}
}

// byQP is C by the mean quantiser: 1 at 0, then that of H.264 at the equal quantisers, linear in between. It is false if the
// codec's scale is unknown.
func (c videoCodec) byQP(qp float64) (float64, bool) {
	switch {
	case c.worstQP == 0:
		return 0, false
	case qp <= c.goodQP:
		return 1 - (1-goodCoding)*qp/c.goodQP, true
	case qp <= c.badQP:
		return goodCoding - (goodCoding-badCoding)*(qp-c.goodQP)/(c.badQP-c.goodQP), true
	}
	return badCoding - (badCoding-worstCoding)*math.Min(1, (qp-c.badQP)/(c.worstQP-c.badQP)), true
}
