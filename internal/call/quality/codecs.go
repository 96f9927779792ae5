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
	bursty  float64 // Bpl for losses in runs; 0: unknown
}

// audioCodec holds the E-model's constants of a codec.
type audioCodec struct {
	names       []string // MIME subtypes, lower case
	model       string
	scale       Band // scale of the rating
	lookaheadMs float64
	defaultBps  float64     // assumed where no rate can be measured
	points      []ratePoint // ascending by bit rate; one if the factors do not depend on it
}

// The audio models with their version. Any change to a formula or a table MUST raise it.
const (
	modelNarrowband = "qos-audio/8 (G.107)"
	modelWideband   = "qos-audio/8 (G.107.1)"
	modelFullband   = "qos-audio/8 (G.107.2)"
)

// opusPoints are the factors of Opus, for which no ITU row exists. They are POLQA-derived: Alahmadi,
// Pocta, Melvin, ACM TOMM 17(4):133 (2021), VBR, random and bursty loss: narrowband 6 to 9 kbit/s,
// wideband 11 to 13, super-wideband from 14. All are rated on the fullband scale, which contains the
// others as its lower part; only there quality increases with the bit rate throughout (R 70, 72, 77,
// 81, 101, 106, 109, 110, 114 … 137).
var opusPoints = []ratePoint{
	{6e3, Narrowband, 23.00233478, 24.5644848, 15.36},
	{7e3, Narrowband, 21.25545861, 22.45885046, 14.43},
	{8e3, Narrowband, 16.02443357, 20.25866692, 13.48},
	{9e3, Narrowband, 11.73674352, 18.90829837, 12.44},
	{11e3, Wideband, 28.41322299, 23.93979569, 20.12},
	{12e3, Wideband, 23.29505705, 22.2151863, 18.9},
	{13e3, Wideband, 19.958882, 19.49608704, 16.92},
	{14e3, Fullband, 38.06, 16.51, 9.13},
	{15e3, Fullband, 34.12, 15.0, 7.9},
	{16e3, Fullband, 30.16302131, 11.83, 10.06},
	{19e3, Fullband, 23.80720462, 10.67, 8.92},
	{22e3, Fullband, 20.22332357, 10.47, 8.57},
	{25e3, Fullband, 20.20905481, 11.28, 9.18},
	{28e3, Fullband, 18.47734739, 10.63, 8.91},
	{31e3, Fullband, 16.82867498, 10.44, 8.82},
	{34e3, Fullband, 14.75893036, 10.12, 8.54},
	{37e3, Fullband, 12.07782849, 10.38, 8.3},
	{40e3, Fullband, 10.66596559, 9.79, 8.04},
}

// audioCodecs has the factors of ITU-T G.113 unless a comment names another source. It omits the rows
// of G.113 by which a higher bit rate is worse (AMR-WB 23.85, EVS 32 and 48 kbit/s): a bit rate above
// the last point is rated as the last.
var audioCodecs = []audioCodec{
	{
		names: []string{"opus"}, model: modelFullband, scale: Fullband,
		lookaheadMs: 6.5, defaultBps: 32e3, points: opusPoints,
	},
	{
		// With packet loss concealment, which every browser has (without: Bpl 4.3).
		names: []string{"pcmu", "pcma"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{64e3, Narrowband, 0, 25.1, 0}},
	},
	{
		// RFC 3551 has 64 kbit/s alone: a lower mean has pauses of comfort noise. Ie is from G.113, which has no
		// Bpl; that is from AMR-WB 12.65, whose Ie is similar.
		names: []string{"g722"}, model: modelWideband, scale: Wideband,
		lookaheadMs: 5, points: []ratePoint{{64e3, Wideband, 13, 4.3, 0}},
	},
	{
		// Ie,WB diotic (G.113 09/2024). Bpl exists for 12.65 and 23.05; the others have that of the nearest.
		names: []string{"amr-wb"}, model: modelWideband, scale: Wideband,
		lookaheadMs: 5, defaultBps: 12650, points: []ratePoint{
			{6600, Wideband, 56, 4.3, 0},
			{8850, Wideband, 41, 4.3, 0},
			{12650, Wideband, 20, 4.3, 0},
			{15850, Wideband, 17, 4.3, 0},
			{23050, Wideband, 8, 4.6, 0},
		},
	},
	{
		// SWB (G.113 09/2024 with Erratum 1).
		names: []string{"evs"}, model: modelFullband, scale: Fullband,
		lookaheadMs: 5, defaultBps: 13200, points: []ratePoint{
			{9600, Fullband, 22.7, 13.0, 0},
			{13200, Fullband, 17.1, 11.7, 0},
			{16400, Fullband, 10.8, 10.3, 0},
			{24400, Fullband, 7.2, 11.4, 0},
		},
	},
	{
		// G.729A with voice activity detection.
		names: []string{"g729"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{8e3, Narrowband, 11, 19, 0}},
	},
	{
		// 6.3 kbit/s with voice activity detection.
		names: []string{"g723"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{6300, Narrowband, 15, 16.1, 0}},
	},
	{
		names: []string{"gsm"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{13e3, Narrowband, 20, 10, 0}},
	},
	{
		// AMR 12.2 is GSM-EFR.
		names: []string{"gsm-efr", "amr"}, model: modelNarrowband, scale: Narrowband,
		lookaheadMs: 5, points: []ratePoint{{12200, Narrowband, 5, 10, 0}},
	},
}

// unknownCodec is used for a codec without a name or with an unknown one: Opus at 31 kbit/s,
// whatever the bit rate. AssumedCodec marks its scores.
var unknownCodec = audioCodec{
	model: modelFullband, scale: Fullband, lookaheadMs: 5,
	points: []ratePoint{{31e3, Fullband, 16.82867498, 10.44, 0}},
}

// findAudioCodec returns a codec by its MIME subtype, with or without "audio/"; unknownCodec and false
// if there is none.
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

// rated reports whether the codec's factors depend on the bit rate.
func (c *audioCodec) rated() bool { return len(c.points) > 1 }

// losses describes the packet loss: ppl in percent, bursty from 0 (random) to 1 (in runs).
type losses struct{ ppl, bursty float64 }

// rating returns the rating without delay, on the codec's scale, which may be below 0.
//
// Between points it is linear in the bit rate. A point is rated no higher than any point above it:
// the published Bpl decrease with the bit rate, so that 15 kbit/s under 10 % loss would be better
// than 16 kbit/s.
func (c *audioCodec) rating(bps float64, lost losses) float64 {
	last := len(c.points) - 1
	above := c.pointRating(last, lost)
	for i := last - 1; i >= 0 && bps < c.points[i+1].bps; i-- {
		at := math.Min(above, c.pointRating(i, lost))
		if lo, hi := c.points[i].bps, c.points[i+1].bps; bps >= lo {
			return at + (above-at)*(bps-lo)/(hi-lo)
		}
		above = at
	}
	return above
}

func (c *audioCodec) pointRating(i int, lost losses) float64 {
	p := &c.points[i]
	bpl := p.bpl
	if p.bursty > 0 {
		bpl += (p.bursty - p.bpl) * lost.bursty
	}
	return p.band.listening(p.ie, bpl, lost.ppl, 1) / c.scale.Scale()
}

// hasBurstFactors reports whether the codec has factors for losses in runs.
func (c *audioCodec) hasBurstFactors() bool { return c.points[0].bursty > 0 }
