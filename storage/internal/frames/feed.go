package frames

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/storage"
)

// feed is one order of records, page by page. Each page is a snapshot; a record is handed
// out from the page whose stretch of positions it lies in, whether it was loose then or
// packed, so that it comes once even if it was moved meanwhile.
type feed struct {
	read   *Read
	page   ReadPage
	damage *Damage

	rows    []ReadRow
	chunks  []*openChunk   // in order of From
	closed  map[int64]bool // chunks that have nothing left, or cannot be read
	from    Position       // all up to here was handed out, when the page began
	horizon Position       // where the page ends
	ended   bool           // no page comes after this one

	// What find found.
	found  bool
	next   Position
	source *openChunk // nil: the first row
}

// openChunk is a chunk of the page, decoded once its time has come.
type openChunk struct {
	ChunkSpan
	packed Packed
	i      int // next record
}

func newFeed(r *Read, page ReadPage, damage *Damage) *feed {
	begin := Position{At: r.From} // before all records of that time
	return &feed{read: r, page: page, damage: damage, closed: map[int64]bool{}, from: begin, horizon: begin}
}

// find looks for the next record and reads pages until there is one.
func (f *feed) find(ctx context.Context) error {
	for !f.found {
		if err := f.look(ctx); err != nil || f.found || f.ended {
			return err
		}
		if err := f.readPage(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *feed) readPage(ctx context.Context) error {
	f.from = f.horizon
	page, err := f.page(ctx, f.from, pageRows)
	if err != nil {
		return err
	}
	f.rows = page.Rows
	if f.ended = len(f.rows) < pageRows; !f.ended {
		f.horizon = f.rows[len(f.rows)-1].End()
	}
	open := map[int64]*openChunk{}
	for _, c := range f.chunks {
		open[c.Key] = c
	}
	f.chunks = nil
	for _, span := range page.Chunks {
		switch c := open[span.Key]; {
		case f.closed[span.Key]:
		case c != nil:
			f.chunks = append(f.chunks, c)
		default:
			f.chunks = append(f.chunks, &openChunk{ChunkSpan: span})
		}
	}
	return nil
}

// look finds the next record of the page.
func (f *feed) look(ctx context.Context) error {
	f.source = nil
	if f.found = len(f.rows) > 0; f.found {
		f.next = f.rows[0].position()
	}
	for i := 0; i < len(f.chunks); {
		c := f.chunks[i]
		if f.found && c.From > f.next.At {
			return nil
		}
		at, left, err := f.advance(ctx, c)
		if err != nil {
			return err
		}
		if !left {
			f.closed[c.Key] = true
			f.chunks = slices.Delete(f.chunks, i, i+1)
			continue
		}
		i++
		if !f.ended && at.Compare(&f.horizon) > 0 || f.found && at.Compare(&f.next) > 0 {
			continue
		}
		f.found, f.next, f.source = true, at, c
	}
	return nil
}

// advance opens a chunk where it is not, and returns the place of its next record in the
// conference; false when there is none.
func (f *feed) advance(ctx context.Context, c *openChunk) (at Position, left bool, err error) {
	if c.packed == nil {
		c.packed, err = f.read.Open(ctx, c.Key)
		switch {
		case errors.Is(err, storage.ErrDamaged):
			f.damage.Add(fmt.Errorf("chunk %d: %w", c.Key, err))
			return at, false, nil
		case errors.Is(err, ErrGone):
			return at, false, nil
		case err != nil:
			return at, false, err
		}
	}
	for ; c.i < c.packed.Len(); c.i++ {
		at = c.packed.Position(c.i)
		if at.Compare(&f.from) > 0 && at.At >= f.read.Span.Start {
			return at, at.At <= f.read.Span.End, nil
		}
	}
	return at, false, nil
}

// hand hands out what find found.
func (f *feed) hand(yield func(string, storage.Record) bool) (goOn bool) {
	f.found = false
	if f.source == nil {
		row := &f.rows[0]
		f.rows = f.rows[1:]
		return row.yield(f.read, f.damage, yield)
	}
	record := f.source.packed.Record(f.source.i)
	f.source.i++
	return yield(uuid.UUID(record.Session).String(), record.stored(f.read.ConferenceID))
}
