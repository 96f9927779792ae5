package quality

import "math"

// G107 is the full narrowband E-model of G.107 (06/2015). Scoring uses the reduced form
// (Band.Rating), for browsers measure neither loudness nor echo; the full form is what
// that reduction is checked against. Fields carry the recommendation's names (Table 3).
type G107 struct {
	SLR, RLR, STMR, LSTR float64 // loudness and sidetone ratings, dB
	Ds, TELR, WEPL       float64 // D-value, echo loudness rating, echo path loss, dB
	T, Tr, Ta            float64 // mean one-way, round-trip, absolute delay, ms
	QDU                  float64 // quantisation distortion units
	Ie, Bpl, Ppl, BurstR float64 // codec and packet loss (percent)
	Nc, Nfor, Ps, Pr     float64 // circuit noise, noise floor, room noise
	A                    float64 // advantage factor
}

// DefaultG107 returns the defaults of Table 3.
func DefaultG107() G107 {
	return G107{
		SLR: 8, RLR: 2, STMR: 15, LSTR: 18, Ds: 3, TELR: 65, WEPL: 110, QDU: 1,
		Bpl: 4.3, BurstR: 1, Nc: -70, Nfor: -64, Ps: 35, Pr: 35,
	}
}

// Rating returns R by (7-1).
func (g G107) Rating() float64 {
	no := g.noise()
	ro := 15 - 1.5*(g.SLR+no)
	ist := g.sidetone()
	return ro - g.simultaneous(ro, no, ist) - g.delayed(ro, no, ist) -
		effectiveIe(95, g.Ie, g.Bpl, g.Ppl, g.BurstR) + g.A
}

// noise is No, (7-3) to (7-7).
func (g G107) noise() float64 {
	olr := g.SLR + g.RLR
	nos := g.Ps - g.SLR - g.Ds - 100 + 0.004*sq(g.Ps-olr-g.Ds-14)
	pre := g.Pr + 10*math.Log10(1+math.Pow(10, (10-g.LSTR)/10))
	nor := g.RLR - 121 + pre + 0.008*sq(pre-35)
	nfo := g.Nfor + g.RLR
	return 10 * math.Log10(power(g.Nc)+power(nos)+power(nor)+power(nfo))
}

// sidetone is Ist, (7-11) and (7-12).
func (g G107) sidetone() float64 {
	stmro := -10 * math.Log10(power(-g.STMR)+math.Exp(-g.T/4)*power(-g.TELR))
	return 12*root(1+math.Pow((stmro-13)/6, 8), 8) -
		28*root(1+math.Pow((stmro+1)/19.4, 35), 35) -
		13*root(1+math.Pow((stmro-3)/33, 13), 13) + 29
}

// simultaneous is Is, (7-8) to (7-17).
func (g G107) simultaneous(ro, no, ist float64) float64 {
	xolr := g.SLR + g.RLR + 0.2*(64+no-g.RLR)
	iolr := 20 * (root(1+math.Pow(xolr/8, 8), 8) - xolr/8)
	q := 37 - 15*math.Log10(g.QDU)
	gq := 1.07 + 0.258*q + 0.0602*q*q
	y := (ro-100)/15 + 46/8.4 - gq/9
	z := 46.0/30 - gq/40
	iq := 15 * math.Log10(1+math.Pow(10, y)+math.Pow(10, z))
	return iolr + ist + iq
}

// delayed is Id, (7-18) to (7-28).
func (g G107) delayed(ro, no, ist float64) float64 {
	rle := 10.5 * (g.WEPL + 7) * math.Pow(g.Tr+1, -0.25)
	idle := (ro-rle)/2 + math.Sqrt(sq(ro-rle)/4+169)
	return g.talkerEcho(no, ist) + idle + Idd(g.Ta)
}

// talkerEcho is Idte, (7-19) to (7-24).
func (g G107) talkerEcho(no, ist float64) float64 {
	if g.T < 1 {
		return 0
	}
	terv := g.TELR - 40*math.Log10((1+g.T/10)/(1+g.T/150)) + 6*math.Exp(-0.3*g.T*g.T)
	if g.STMR < 9 {
		terv += ist / 2
	}
	roe := -1.5 * (no - g.RLR)
	re := 80 + 2.5*(terv-14)
	idte := ((roe-re)/2 + math.Sqrt(sq(roe-re)/4+100) - 1) * (1 - math.Exp(-g.T))
	if g.STMR > 20 {
		return math.Hypot(idte, ist)
	}
	return idte
}

func sq(x float64) float64      { return x * x }
func power(db float64) float64  { return math.Pow(10, db/10) }
func root(x, n float64) float64 { return math.Pow(x, 1/n) }

// Rating returns the reduced E-model's R on the band's own scale (0 to 93.2, 129 or 148
// when nothing is wrong, below 0 when all is): one-way delay ta in ms, equipment factors
// ie and bpl, packet loss ppl in percent, burst ratio burstR (1 for random loss; G.107.2
// knows no other).
func (b Band) Rating(ta, ie, bpl, ppl, burstR float64) float64 {
	return b.listening(ie, bpl, ppl, burstR) - b.Scale()*Idd(ta)
}
