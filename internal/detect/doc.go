// Package detect finds what is wrong with the streams of a call: each detector raises when
// its metric passes a threshold for long enough and resolves when it is well below another
// one for long enough. It is pure: no clock, no I/O, no state but what the caller holds.
//
// Measurements come late, twice and out of order. So what is kept is no state machine but
// a Timeline, a bounded function of the set of measurements; the machines run over it when
// somebody asks. docs/quality.md explains detectors to operators.
package detect
