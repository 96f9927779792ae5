package detect

import (
	"math/bits"

	"github.com/qosrtc/qos/internal/call/event"
)

// Class is a detector's classification of a measurement.
type Class uint8

// The classes. Of two in one cell the higher is kept.
const (
	Unknown Class = iota // no evidence
	Clear                // good: it resolves
	Between              // between the thresholds: it neither raises nor resolves
	Breach               // bad: it raises
)

// Word is the content of one cell of a Timeline. A class has three bits, of which the lowest
// Class are set, so that the OR of two words keeps the higher class of each detector.
type Word uint64

const (
	classBits = 3
	stateBits = 9
	stateAt   = 64 - stateBits
)

// Join returns the word of two measurements of the same time: the higher class of each detector.
func (w Word) Join(o Word) Word { return w | o }

// Class returns the word's class for a level detector.
func (w Word) Class(l Level) Class {
	return Class(bits.Len8(uint8(w>>(classBits*l)) & (1<<classBits - 1))) // three bits
}

// blend returns the word of two stretches of time together: Between where their classes differ.
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

// NumStates is the number of states that a Word can hold.
const NumStates = stateBits

// WithState adds a state, 0 to NumStates-1. A word keeps the highest of its states.
func (w Word) WithState(state int) Word {
	return w | Word(uint64(1)<<(state+1)-1)<<stateAt
}

// State returns the state, false when there is none.
func (w Word) State() (int, bool) {
	n := bits.Len64(uint64(w >> stateAt))
	return n - 1, n > 0
}

// Reading holds the values and classes of one measurement for all level detectors.
type Reading struct {
	Word   Word
	Values [NumLevels]float64 // 0 where the class is Unknown
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

// class compares a value with the thresholds. A value equal to a threshold is within it.
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
