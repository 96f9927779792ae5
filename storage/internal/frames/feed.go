package frames

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/storage"
)

// feed is one ordered sequence of records, read page by page. Each page is a snapshot. A record is
// emitted from the page whose range of positions contains it, whether it was loose then or
// packed, so that it is emitted once even if it was packed meanwhile.
type feed struct {
	read   *Read
	page   ReadPage
	damage *Damage

	rows    []ReadRow
	chunks  []*openChunk   // in order of From
	closed  map[int64]bool // chunks that are exhausted or cannot be read
	from    Position       // records up to here were emitted before the page
	horizon Position       // the last position of the page
	ended   bool           // this page is the last

	// The result of find.
	found  bool
	next   Position
	source *openChunk // nil: the first row
}

// openChunk is a chunk of the page, decoded when its first record is due.
type openChunk struct {
	ChunkSpan
	packed Packed
	i      int // index of the next record
}

func newFeed(r *Read, page ReadPage, damage *Damage) *feed {
	begin := Position{At: r.From} // before all records of that time
	return &feed{read: r, page: page, damage: damage, closed: map[int64]bool{}, from: begin, horizon: begin}
}

// find finds the next record, and reads pages until there is one or none is left.
func (f *feed) find(ctx context.Context) error {
	for !f.found {
		if err := f.findInPage(ctx); err != nil || f.found || f.ended {
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

// findInPage finds the next record of the page.
func (f *feed) findInPage(ctx context.Context) error {
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

// advance decodes a chunk if necessary, and returns the position of its next record; false without
// one.
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

// emit yields the record that find found.
func (f *feed) emit(yield func(string, storage.Record) bool) (goOn bool) {
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
