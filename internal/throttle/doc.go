// Package throttle says who may go on now and who must come back later: token buckets by
// key in bounded memory (Table), and a fair queue before work that costs (Gate). It does
// no I/O, and Table takes the time as an argument.
//
// # Buckets
//
// A bucket saves up to Burst tokens and gets one each Interval. It is kept as the time at
// which it will be full again (the theoretical arrival time of GCRA, ITU-T I.371): what
// lies between now and then is its debt. A bucket without debt says nothing, and so
// needs no memory.
//
// # Waits
//
// A wait is true. Those who are refused at one bucket are promised tokens one after the
// other: each is let in who comes after its own wait and at most one Interval later,
// unless a client without a time takes the tokens meanwhile. No client is given more
// than MaxWait; where more wait than get tokens until then, the caller has to spread them.
//
// # Memory, and who can use it against whom
//
// A Table holds a fixed number of buckets, in shards by a hash that is keyed anew in each
// process: which keys meet in a shard cannot be worked out from outside, and neither
// addresses nor names stand in memory. When a shard is full, the bucket with the least
// debt makes room, and full buckets before all others. So
//
//   - who is in debt by d is forgotten only when every other bucket of the shard is in
//     debt by at least d. To have one drained bucket forgotten takes as many drained ones
//     as the table holds: capacity × Burst tokens, each from a key of its own;
//   - being forgotten means having a full bucket again. A client that fills the table gets
//     others let in too early, never refused.
//
// # The gate
//
// A Gate lets so many in at once and queues the others by class (the application), in
// turns. A class has places as long as it has fewer than are free, at work and in the
// queue: one that floods leaves half of both to the others, two leave a third, and so on
// (the dynamic threshold of Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998). A flood of one
// class therefore neither holds up nor crowds out another. Who floods under many names at
// once gets the share of as many; the room of the queue bounds what that does to others.
package throttle
