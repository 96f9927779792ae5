package eventlog

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/record/eventattr"
)

// Text returns a string attribute, "" when it is missing or of another type.
func Text(attrs pcommon.Map, name string) string { return source(attrs).Get(name).Str() }

// Integer returns a whole number, false when it is missing or no whole number.
func Integer(attrs pcommon.Map, name string) (int64, bool) { return source(attrs).Get(name).Whole() }

// Number returns a number, 0 when it is missing or no number.
func Number(attrs pcommon.Map, name string) float64 {
	v, _ := source(attrs).Get(name).Number()
	return v
}

// Known returns a number, false when it is missing, no number or not finite.
func Known(attrs pcommon.Map, name string) (float64, bool) { return source(attrs).Get(name).Number() }

// True reports whether an attribute is a boolean that is true.
func True(attrs pcommon.Map, name string) bool {
	v := source(attrs).Get(name)
	return v.Type == eventattr.Bool && v.Bool
}

// source provides the attributes of a record to package eventattr.
type source pcommon.Map

// Get returns the value of an attribute.
func (s source) Get(name string) eventattr.Attr {
	v, ok := pcommon.Map(s).Get(name)
	if !ok {
		return eventattr.Attr{}
	}
	return attr(v)
}

func attr(v pcommon.Value) eventattr.Attr {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return eventattr.Attr{Type: eventattr.Text, Text: v.Str()}
	case pcommon.ValueTypeInt:
		return eventattr.Attr{Type: eventattr.Int, Int: v.Int()}
	case pcommon.ValueTypeDouble:
		return eventattr.Attr{Type: eventattr.Float, Float: v.Double()}
	case pcommon.ValueTypeBool:
		return eventattr.Attr{Type: eventattr.Bool, Bool: v.Bool()}
	case pcommon.ValueTypeEmpty:
		return eventattr.Attr{}
	default:
		return eventattr.Attr{Type: eventattr.Other, Text: v.AsString()}
	}
}
