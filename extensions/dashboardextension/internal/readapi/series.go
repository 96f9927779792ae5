package readapi

import (
	"math"
	"strconv"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// maxPoints bounds the points of one stream. Beyond it neighbours become their mean, and
// again when that fills up, so that a call of any length is shown from end to end.
const maxPoints = 1000

// column is one measure of a series. NaN is what is unknown.
type column int

const (
	colMOS column = iota
	colBitrate
	colLoss
	colJitter
	colRTT
	colFPS
	colHeight
	colFrozen
	colConcealed
	colBuffer
	colSent
	colReceived
	colOutgoing
	colIncoming
	colLabel
	columnCount
)

// columnNames are the columns' names in the answer.
var columnNames = [columnCount]string{
	"mos", "bitrateKbps", "lossFraction", "jitterMs", "rttMs", "fps", "height", "frozenFraction", "concealedFraction",
	"jitterBufferMs", "sentKbps", "receivedKbps", "availableOutgoingKbps", "availableIncomingKbps",
	"labelRank",
}

// point is one measurement.
type point [columnCount]float64

// pointOf has the measures that are drawn.
func pointOf(m *event.Measurement) point {
	ms := event.Value{V: m.IntervalMs, Known: m.IntervalMs > 0}
	p := point{
		colMOS:       orNaN(m.Score.MOS),
		colBitrate:   kbps(m.Value(protocol.Bytes), ms),
		colLoss:      math.NaN(),
		colJitter:    orNaN(m.ReceiverJitterMs()),
		colRTT:       orNaN(m.Value(protocol.RTTMs)),
		colFPS:       orNaN(m.Value(protocol.FPS)),
		colHeight:    orNaN(m.Value(protocol.Height)),
		colFrozen:    share(m.Value(protocol.FreezeMs), ms),
		colConcealed: share(m.Value(protocol.ConcealedSamples), m.Value(protocol.Samples)),
		colBuffer:    orNaN(m.Value(protocol.JitterBufferDelayMs)),
		colSent:      kbps(m.Value(protocol.BytesSent), ms),
		colReceived:  kbps(m.Value(protocol.BytesReceived), ms),
		colOutgoing:  orNaN(m.Value(protocol.AvailableOutgoingBps)) / 1000,
		colIncoming:  orNaN(m.Value(protocol.AvailableIncomingBps)) / 1000,
		colLabel:     labelRank(m.Score.Label),
	}
	if m.Inbound() || m.Outbound() {
		p[colLoss] = orNaN(m.Loss().Fraction)
	}
	return p
}

func orNaN(v event.Value) float64 {
	if !v.Known {
		return math.NaN()
	}
	return v.V
}

// labelRank makes labels drawable, 5 for excellent to 1 for bad: where one ends and the
// next begins is the operator's setting, which the page does not know.
func labelRank(label string) float64 {
	switch label {
	case "excellent":
		return 5
	case "good":
		return 4
	case "fair":
		return 3
	case "poor":
		return 2
	case "bad":
		return 1
	default:
		return math.NaN()
	}
}

// kbps is a rate: bytes over an interval.
func kbps(bytes, ms event.Value) float64 { return orNaN(bytes) * 8 / orNaN(ms) }

// share is part/whole from 0 to 1, unknown when there is no whole.
func share(part, whole event.Value) float64 {
	if !whole.Positive() {
		return math.NaN()
	}
	return min(1, orNaN(part)/whole.V)
}

// series holds the points of a stream by column.
type series struct {
	times []int64 // of the newest record in each point
	cols  [columnCount][]float64
	have  [columnCount]int // values in the newest point, for its mean
	held  int              // records in the newest point
	step  int              // records that make a point
}

func (s *series) add(at int64, p point) {
	if s.step == 0 {
		s.step = 1
	}
	if s.held == s.step || len(s.times) == 0 {
		s.begin()
	}
	s.held++
	last := len(s.times) - 1
	s.times[last] = at
	for c, v := range p {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if s.cols[c] == nil { // most streams have half of the columns
			s.cols[c] = unknown(len(s.times))
		}
		s.have[c]++
		if mean := &s.cols[c][last]; s.have[c] == 1 {
			*mean = v
		} else {
			*mean += (v - *mean) / float64(s.have[c])
		}
	}
}

// begin makes room for one point more.
func (s *series) begin() {
	if len(s.times) == maxPoints {
		s.halve()
	}
	s.times, s.held, s.have = append(s.times, 0), 0, [columnCount]int{}
	for c, col := range s.cols {
		if col != nil {
			s.cols[c] = append(col, math.NaN())
		}
	}
}

func unknown(n int) []float64 {
	col := make([]float64, n)
	for i := range col {
		col[i] = math.NaN()
	}
	return col
}

// halve merges neighbours and doubles the step. All points are full when it is called.
func (s *series) halve() {
	n := len(s.times) / 2
	for i := range n {
		s.times[i] = s.times[2*i+1]
	}
	s.times = s.times[:n]
	for c, col := range s.cols {
		if col == nil {
			continue
		}
		for i := range n {
			col[i] = mean(col[2*i], col[2*i+1])
		}
		s.cols[c] = col[:n]
	}
	s.step *= 2
}

// mean of what is known.
func mean(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	default:
		return (a + b) / 2
	}
}

// appendJSON appends the series as members of an object: the times, then one array for
// each column that has a value.
func (s *series) appendJSON(b []byte) []byte {
	b = append(b, `"recordsPerPoint":`...)
	b = strconv.AppendInt(b, int64(s.step), 10)
	b = append(b, `,"t":[`...)
	for i, t := range s.times {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, t, 10)
	}
	b = append(b, ']')
	for c, col := range s.cols {
		if col == nil {
			continue
		}
		b = append(b, `,"`+columnNames[c]+`":[`...)
		for i, v := range col {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendNumber(b, v)
		}
		b = append(b, ']')
	}
	return b
}

// appendNumber rounds to four decimals, which is finer than any of the measures.
func appendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, math.Round(v*1e4)/1e4, 'f', -1, 64)
}
