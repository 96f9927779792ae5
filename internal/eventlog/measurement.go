package eventlog

import (
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/eventattr"
	"github.com/qosrtc/qos/protocol"
)

// Measurements reads the records of measurements. Their attributes follow one another in much
// the same order: by what came after each before, most are found without a search. Not for
// concurrent use.
type Measurements struct {
	after [eventattr.NumFields]eventattr.Field // by the field before; None: not found yet
}

var readers = sync.Pool{New: func() any {
	r := new(Measurements)
	for f := range r.after {
		r.after[f] = eventattr.None
	}
	return r
}}

// NewMeasurements returns a reader. Release gives it back.
func NewMeasurements() *Measurements {
	return readers.Get().(*Measurements) //nolint:forcetypeassert // nothing else is in there
}

// Release gives the reader back.
func (r *Measurements) Release() { readers.Put(r) }

// Read reads the measurement of a record of a fabric with that usage into m, which is empty.
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

// set is the short way of what most attributes are.
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
