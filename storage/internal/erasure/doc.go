// Package erasure decides what remains of a user in a store. It changes sessions, records and summaries; it
// knows no engine.
//
// In a record of another user it replaces the identifiers of the erased one: those of the remote end, of
// the owner of a stream, of who gave feedback, and whole words in free texts. Of a record of the erased user
// the measurements, the kinds of events and errors, and the ratings remain. Texts remain only if they are in
// the lists of this package.
//
// An erasure knows the identifiers by keyed digests alone, so that it may be stored, and still be applied to
// what arrives late. The key is stored beside them, so an attacker with a copy of the store can test
// guesses of an ID until the erasure expires.
package erasure
