package quality

import "math"

// ParticipantAV joins the audio and the video score of one side of a participant:
// 1.15 + 0.17 A V, limited to 1..5 (Hands 2004), or the one that is there, or nil.
func ParticipantAV(audio, video *float64) *float64 {
	switch {
	case audio == nil:
		return video
	case video == nil:
		return audio
	}
	av := clamp(1.15+0.17**audio**video, 1, 5)
	return &av
}

// Worse returns the lower of two scores, or the one that is there, or nil: a
// participant's score is the worse of what they receive and what they send.
func Worse(a, b *float64) *float64 {
	if a == nil || (b != nil && *b < *a) {
		return b
	}
	return a
}

// TimeMean is the mean of interval scores weighted by the intervals' lengths, the best
// of the pooling rules for whole calls (docs/quality.md). The zero value is empty. It is
// a sum, so the order of Add and Merge does not matter.
type TimeMean struct {
	Sum      float64 // score times ms
	WeightMs float64
}

// Add adds a score that held for ms; a weight or a score that is no positive number
// changes nothing.
func (t *TimeMean) Add(mos, ms float64) {
	if !(mos > 0 && ms > 0) || math.IsInf(mos, 0) || math.IsInf(ms, 0) {
		return
	}
	t.Sum += mos * ms
	t.WeightMs += ms
}

// Merge adds all that another mean holds.
func (t *TimeMean) Merge(o TimeMean) {
	t.Sum += o.Sum
	t.WeightMs += o.WeightMs
}

// Mean returns the mean, false when nothing was added.
func (t TimeMean) Mean() (float64, bool) {
	if !(t.WeightMs > 0) {
		return 0, false
	}
	return t.Sum / t.WeightMs, true
}

// Score returns Mean as ParticipantAV and Worse take it: nil when nothing was added.
func (t TimeMean) Score() *float64 {
	m, ok := t.Mean()
	if !ok {
		return nil
	}
	return &m
}

// Pool pools the participants of a conference: the mean weighted by how long each was
// scored, the worst of them, and the share of time that was bad. The zero value is empty.
type Pool struct {
	TimeMean
	Worst float64 // 0 while empty
	BadMs float64
}

// Add adds a participant's score, the time it stands for and how much of that was bad.
func (p *Pool) Add(mos, ms, badMs float64) {
	before := p.WeightMs
	p.TimeMean.Add(mos, ms)
	if p.WeightMs == before {
		return
	}
	if p.Worst == 0 || mos < p.Worst {
		p.Worst = mos
	}
	p.BadMs += clamp(badMs, 0, ms)
}

// ShareBad returns the share of scored time that was bad, 0 to 1, false when empty.
func (p Pool) ShareBad() (float64, bool) {
	if !(p.WeightMs > 0) {
		return 0, false
	}
	return p.BadMs / p.WeightMs, true
}
