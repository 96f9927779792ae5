package chunk

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/storage/internal/frames"
)

// Bounds of a chunk. A reader holds several at once.
const (
	// MaxRecords bounds the records, and so the length of a Range.
	MaxRecords = 2000
	// maxValues bounds records times attributes.
	maxValues = 1 << 18
	// maxRowBytes bounds the total length of the bodies of the rows in a chunk.
	maxRowBytes = 1 << 20
)

// Chunk is a finished chunk, as an engine stores it.
type Chunk struct {
	From, To int64 // At of the first and the last record, in ms
	Records  int
	Ranges   []Range
	Body     []byte
}

// Range means that the chunk has the records Idx to Idx+N-1 of each frame First to Last of a
// session. The ranges of a session do not overlap, not even those of different chunks.
type Range struct {
	Session     int64 // frames.ReadRow.SessionKey
	First, Last int64
	Idx, N      int
}

// Result is the result of Add.
type Result int

// The results of Add.
const (
	Added   Result = iota
	Full           // the row belongs into the next chunk
	TooLong        // the row fits into no chunk and stays loose
)

// Builder builds a chunk of rows of activity of one PlaceID. The zero value is ready to use. It can
// be used again after Build.
type Builder struct {
	records []frames.Record
	rows    []identity
	values  int
	bytes   int
}

// identity identifies a row.
type identity struct {
	session int64
	seq     int64
	idx, n  int
}

// Add adds a row, unless the chunk is full or the row too long. If the row is damaged, it adds nothing
// and returns an error that wraps storage.ErrDamaged and names the row.
func (b *Builder) Add(row *frames.ReadRow) (Result, error) {
	if row.N > MaxRecords || len(row.Body) > maxRowBytes {
		return TooLong, nil
	}
	if len(b.records)+row.N > MaxRecords || b.bytes+len(row.Body) > maxRowBytes {
		return Full, nil
	}
	name, attributes, err := row.Decode()
	if err != nil {
		return 0, fmt.Errorf("session %s, frame %d: %w", uuid.UUID(row.Session).String(), row.Seq, err)
	}
	values := 0
	for _, a := range attributes {
		values += len(a)
	}
	switch {
	case values > maxValues:
		return TooLong, nil
	case b.values+values > maxValues:
		return Full, nil
	}
	b.values += values
	b.bytes += len(row.Body)
	b.rows = append(b.rows, identity{row.SessionKey, row.Seq, row.Idx, row.N})
	for i, a := range attributes {
		b.records = append(b.records, frames.Record{
			Session: [16]byte(row.Session), Seq: row.Seq, Idx: row.Idx + i, Columns: row.Columns, Name: name, Attributes: a,
		})
	}
	return Added, nil
}

// Build returns the chunk of the rows added, at least one, and resets the builder.
func (b *Builder) Build() (Chunk, error) {
	c := Chunk{From: b.records[0].At, To: b.records[0].At, Records: len(b.records), Ranges: ranges(b.rows)}
	for i := range b.records {
		c.From, c.To = min(c.From, b.records[i].At), max(c.To, b.records[i].At)
	}
	var err error
	c.Body, err = seal(encode(b.records))
	b.records, b.rows, b.values, b.bytes = nil, nil, 0, 0
	return c, err
}

// ranges merges adjacent rows of each frame, then frames with consecutive numbers.
func ranges(rows []identity) (out []Range) {
	slices.SortFunc(rows, func(a, b identity) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq), cmp.Compare(a.idx, b.idx))
	})
	whole := rows[:0]
	for _, r := range rows {
		last := len(whole) - 1
		if last >= 0 && whole[last].session == r.session && whole[last].seq == r.seq && whole[last].idx+whole[last].n == r.idx {
			whole[last].n += r.n
		} else {
			whole = append(whole, r)
		}
	}
	slices.SortStableFunc(whole, func(a, b identity) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.idx, b.idx), cmp.Compare(a.n, b.n), cmp.Compare(a.seq, b.seq))
	})
	for _, r := range whole {
		last := len(out) - 1
		if last >= 0 && out[last].Session == r.session && out[last].Idx == r.idx && out[last].N == r.n && out[last].Last+1 == r.seq {
			out[last].Last++
		} else {
			out = append(out, Range{r.session, r.seq, r.seq, r.idx, r.n})
		}
	}
	return out
}
