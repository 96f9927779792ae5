// Package cause finds the most likely cause of a bad call, and where it lies, from what all
// who took part measured.
//
// It is a pure function of a Call: no clock, no state, no randomness. Each rule says what it
// saw, what it compared that with, and how sure it is; where the evidence fits several places
// alike it names none of them, and where it fits no rule the answer is Unknown. docs/cause.md
// explains each cause to an operator, and what cannot be known.
package cause
