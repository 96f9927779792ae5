// Package privacy proves with the real binary that addresses reach no store and no exporter
// (docs/security.md). It sets every text of every message of the protocol to each form of an address, and
// searches everything that the collector writes.
//
// It also proves that an erased user is in no file of the store, in no answer and in no later summary, while a call of
// theirs is live.
package privacy
