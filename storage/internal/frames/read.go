package frames

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
)

// ReadRow is a row with its session's id.
type ReadRow struct {
	Session    []byte
	SessionKey int64 // the engine's; only package chunk asks for it
	Row
}

// position is that of the row's first record.
func (r *ReadRow) position() Position {
	return Position{r.At, [16]byte(r.Session), r.Seq, r.Idx}
}

// End is the place of the row's last record.
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

// Page is a part of the rows of a conference, as one moment saw it.
type Page struct {
	// Rows in order of Position, and not more than was asked for. As many as were asked
	// for say that there may be more.
	Rows []ReadRow
	// Chunks that may hold records after the position the page starts from: all of them,
	// or, where there are as many rows as were asked for, those that begin not after the
	// last row. In order of From.
	Chunks []ChunkSpan
}

// ReadPage returns rows after from, at most limit of them, and chunks. Both must be what
// one snapshot of the store has: a record that is moved from a row into a chunk is in one
// of them.
type ReadPage func(ctx context.Context, from Position, limit int) (Page, error)

// Packed is a chunk that was decoded. Package chunk has it.
type Packed interface {
	// Len returns the number of records.
	Len() int
	// Position returns the place of record i; records are in order of it.
	Position(i int) Position
	// Record returns record i.
	Record(i int) Record
}

// ErrGone says that a chunk was deleted since it was listed.
var ErrGone = errors.New("the chunk was deleted")

// OpenChunk reads and decodes a chunk. It fails with ErrGone, or with an error that wraps
// storage.ErrDamaged: then the rest is read without it. Any other error ends the reading.
type OpenChunk func(ctx context.Context, key int64) (Packed, error)

// FromAll is the From of a Read of all records.
const FromAll = math.MinInt64

// pageRows is how many rows are read at a time. No read transaction stays open while the
// caller works on a page.
const pageRows = 256

// Read says what Records reads.
type Read struct {
	ConferenceID string
	Span         instance.Span // of activity: a chunk may hold more by the time it is read
	From         int64         // ms since the Unix epoch; records before it are not read; FromAll: all are
	Activity     ReadPage
	Other        ReadPage // what is not activity; never packed
	Open         OpenChunk
}

// Records merges rows and chunks and hands out their records in order of Position, each
// once, until yield returns false. Damaged rows and chunks are left out; after all others
// it returns an error that names them. It holds one page of rows of each kind and the
// chunks that overlap the time it has come to.
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
		if !from.hand(yield) {
			return nil
		}
	}
}

// earlier returns the feed whose next record comes first, nil when both have ended.
func earlier(ctx context.Context, a, b *feed) (*feed, error) {
	for _, f := range []*feed{a, b} {
		if err := f.find(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case !a.found && !b.found:
		return nil, nil //nolint:nilnil // the end is no error
	case !a.found || b.found && b.next.Compare(&a.next) < 0:
		return b, nil
	}
	return a, nil
}

// yield hands out the records of one row.
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

// CeilMs rounds up to ms: a time that lies between two ms is after the first.
func CeilMs(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
