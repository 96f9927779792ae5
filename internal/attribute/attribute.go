// Package attribute reads the attributes that internal/semconv names, alike in every stage:
// two stages that read a record's identity differently would count it differently.
package attribute

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Text returns a string attribute, "" when it is missing or of another type.
func Text(attrs pcommon.Map, name string) string {
	if v, ok := attrs.Get(name); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}

// Integer returns a whole number, false when it is missing or none.
func Integer(attrs pcommon.Map, name string) (int64, bool) {
	v, ok := attrs.Get(name)
	if !ok {
		return 0, false
	}
	return Whole(v)
}

// Whole reads a whole number, false when v is none. JSON senders may write one as a double;
// beyond 2^53 a double no longer tells one from the next.
func Whole(v pcommon.Value) (int64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return v.Int(), true
	case pcommon.ValueTypeDouble:
		if d := v.Double(); math.Trunc(d) == d && math.Abs(d) <= 1<<53 {
			return int64(d), true
		}
	default:
	}
	return 0, false
}
