package quality

import (
	"errors"
	"fmt"
)

// The labels, best first.
const (
	Excellent = "excellent"
	Good      = "good"
	Fair      = "fair"
	Poor      = "poor"
	Bad       = "bad"
)

// Bounds are the boundary conditions: the inclusive lower bounds, in MOS, of excellent,
// good, fair and poor. A score below the last is bad.
type Bounds [4]float64

// PresetITUG107 names the bounds of G.107 Table B.1 (R 90, 80, 70, 60). With Opus at its
// usual bit rates a call without any fault is not excellent by it.
const PresetITUG107 = "itu-g107"

// DefaultBounds returns the default boundary conditions (R 85, 74.5, 62, 50).
func DefaultBounds() Bounds { return Bounds{4.2, 3.8, 3.2, 2.6} }

// PresetBounds returns the boundary conditions of that name, false when there are none.
func PresetBounds(name string) (Bounds, bool) {
	if name == PresetITUG107 {
		return Bounds{4.34, 4.03, 3.60, 3.10}, true
	}
	return Bounds{}, false
}

// NewBounds returns the boundary conditions of a list. The error lists all faults.
func NewBounds(mos []float64) (Bounds, error) {
	var b Bounds
	if len(mos) != len(b) {
		return b, fmt.Errorf("%d bounds given, %d are needed (excellent, good, fair, poor)", len(mos), len(b))
	}
	copy(b[:], mos)
	return b, b.Validate()
}

// Validate returns all faults: a bound that is not above 1 and at most 5, and bounds
// that do not decrease from excellent to poor.
func (b Bounds) Validate() error {
	names := [...]string{Excellent, Good, Fair, Poor}
	var errs []error
	for i, v := range b {
		if !(v > 1 && v <= 5) {
			errs = append(errs, fmt.Errorf("bound of %s is %g, must be above 1 and at most 5", names[i], v))
		}
	}
	for i, v := range b[1:] {
		if above := b[i]; !(v < above) {
			errs = append(errs, fmt.Errorf("bound of %s (%g) must be below that of %s (%g)", names[i+1], v, names[i], above))
		}
	}
	return errors.Join(errs...)
}

// Label returns the label of a score by boundary conditions; "" for NaN. It has no hysteresis:
// the caller, which has the history, adds it.
func Label(mos float64, bounds Bounds) string {
	switch {
	case mos >= bounds[0]:
		return Excellent
	case mos >= bounds[1]:
		return Good
	case mos >= bounds[2]:
		return Fair
	case mos >= bounds[3]:
		return Poor
	case mos < bounds[3]:
		return Bad
	}
	return ""
}
