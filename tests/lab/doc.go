// Package lab draws impaired calls, makes them with real browsers and records them for tests/cause. No test target runs it.
//
// A draw (Draw) is a number of calls and a seed. Its catalogue has kinds of calls: who takes part, how they are
// connected, what the media are, and what impairs them or, for controls, what people do in a good call. The recorder
// (TestRecord) makes the calls one after the other, and writes for each the records that the receiver emitted:
//
//	make record-causes INTO=twelfth SEED=0x1234 CALLS=60
//
// In place of a draw it records the listed calls (INTO=.) or those through real media servers (INTO=servers).
//
// It writes the list of calls (draw.txt) of a draw first. If it is started again, it records the calls that have no trace yet.
// A call on a machine that had too little time for it is not recorded: record on an idle machine.
//
// The calls of a draw measure the rules that exist when it is recorded. Commit the rules and the seed before, and replay the
// traces once; docs/cause.md has the results of earlier draws.
package lab
