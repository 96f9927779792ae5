package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/harness"
)

// balance is the comparison of the ledger with a store, record by record.
type balance struct {
	stored   int64 // records of the run
	lost     int64 // acknowledged and not stored
	doubled  int64 // stored once more
	unsent   int64 // stored and never sent
	sessions map[string]*found
	examples []string
}

// found is the records of one session that are stored.
type found struct {
	*account
	offsets []int // of each frame, the position of its first record in stored
	stored  []bool
}

func newFound(a *account) *found {
	f, n := &found{account: a, offsets: make([]int, len(a.records))}, 0
	for i, records := range a.records {
		f.offsets[i], n = n, n+int(records)
	}
	f.stored = make([]bool, n)
	return f
}

// record returns whether a record is stored; nil: it was never sent.
func (f *found) record(seq uint64, index int) *bool {
	if f == nil || seq > f.sent || index < 0 || index >= f.of(seq) {
		return nil
	}
	return &f.stored[f.offsets[seq-f.first]+index]
}

// balance compares the ledger with a store. All pages must have ended.
func (l *load) balance(ctx context.Context, store storage.Reader) (*balance, error) {
	b := &balance{sessions: map[string]*found{}}
	for session, a := range l.ledger.accounts {
		b.sessions[session] = newFound(a)
	}
	err := harness.EachRecord(ctx, store, l.app, func(session string, r storage.Record) {
		if b.sessions[session] != nil || strings.HasSuffix(r.ConferenceID, l.runID()) { // others may use the store
			b.add(harness.Identity{Session: session, Seq: r.Seq, Index: r.Index})
		}
	})
	for session, f := range b.sessions {
		b.addLost(session, f)
	}
	return b, err
}

// add counts a record of the store.
func (b *balance) add(id harness.Identity) {
	b.stored++
	switch stored := b.sessions[id.Session].record(id.Seq, id.Index); {
	case stored == nil:
		b.unsent++
		b.note(id, "was never sent")
	case *stored:
		b.doubled++
		b.note(id, "is stored twice")
	default:
		*stored = true
	}
}

// addLost counts the acknowledged records of a session that are not stored.
func (b *balance) addLost(session string, f *found) {
	for seq := f.first; seq <= f.acked; seq++ {
		for index := range f.of(seq) {
			if !*f.record(seq, index) {
				b.lost++
				b.note(harness.Identity{Session: session, Seq: seq, Index: index}, "is not stored")
			}
		}
	}
}

// note keeps the first records that are wrong.
func (b *balance) note(id harness.Identity, fault string) {
	const most = 5
	if len(b.examples) < most {
		b.examples = append(b.examples, fmt.Sprintf("record %d of frame %d of session %s %s", id.Index, id.Seq, id.Session, fault))
	}
}

// err returns an error if the store is not what was acknowledged.
func (b *balance) err() error {
	if b.lost+b.doubled+b.unsent == 0 {
		return nil
	}
	return errors.New("the store differs from the ledger: " + b.String() + ": " + strings.Join(b.examples, "; "))
}

func (b *balance) String() string {
	return fmt.Sprintf("%d records, %d lost, %d twice, %d never sent", b.stored, b.lost, b.doubled, b.unsent)
}
