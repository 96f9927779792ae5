package frames

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
)

// ReadRow is a row with its session's id.
type ReadRow struct {
	Session    []byte
	SessionKey int64 // the engine's key, for package chunk
	Row
}

// position returns the position of the row's first record.
func (r *ReadRow) position() Position {
	return Position{r.At, [16]byte(r.Session), r.Seq, r.Idx}
}

// End returns the position of the row's last record.
func (r *ReadRow) End() Position {
	p := r.position()
	p.Idx += r.N - 1
	return p
}

// ChunkSpan is a chunk's key and the times of its first and last record.
type ChunkSpan struct {
	Key      int64
	From, To int64
}

// Page is a part of the rows of a conference, of one snapshot.
type Page struct {
	// Rows in order of Position, at most the limit. If there are as many as the limit, there may be
	// more.
	Rows []ReadRow
	// Chunks that may hold records after the position from which the page starts, in order of From:
	// all of them, or, if there are as many rows as the limit, those that begin not after the
	// last row.
	Chunks []ChunkSpan
}

// ReadPage returns rows after from, at most limit, and chunks. Both MUST be of one snapshot of the
// store: a record that is moved from a row into a chunk is in exactly one of them.
type ReadPage func(ctx context.Context, from Position, limit int) (Page, error)

// Packed is a decoded chunk (package chunk).
type Packed interface {
	// Len returns the number of records.
	Len() int
	// Position returns the position of record i, in ascending order.
	Position(i int) Position
	// Record returns record i.
	Record(i int) Record
}

// ErrGone is returned when a chunk was deleted since it was listed.
var ErrGone = errors.New("the chunk was deleted")

// OpenChunk reads and decodes a chunk. If it returns ErrGone, or an error that wraps
// storage.ErrDamaged, reading continues without the chunk. Any other error ends the reading.
type OpenChunk func(ctx context.Context, key int64) (Packed, error)

// FromAll is the From of a Read of all records.
const FromAll = math.MinInt64

// pageRows is the number of rows of a page. No read transaction stays open while the
// caller processes a page.
const pageRows = 256

// Read is the input of Records.
type Read struct {
	ConferenceID string
	Span         instance.Span // of activity; records of chunks outside it are skipped
	From         int64         // ms since the Unix epoch; records before it are not read; FromAll: all are
	Activity     ReadPage
	Other        ReadPage // annotations; never packed
	Open         OpenChunk
}

// Records merges rows and chunks and yields their records in order of Position, each
// once, until yield returns false. Damaged rows and chunks are left out; after all others
// it returns an error that names them. It holds one page of rows of each kind in memory, and the
// chunks that overlap the current time.
func (r *Read) Records(ctx context.Context, yield func(string, storage.Record) bool) error {
	damage := &Damage{}
	activity, other := newFeed(r, r.Activity, damage), newFeed(r, r.Other, damage)
	for {
		from, err := earlier(ctx, activity, other)
		if err != nil {
			return err
		}
		if from == nil {
			return damage.Err()
		}
		if !from.emit(yield) {
			return nil
		}
	}
}

// earlier returns the feed whose next record is first, nil when both have ended.
func earlier(ctx context.Context, a, b *feed) (*feed, error) {
	for _, f := range []*feed{a, b} {
		if err := f.find(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case !a.found && !b.found:
		return nil, nil // the end is no error
	case !a.found || b.found && b.next.Compare(&a.next) < 0:
		return b, nil
	}
	return a, nil
}

// yield yields the records of one row.
func (r *ReadRow) yield(read *Read, damage *Damage, yield func(string, storage.Record) bool) (goOn bool) {
	session := uuid.UUID(r.Session).String()
	name, records, err := r.Decode()
	if err != nil {
		damage.Add(fmt.Errorf("session %s, frame %d: %w", session, r.Seq, err))
		return true
	}
	for i, attributes := range records {
		one := Record{Seq: r.Seq, Idx: r.Idx + i, Columns: r.Columns, Name: name, Attributes: attributes}
		if !yield(session, one.stored(read.ConferenceID)) {
			return false
		}
	}
	return true
}

func (r *Record) stored(conferenceID string) storage.Record {
	return storage.Record{
		Seq: uint64(r.Seq), Index: r.Idx, ConferenceID: conferenceID, Fabric: r.Fabric, Name: r.Name,
		ConferenceAt: FromMs(r.ConferenceAt), At: FromMs(r.At), ObservedAt: FromMs(r.ObservedAt),
		Activity: r.Activity, Attributes: r.Attributes,
	}
}

// FromMs returns the time of ms since the epoch.
func FromMs(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// CeilMs returns t in ms since the epoch, rounded up.
func CeilMs(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
