// Package erasure decides which data of a user remains in a store. It changes sessions, records and summaries,
// independently of the engine.
//
// In a record of another user it replaces the identifiers of the erased one: those of the remote end, of
// the owner of a stream, of the author of feedback, and whole words in free texts. In a record of the erased user
// the measurements, the kinds of events and errors, and the ratings remain. Texts remain only if they are in
// the lists of this package.
//
// An erasure stores only keyed digests of the identifiers, so that it can be applied to
// data that arrives late. The key is stored beside them, so an attacker with a copy of the store can test
// guesses of an ID until the erasure expires.
package erasure
