// Package eventtest builds measurements for tests.
package eventtest

import (
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// Values holds the values of known measures.
type Values map[protocol.Measure]float64

// With returns m with values set.
func With(m event.Measurement, values Values) event.Measurement {
	for k, v := range values {
		m.Set(k, v)
	}
	return m
}

// MOS returns a score without a label.
func MOS(v float64) event.Score { return event.Score{MOS: event.Known(v)} }

// Stats returns the attribute of a measure by its column name, or "" when there is no such measure.
func Stats(column string) string { return semconv.Measure(protocol.MeasureNamed(column)) }
