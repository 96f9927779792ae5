package quality

import (
	"math"
	"strings"
)

// ratePoint holds the equipment factors of a codec at one bit rate.
type ratePoint struct {
	bps     float64
	band    Band
	ie, bpl float64
}

// audioCodec is what the E-model knows of a codec. Points rise in bit rate; a codec
// whose factors do not depend on it has one.
type audioCodec struct {
	names       []string // MIME subtypes, lower case
	model       string
	scale       Band // the scale that its rating is read on
	lookaheadMs float64
	defaultBps  float64 // the rate that is assumed where none can be measured
	points      []ratePoint
}

const (
	modelNarrowband = "qos-audio/1 (G.107)"
	modelWideband   = "qos-audio/1 (G.107.1)"
	modelFullband   = "qos-audio/1 (G.107.2)"
)

// opusPoints: no ITU row exists for Opus. These are POLQA-derived: Alahmadi, Pocta,
// Melvin, ACM TOMM 17(4):133 (2021), VBR, random loss: narrowband 6 to 9 kbit/s, wideband
// 11 to 13, super-wideband from 14. All are read on the fullband scale, of which the
// others are the lower part; only there does quality rise with the bit rate throughout
// (R 70, 72, 77, 81, 101, 106, 109, 110, 114 … 137).
var opusPoints = []ratePoint{
	{6e3, Narrowband, 23.00233478, 24.5644848},
	{7e3, Narrowband, 21.25545861, 22.45885046},
	{8e3, Narrowband, 16.02443357, 20.25866692},
	{9e3, Narrowband, 11.73674352, 18.90829837},
	{11e3, Wideband, 28.41322299, 23.93979569},
	{12e3, Wideband, 23.29505705, 22.2151863},
	{13e3, Wideband, 19.958882, 19.49608704},
	{14e3, Fullband, 38.06, 16.51},
	{15e3, Fullband, 34.12, 15.0},
	{16e3, Fullband, 30.16302131, 11.83},
	{19e3, Fullband, 23.80720462, 10.67},
	{22e3, Fullband, 20.22332357, 10.47},
	{25e3, Fullband, 20.20905481, 11.28},
	{28e3, Fullband, 18.47734739, 10.63},
	{31e3, Fullband, 16.82867498, 10.44},
	{34e3, Fullband, 14.75893036, 10.12},
	{37e3, Fullband, 12.07782849, 10.38},
	{40e3, Fullband, 10.66596559, 9.79},
}

// audioCodecs: factors of ITU-T G.113 unless a comment says otherwise. Rows of G.113 that
// would make a higher bit rate sound worse (AMR-WB 23.85, EVS 32 and 48 kbit/s) are left
// out: what is above the last point is rated as the last.
var audioCodecs = []audioCodec{
	{
		names: []string{"opus"}, model: modelFullband, scale: Fullband,
		lookaheadMs: 6.5, defaultBps: 32e3, points: opusPoints,
	},
	{
		// With packet loss concealment, which every browser has (without: Bpl 4.3).
		names: []string{"pcmu", "pcma"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{64e3, Narrowband, 0, 25.1}},
	},
	{
		// Ie from G.113; its Bpl was not found and is taken from AMR-WB 12.65, alike in Ie.
		names: []string{"g722"}, model: modelWideband, scale: Wideband,
		lookaheadMs: 5, points: []ratePoint{{64e3, Wideband, 13, 4.3}},
	},
	{
		// Ie,WB diotic (G.113 09/2024); Bpl is given at 12.65 and 23.05, the nearest serves.
		names: []string{"amr-wb"}, model: modelWideband, scale: Wideband,
		lookaheadMs: 5, defaultBps: 12650, points: []ratePoint{
			{6600, Wideband, 56, 4.3},
			{8850, Wideband, 41, 4.3},
			{12650, Wideband, 20, 4.3},
			{15850, Wideband, 17, 4.3},
			{23050, Wideband, 8, 4.6},
		},
	},
	{
		// SWB (G.113 09/2024 with Erratum 1).
		names: []string{"evs"}, model: modelFullband, scale: Fullband,
		lookaheadMs: 5, defaultBps: 13200, points: []ratePoint{
			{9600, Fullband, 22.7, 13.0},
			{13200, Fullband, 17.1, 11.7},
			{16400, Fullband, 10.8, 10.3},
			{24400, Fullband, 7.2, 11.4},
		},
	},
	{
		// G.729A with voice activity detection.
		names: []string{"g729"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{8e3, Narrowband, 11, 19}},
	},
	{
		// 6.3 kbit/s with voice activity detection.
		names: []string{"g723"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{6300, Narrowband, 15, 16.1}},
	},
	{
		names: []string{"gsm"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{13e3, Narrowband, 20, 10}},
	},
	{
		// AMR 12.2 is GSM-EFR.
		names: []string{"gsm-efr", "amr"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{12200, Narrowband, 5, 10}},
	},
}

// unknownCodec stands for a codec that is not named or not known: Opus at 31 kbit/s,
// whatever the bit rate, and AssumedCodec says so.
var unknownCodec = audioCodec{
	model: modelFullband, scale: Fullband, lookaheadMs: 5,
	points: []ratePoint{{31e3, Fullband, 16.82867498, 10.44}},
}

// findAudioCodec finds a codec by its MIME subtype, with or without "audio/".
func findAudioCodec(name string) (*audioCodec, bool) {
	name = subtype(name)
	for i := range audioCodecs {
		for _, n := range audioCodecs[i].names {
			if strings.EqualFold(n, name) {
				return &audioCodecs[i], true
			}
		}
	}
	return &unknownCodec, false
}

func subtype(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// rated tells whether the codec's factors depend on the bit rate.
func (c *audioCodec) rated() bool { return len(c.points) > 1 }

// rating returns the rating without delay, on the codec's scale, which may be below 0.
//
// Between points it is linear in the bit rate. No point may beat one above it: the
// published Bpl fall as the rate rises, so that, taken alone, 15 kbit/s under 10 % loss
// would beat 16 kbit/s.
func (c *audioCodec) rating(bps, ppl float64) float64 {
	last := len(c.points) - 1
	above := c.pointRating(last, ppl)
	for i := last - 1; i >= 0 && bps < c.points[i+1].bps; i-- {
		at := math.Min(above, c.pointRating(i, ppl))
		if lo, hi := c.points[i].bps, c.points[i+1].bps; bps >= lo {
			return at + (above-at)*(bps-lo)/(hi-lo)
		}
		above = at
	}
	return above
}

func (c *audioCodec) pointRating(i int, ppl float64) float64 {
	p := &c.points[i]
	return p.band.listening(p.ie, p.bpl, ppl, 1) / c.scale.Scale()
}
