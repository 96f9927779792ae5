// Package delivery proves the promise of docs/protocol.md, section 4.7, on the real
// binary: what was acknowledged stands in the store exactly once. Clients under load lose
// their connections at random, resume, post the same frames through the other door, and
// the collector itself is killed in between; then the store is read.
//
// The tests build ./collector; QOS_COLLECTOR names a binary to use instead. They speak over
// loopback only. QOS_DELIVERY_SECONDS says how long the load lasts (5), QOS_DELIVERY_SEED
// repeats a run's dice. Run them with -count=1: the test cache does not know what the
// binary was built from.
package delivery
