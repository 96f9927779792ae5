package event

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/qosrtc/qos/protocol"
)

// OutOfRange is a set of values that cannot be true, such as those of a browser's counter that
// decreases or jumps. It has a bit for each measure, and one for each of the constants below.
type OutOfRange uint64

const (
	intervalOutOfRange OutOfRange = 1 << (63 - iota)
	mosOutOfRange
)

// Measures have the bits below these two. With more than 62 measures this does not compile.
var _ [62 - protocol.NumMeasures]struct{}

// Len returns the number of values in the set.
func (o OutOfRange) Len() int { return bits.OnesCount64(uint64(o)) }

// Names returns the names of the values, sorted.
func (o OutOfRange) Names() (names []string) {
	if o&intervalOutOfRange != 0 {
		names = append(names, "intervalMs")
	}
	if o&mosOutOfRange != 0 {
		names = append(names, "mos")
	}
	for k := range protocol.NumMeasures {
		if o&(1<<k) != 0 {
			names = append(names, k.String())
		}
	}
	slices.Sort(names)
	return names
}

// OutOfRangeNamed returns the set of the measures with those names, separated by commas. It ignores unknown names.
func OutOfRangeNamed(names string) (set OutOfRange) {
	for name := range strings.SplitSeq(names, ",") {
		if k := protocol.MeasureNamed(name); k != protocol.UnknownMeasure {
			set |= 1 << k
		}
	}
	return set
}

const (
	maxIntervalMs = 86_400_000 // a day
	minRateMs     = 1000       // a shorter interval may contain a burst
	minMOS        = 1
	maxMOS        = 5
)

// DropOutOfRange clears the values that cannot be true, by the ranges and neighbours in
// protocol.Measures, and adds them to OutOfRange. A loss may be negative (RFC 3550).
func (m *Measurement) DropOutOfRange() {
	if !(m.IntervalMs >= 0 && m.IntervalMs <= maxIntervalMs) { // NaN too
		m.IntervalMs = 0
		m.OutOfRange |= intervalOutOfRange
	}
	if s := m.Score.MOS; s.Known && !(s.V >= minMOS && s.V <= maxMOS) {
		m.Score.MOS = Value{}
		m.OutOfRange |= mosOutOfRange
	}
	seconds := max(m.IntervalMs, minRateMs) / 1000
	doubted, dropped := m.dropOutside(seconds)
	for m.checkNeighbours(doubted, &dropped, seconds) { // a dropped value may be the neighbour of another
	}
	if dropped.has(protocol.RemotePacketsLost) && m.Known(protocol.RemoteLossFraction) {
		dropped.add(protocol.RemoteLossFraction) // computed from it
		m.Clear(protocol.RemoteLossFraction)
	}
	m.OutOfRange |= dropped
}

func (o OutOfRange) has(k protocol.Measure) bool { return o&(1<<k) != 0 }

func (o *OutOfRange) add(k protocol.Measure) { *o |= 1 << k }

// dropOutside clears the values that are beyond their own range, and returns them as dropped. doubted are the values that a
// neighbour may limit.
func (m *Measurement) dropOutside(seconds float64) (doubted, dropped OutOfRange) {
	for left := m.known; left != 0; left &= left - 1 {
		k := protocol.Measure(bits.TrailingZeros64(left))
		v := m.values[k]
		if v >= 0 && v <= alwaysInRange[k] { // most values
			continue
		}
		if low, high := rangeOf(k, seconds); v < low || v > high {
			m.Clear(k)
			dropped.add(k)
		} else if k.Info().Within != nil {
			doubted.add(k)
		}
	}
	return doubted, dropped
}

// checkNeighbours clears the counters that exceed the limit by their neighbour in the same interval, and adds them to dropped. A
// dropped neighbour counts as 0, an unknown one limits nothing. It reports whether it cleared any.
func (m *Measurement) checkNeighbours(doubted OutOfRange, dropped *OutOfRange, seconds float64) (more bool) {
	for left := uint64(doubted) & m.known; left != 0; left &= left - 1 {
		k := protocol.Measure(bits.TrailingZeros64(left))
		n := k.Info().Within
		if !m.Known(n.Of) && !dropped.has(n.Of) {
			continue
		}
		if math.Abs(m.values[k]) > n.Each*math.Abs(m.values[n.Of])+n.PerSecond*seconds {
			m.Clear(k)
			dropped.add(k)
			more = true
		}
	}
	return more
}

// SetSSRC sets the SSRC, which has 32 bits (RFC 3550). The receiver rejects other numbers. In records
// of other sources, they become 0 and out of range, so that all such streams of one kind and fabric are
// one stream.
func (m *Measurement) SetSSRC(v float64) {
	info := protocol.SSRC.Info()
	if v >= info.Min && v <= info.Max {
		m.SSRC = int64(v)
		return
	}
	m.SSRC = 0
	m.OutOfRange |= 1 << protocol.SSRC
}

// alwaysInRange are bounds up to which a measure is in range for an interval of any length.
var alwaysInRange = func() (bounds [protocol.NumMeasures]float64) {
	for k := range protocol.NumMeasures {
		_, bounds[k] = rangeOf(k, 1)
		if n := k.Info().Within; n != nil {
			bounds[k] = min(bounds[k], n.PerSecond)
		}
	}
	return bounds
}()

// rangeOf returns the range of a measure in an interval of that length.
func rangeOf(k protocol.Measure, seconds float64) (low, high float64) {
	info := k.Info()
	low, high = info.Min, info.Max
	switch {
	case info.PerSecond > 0:
		high = info.PerSecond * seconds
		if low < 0 {
			low = -high
		}
	case info.Most > 0:
		high = info.Most
	}
	return low, high
}
