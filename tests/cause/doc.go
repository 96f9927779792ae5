// Package cause has the records that a collector received of real calls that were impaired on purpose, each with a label of
// what impaired it. Its tests compare the likely cause that conference state finds with the label.
//
// A trace has the records that the receiver emitted during one call between real browsers, through relays that lose,
// delay, limit or cut. tests/lab records it once. The tests replay the traces through the quality and the conference
// processor (Replay) and read the resulting summary.
//
// The rules were made with the traces in testdata. Its folders are draws: calls that a seed arranged, recorded after the
// rules of their time were frozen, and replayed once then. A draw measures those rules alone: a rule that is changed because
// of one of its calls has to be measured with new calls.
package cause
