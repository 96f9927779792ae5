// Package conference folds the events of a conference's time-line into its state and
// its summary. It is pure: no pdata, no I/O, no clock (time is an argument).
//
// A summary is a function of the set of distinct events: neither the order in which the
// records of several sessions arrive, nor repetition, nor the division into batches changes
// it. So the state in memory is a cache: the same events from another source, for example
// the store, yield the same summary.
package conference
