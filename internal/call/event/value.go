package event

// Value is a number that may be unknown. The zero Value is unknown.
type Value struct {
	V     float64 // 0 where it is unknown
	Known bool
}

// Known returns a known value.
func Known(v float64) Value { return Value{v, true} }

// Is reports whether the value is known and v.
func (o Value) Is(v float64) bool { return o.Known && o.V == v }

// Positive reports whether the value is known and above 0.
func (o Value) Positive() bool { return o.Known && o.V > 0 }

// Or returns the first of the two that is known.
func (o Value) Or(p Value) Value {
	if o.Known {
		return o
	}
	return p
}
