package dashboardextension

import (
	"math"
	"strconv"

	"github.com/qosrtc/qos/internal/semconv"
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

// measure reads the measures that are drawn.
func measure(statsType string, attrs attributes) point {
	stat := func(name string) float64 { return attrs.number(semconv.Stats(name)) }
	intervalMs := attrs.number(semconv.IntervalMs)
	p := point{
		colMOS:       attrs.number(semconv.QualityMOS),
		colBitrate:   kbps(stat("bytes"), intervalMs),
		colJitter:    stat("jitterMs"),
		colRTT:       stat("rttMs"),
		colFPS:       stat("fps"),
		colHeight:    stat("height"),
		colFrozen:    min(1, stat("freezeMs")/intervalMs),
		colConcealed: share(stat("concealedSamples"), stat("samples")),
		colBuffer:    stat("jitterBufferDelayMs"),
		colSent:      kbps(stat("bytesSent"), intervalMs),
		colReceived:  kbps(stat("bytesReceived"), intervalMs),
		colOutgoing:  stat("availableOutgoingBps") / 1000,
		colIncoming:  stat("availableIncomingBps") / 1000,
		colLabel:     labelRank(attrs.text(semconv.QualityLabel)),
	}
	switch statsType {
	case "inbound-rtp":
		lost := stat("packetsLost")
		p[colLoss] = share(lost, lost+stat("packets"))
	case "outbound-rtp":
		p[colJitter] = stat("remoteJitterMs")
		p[colLoss] = stat("remoteLossFraction")
		if math.IsNaN(p[colLoss]) {
			p[colLoss] = share(stat("remotePacketsLost"), stat("packets"))
		}
	default:
		p[colLoss] = math.NaN()
	}
	return p
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
func kbps(bytes, intervalMs float64) float64 {
	if !(intervalMs > 0) {
		return math.NaN()
	}
	return bytes * 8 / intervalMs
}

// share is part/whole from 0 to 1, unknown when there is no whole. RFC 3550's losses may
// be negative when packets were doubled.
func share(part, whole float64) float64 {
	if !(whole > 0) {
		return math.NaN()
	}
	return min(1, max(0, part/whole))
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
