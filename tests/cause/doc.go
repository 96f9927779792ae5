// Package cause holds what a collector received of real calls that were harmed on purpose, each
// with what was done to it, so that the likely cause that conference state finds can be
// held against the truth.
//
// A trace is the records that the receiver emitted during one call between real browsers,
// through relays that lose, delay, cap or cut. It is recorded once:
//
//	QOS_E2E=required CGO_ENABLED=0 go test -count=1 -timeout 60m -run 'TestRecordCauses' ./tests/e2e -record-causes ../cause/testdata
//
// A trace that is there is not recorded again: remove it to have another. The tests here
// replay the traces through the quality and the conference processor and look at the summary
// that comes out.
//
// The rules were made with the traces in testdata, all of which were looked at, and mended
// after a first draw of calls, in testdata/fresh, had been measured with. Each draw is arranged
// by a seed and recorded after the rules were frozen, and replayed once. It measures those rules
// alone: who changes a rule because of one of its calls has to draw new ones.
package cause
