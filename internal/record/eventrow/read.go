package eventrow

import (
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventattr"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// Read returns the event of a stored record, equal to its event in the pipeline except for the fields of
// the session; false if no conference has such records. It overwrites m with the measurement.
func Read(r *storage.Record, m *event.Measurement) (e event.Event, ok bool) {
	if e.Kind = eventattr.KindOf(r.Name); e.Kind == 0 {
		return e, false
	}
	e.ConferenceID, e.ConferenceAtMs, e.Fabric = r.ConferenceID, r.ConferenceAt.UnixMilli(), r.Fabric
	e.Seq, e.Index, e.AtMs = r.Seq, r.Index, r.At.UnixMilli()
	eventattr.ReadScope(&e, source(r.Attributes))
	if e.Kind != event.KindStats {
		eventattr.ReadDetails(&e, source(r.Attributes))
		return e, true
	}
	*m = event.Measurement{}
	row := eventattr.NewRow()
	for name, v := range r.Attributes {
		row.Put(m, eventattr.FieldOf(name), attr(v))
	}
	e.TimeCorrected = row.TimeCorrected
	eventattr.Done(m, e.Usage)
	if m.StatsType != "" { // empty for a keep-alive, a frame without measurements
		e.Measured = m
	}
	return e, true
}

// Inputs returns the inputs of a measurement's score, by name.
func Inputs(r *storage.Record) map[string]float64 {
	inputs := map[string]float64{}
	for name, v := range r.Attributes {
		if input, ok := strings.CutPrefix(name, semconv.QualityInputPrefix); ok {
			if n, ok := attr(v).Number(); ok {
				inputs[input] = n
			}
		}
	}
	return inputs
}

// source provides the attributes of a record to package eventattr.
type source map[string]any

// Get returns the value of an attribute.
func (s source) Get(name string) eventattr.Attr { return attr(s[name]) }

func attr(v any) eventattr.Attr {
	switch v := v.(type) {
	case string:
		return eventattr.Attr{Type: eventattr.Text, Text: v}
	case int64:
		return eventattr.Attr{Type: eventattr.Int, Int: v}
	case float64:
		return eventattr.Attr{Type: eventattr.Float, Float: v}
	case bool:
		return eventattr.Attr{Type: eventattr.Bool, Bool: v}
	}
	return eventattr.Attr{}
}
