package detect

import (
	"math/bits"

	"github.com/qosrtc/qos/internal/event"
)

// Class is what a measurement means to a detector.
type Class uint8

// The classes, by what wins where two fall into one cell.
const (
	Unknown Class = iota // no evidence
	Clear                // well: it resolves
	Between              // neither: it raises nothing and resolves nothing
	Breach               // bad: it raises
)

// Word is what one cell of a Timeline says, so made that joining two words is an OR: a
// class takes three bits, of which as many are set as it is worth.
type Word uint64

const (
	classBits = 3
	stateBits = 9
	stateAt   = 64 - stateBits
)

// Join returns what two measurements of the same time say: the worse of each.
func (w Word) Join(o Word) Word { return w | o }

// Class returns what the word means to a level detector.
func (w Word) Class(l Level) Class {
	return Class(bits.Len8(uint8(w>>(classBits*l)) & (1<<classBits - 1))) // three bits
}

// blend returns what two stretches of time say together: where they differ, neither.
func (w Word) blend(o Word) Word {
	out := (w | o) >> stateAt << stateAt
	for l := range NumLevels {
		a, b := w.Class(l), o.Class(l)
		switch {
		case a == Unknown:
			a = b
		case b != Unknown && a != b:
			a = Between
		}
		out = out.with(l, a)
	}
	return out
}

func (w Word) with(l Level, c Class) Word { return w | (1<<c-1)<<(classBits*l) }

// NumStates is how many states a Word has room for.
const NumStates = stateBits

// WithState adds a state, 0 to NumStates-1, of which the higher wins.
func (w Word) WithState(state int) Word {
	return w | Word(uint64(1)<<(state+1)-1)<<stateAt
}

// State returns the state, false when there is none.
func (w Word) State() (int, bool) {
	n := bits.Len64(uint64(w >> stateAt))
	return n - 1, n > 0
}

// Reading is what one measurement says to all level detectors.
type Reading struct {
	Word   Word
	Values [NumLevels]float64 // of those whose class is not Unknown
}

// Read classifies a measurement.
func (r *Rules) Read(m *event.Measurement) (out Reading) {
	for l := range NumLevels {
		v, ok := levels[l].value(m)
		if !ok || v != v { // NaN
			continue
		}
		v = max(0, v) // no metric is below
		out.Values[l] = v
		out.Word = out.Word.with(l, r.level[l].class(v, levels[l].below))
	}
	return out
}

// class compares a value with the thresholds: those themselves are not passed.
func (r *Rule) class(v float64, below bool) Class {
	raise, resolve := r.Raise, r.Resolve
	if below {
		v, raise, resolve = -v, -raise, -resolve
	}
	switch {
	case v > raise:
		return Breach
	case v > resolve:
		return Between
	}
	return Clear
}
