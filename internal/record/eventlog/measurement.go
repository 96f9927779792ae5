package eventlog

import (
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventattr"
	"github.com/qosrtc/qos/protocol"
)

// Measurements reads the records of measurements. The order of their attributes rarely changes, so
// most fields are found without a search, as the successor of the previous one. It is not safe
// for concurrent use.
type Measurements struct {
	after [eventattr.NumFields]eventattr.Field // by the previous field; None: unknown
}

var readers = sync.Pool{New: func() any {
	r := new(Measurements)
	for f := range r.after {
		r.after[f] = eventattr.None
	}
	return r
}}

// NewMeasurements returns a reader. The caller SHOULD call Release after use.
func NewMeasurements() *Measurements {
	return readers.Get().(*Measurements) // the pool holds no other type
}

// Release returns the reader to its pool.
func (r *Measurements) Release() { readers.Put(r) }

// Read reads the measurement of a record of a fabric with that usage into m, which MUST be empty.
func (r *Measurements) Read(m *event.Measurement, attrs pcommon.Map, usage string) eventattr.Row {
	row := eventattr.NewRow()
	last := eventattr.None
	for name, v := range attrs.All() {
		field := r.after[last]
		if field.Name() != name {
			if field = eventattr.FieldOf(name); field.Name() != "" {
				r.after[last] = field
			}
		}
		last = field
		if k, ok := field.Measure(); !ok || !set(m, k, v) {
			row.Put(m, field, attr(v))
		}
	}
	eventattr.Done(m, usage)
	return row
}

// set sets a measure that is a number, as most attributes are; false if v is none.
func set(m *event.Measurement, k protocol.Measure, v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		m.Set(k, float64(v.Int()))
	case pcommon.ValueTypeDouble:
		m.Set(k, v.Double())
	default:
		return false
	}
	return true
}
