package eventattr

import "math"

// Type is the type of an attribute's value.
type Type uint8

// The types.
const (
	Missing Type = iota
	Text
	Int
	Float
	Bool
	Other // lists and maps
)

// Attr is the value of an attribute.
type Attr struct {
	Type  Type
	Text  string // of Other as JSON
	Int   int64
	Float float64
	Bool  bool
}

// Str returns a text, "" for another type.
func (a Attr) Str() string {
	if a.Type == Text {
		return a.Text
	}
	return ""
}

// Number returns an int or a double: senders may use either. It returns false for other types and for
// numbers that are not finite.
func (a Attr) Number() (float64, bool) {
	switch a.Type {
	case Int:
		return float64(a.Int), true
	case Float:
		return a.Float, !math.IsNaN(a.Float) && !math.IsInf(a.Float, 0)
	default:
		return 0, false
	}
}

// Whole returns a whole number, false if a is none. A double counts if it is whole and at most 2^53,
// the limit up to which doubles represent whole numbers exactly.
func (a Attr) Whole() (int64, bool) {
	switch a.Type {
	case Int:
		return a.Int, true
	case Float:
		if math.Trunc(a.Float) == a.Float && math.Abs(a.Float) <= 1<<53 {
			return int64(a.Float), true
		}
	default:
	}
	return 0, false
}

func (a Attr) whole() int64 {
	n, _ := a.Whole()
	return n
}
