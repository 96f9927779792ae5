package main

import (
	"slices"
	"sync"
)

// ledger is the frames of the pages, by session.
type ledger struct {
	mu       sync.Mutex
	accounts map[string]*account
}

// account is the frames of one session. Its page writes it; it is read when all pages have ended.
type account struct {
	first   uint64   // number of the first frame; the others follow without gaps
	records []uint16 // of each frame, the number that it becomes in the store; 0: it was refused
	sent    uint64   // number of the last frame that was written to a connection
	acked   uint64   // number of the last frame that was acknowledged
}

// open adds the account of a session. The session continues the one before with the frames from a number on; nil: there is
// none.
func (l *ledger) open(session string, before *account, from uint64) *account {
	a := &account{first: from}
	if before != nil {
		a.records = slices.Clone(before.records[from-before.first:])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accounts[session] = a
	return a
}

// prepared adds the next frame.
func (a *account) prepared(records int) { a.records = append(a.records, uint16(records)) }

// refused notes that a frame becomes no record.
func (a *account) refused(seq uint64) {
	if a.of(seq) > 0 {
		a.records[seq-a.first] = 0
	}
}

// of returns the number of records that a frame becomes in the store.
func (a *account) of(seq uint64) int {
	if seq < a.first || seq-a.first >= uint64(len(a.records)) {
		return 0
	}
	return int(a.records[seq-a.first])
}
