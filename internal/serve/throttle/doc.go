// Package throttle limits rates by token buckets with a key each, in bounded memory (Table), and
// queues callers fairly before expensive work (Gate). It does no I/O, and Table takes the time as
// an argument.
//
// # Buckets
//
// A bucket saves up to Burst tokens and gets one each Interval. It is stored as the time at which
// it is full again (the theoretical arrival time of GCRA, ITU-T I.371): the duration until then is
// its debt. A bucket without debt is not stored.
//
// # Waits
//
// A bucket promises each refused client another token, one Interval after the one before: the
// client is admitted if it returns after its own wait and at most one Interval later, unless a
// client without a promise takes the token first. No wait is longer than MaxWait. Where more
// clients wait than tokens arrive until then, the caller has to spread them.
//
// # Memory, and attacks on it
//
// A Table holds a fixed number of buckets, in shards by a hash with a random seed for each
// process: an attacker cannot compute which keys share a shard, and memory has neither addresses
// nor names. A full shard evicts full buckets first, then the bucket with the least debt. So
//
//   - a bucket in debt by d is evicted only when every other bucket of its shard is in debt by
//     at least d. To evict one drained bucket takes as many drained ones as the table holds:
//     capacity × Burst tokens, each bucket with its own key;
//   - an evicted bucket is full when it is used again. An attacker that fills the table has other
//     clients admitted too early, never refused.
//
// # The gate
//
// A Gate admits a fixed number of callers at once and queues the others by class (the
// application), round-robin. A class may hold fewer slots than are free, at work and in the
// queue: one class that floods leaves half of both to the others, two leave a third, and so on
// (the dynamic threshold of Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998). So a flood of one class
// neither delays another nor takes its share. A flood under many names gets the shares of as many
// classes; the length of the queue bounds its effect.
package throttle
