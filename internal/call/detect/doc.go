// Package detect finds faults in the streams of a call: a detector raises when its metric is
// beyond the raise threshold for long enough and resolves when the metric is back within the
// resolve threshold for long enough. It is pure: no clock, no I/O, no state but the caller's.
//
// Measurements arrive late, twice and out of order. So the stored state is not a state machine
// but a Timeline, a bounded function of the set of measurements; a Machine runs over it at each
// evaluation. docs/quality.md explains detectors to operators.
package detect
