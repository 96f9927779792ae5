package conference

import (
	"maps"
	"slices"
)

// Statistics sums up all streams of one direction: those of a connection (between two people,
// or a person and a server), of a participant, or of the conference. The sketches of the
// streams are merged, so that a percentile is that of all intervals, not a mean of percentiles.
type Statistics struct {
	Streams      int           `json:"streams"`      // number of streams
	LossFraction *float64      `json:"lossFraction"` // lost over expected, of all packets
	MOS          *Distribution `json:"mos"`          // scores of the intervals, MOS 1 to 5
	RTTMs        *Distribution `json:"rttMs"`        // round-trip times of the intervals
	JitterMs     *Distribution `json:"jitterMs"`     // jitter of the intervals
}

// Both holds the statistics of each direction.
type Both struct {
	Received Statistics `json:"received"` // of the streams that were received
	Sent     Statistics `json:"sent"`     // of the streams that were sent
}

// tally accumulates the inputs of Statistics.
type tally struct {
	streams          int
	lost, expected   float64
	known            bool
	mos, rtt, jitter total
}

func (t *tally) add(statsType string, s *stream) {
	t.streams++
	lost, expected := max(0, s.lost.value()), s.packets.value()
	if statsType == inboundRTP {
		expected += lost
	}
	if s.lossKnown {
		t.lost += lost
		t.expected += expected
		t.known = true
	}
	t.mos.add(&s.result.mos)
	t.rtt.add(&s.rtt)
	t.jitter.add(&s.jitter)
}

func (t *tally) merge(o *tally) {
	t.streams += o.streams
	t.lost += o.lost
	t.expected += o.expected
	t.known = t.known || o.known
	t.mos.merge(&o.mos)
	t.rtt.merge(&o.rtt)
	t.jitter.merge(&o.jitter)
}

func (t *tally) statistics() Statistics {
	return Statistics{
		Streams: t.streams, LossFraction: share(t.lost, t.expected, t.known),
		MOS: t.mos.summary(), RTTMs: t.rtt.summary(), JitterMs: t.jitter.summary(),
	}
}

// tallies holds a tally for each direction.
type tallies struct{ received, sent tally }

func (t *tallies) merge(o *tallies) {
	t.received.merge(&o.received)
	t.sent.merge(&o.sent)
}

func (t *tallies) both() *Both { return &Both{t.received.statistics(), t.sent.statistics()} }

func (f *fabric) tallies() (t tallies) {
	for key, s := range f.streams {
		switch key.statsType {
		case inboundRTP:
			t.received.add(key.statsType, s)
		case outboundRTP:
			t.sent.add(key.statsType, s)
		}
	}
	return t
}

// total is the sum of many dists. Its weights are floats, because the sum over thousands of
// streams exceeds a bucket's maximum.
type total struct {
	sum, weight, min, max float64
	buckets               map[int16]float64 // ms
}

func (t *total) add(d *dist) {
	if d.weight == 0 {
		return
	}
	t.widen(d.sum, d.weight, d.min, d.max)
	for _, b := range d.buckets {
		t.buckets[b.index] += float64(b.weight())
	}
}

func (t *total) merge(o *total) {
	if o.weight == 0 {
		return
	}
	t.widen(o.sum, o.weight, o.min, o.max)
	for index, ms := range o.buckets {
		t.buckets[index] += ms
	}
}

func (t *total) widen(sum, weight, least, most float64) {
	if t.weight == 0 {
		t.min, t.max, t.buckets = least, most, make(map[int16]float64)
	}
	t.min, t.max = min(t.min, least), max(t.max, most)
	t.sum += sum
	t.weight += weight
}

// summary returns the distribution; nil without measurements.
func (t *total) summary() *Distribution {
	if t.weight == 0 {
		return nil
	}
	order := slices.Sorted(maps.Keys(t.buckets))
	return &Distribution{
		Mean: round4(unscaled(t.sum / t.weight)), Min: t.min, Max: t.max,
		P5: round4(t.quantile(order, 0.05)), P50: round4(t.quantile(order, 0.5)), P95: round4(t.quantile(order, 0.95)),
	}
}

func (t *total) quantile(order []int16, q float64) float64 {
	var all, seen float64
	for _, index := range order {
		all += t.buckets[index]
	}
	for _, index := range order {
		seen += t.buckets[index]
		if seen >= q*all {
			if index == zeroBucket {
				return t.min
			}
			return min(max(buckets.Value(int(index)), t.min), t.max)
		}
	}
	return t.max
}

// Highest returns the highest median round-trip time of all candidate pairs and streams, ms, and their highest loss over the
// whole call, 0 to 1. Each is nil if none was measured.
func (s *Summary) Highest() (rttMs, lossFraction *float64) {
	add := func(one *Stream) {
		lossFraction = higher(lossFraction, one.LossFraction)
		if one.RTTMs != nil {
			rttMs = higher(rttMs, &one.RTTMs.P50)
		}
	}
	for i := range s.Participants {
		for j := range s.Participants[i].Fabrics {
			f := &s.Participants[i].Fabrics[j]
			if f.CandidatePair != nil {
				add(f.CandidatePair)
			}
			for k := range f.Streams {
				add(&f.Streams[k])
			}
		}
	}
	return rttMs, lossFraction
}

func higher(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}
