package frames

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/term"
)

// MaxTime is the last millisecond of the year 9999.
var MaxTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1

// Prepared is a Batch that is ready to be written. It shares no memory with the caller's batch,
// since the caller may return before the write ends.
type Prepared struct {
	Session SessionID
	Row     SessionRow
	Frames  []Row // ordered by seq and index
}

// SessionID identifies a session of an app.
type SessionID struct {
	App string
	ID  [16]byte
}

// SessionRow is the mutable part of a session's row.
type SessionRow struct{ UserID, UserAlias, Details string }

// PlaceID is a conferenceID of an app: several conferences may have been held under it.
type PlaceID struct{ App, Conference string }

// Row is one row of frames: records with consecutive indexes whose other columns are equal.
type Row struct {
	Seq   int64
	Idx   int
	N     int
	Place PlaceID
	Columns
	Name     string // of the records; stored in the body
	Body     []byte
	Recorded term.Recorded // terms and renames from records of activity
}

// Columns are the columns that all records of a row share. Times are in ms.
type Columns struct {
	Activity                     bool
	At, ConferenceAt, ObservedAt int64
	Fabric                       int
}

// PlaceTime returns the time that selects the row's conference among those of its PlaceID.
func (r *Row) PlaceTime() int64 {
	if r.Activity {
		return r.At
	}
	return r.ConferenceAt
}

// Prepare checks and encodes batches, outside of the writer's transaction.
func Prepare(batches []storage.Batch) ([]Prepared, error) {
	e := &encoder{}
	out := make([]Prepared, 0, len(batches))
	for i := range batches {
		p, err := prepareBatch(e, &batches[i])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func prepareBatch(e *encoder, b *storage.Batch) (p Prepared, err error) {
	if b.Session.AppID == "" {
		return p, errors.New("session has no AppID")
	}
	if len(b.Session.AppID) > storage.MaxIDBytes {
		return p, fmt.Errorf("session's AppID has %d bytes, at most %d are kept", len(b.Session.AppID), storage.MaxIDBytes)
	}
	p.Session.App = b.Session.AppID
	if p.Session.ID, err = storage.ParseSessionID(b.Session.ID); err != nil {
		return p, err
	}
	details, err := json.Marshal(b.Session.Details)
	if err != nil {
		return p, err
	}
	p.Row = SessionRow{b.Session.UserID, b.Session.UserAlias, string(details)}
	p.Frames, err = prepareRecords(e, b.Session.AppID, b.Records)
	return p, err
}

// prepareRecords groups records into rows. A record that is given twice results in rows
// that overlap; the writer removes them like any other duplicate.
func prepareRecords(e *encoder, app string, records []storage.Record) (frames []Row, err error) {
	var bodies []attributes
	terms := term.NewReader(app)
	end := func() error {
		if len(bodies) == 0 {
			return nil
		}
		row := &frames[len(frames)-1]
		row.N, row.Body, err = e.row(row.Name, bodies)
		if err != nil {
			return fmt.Errorf("record (%d, %d): %w", row.Seq, row.Idx, err)
		}
		bodies = bodies[:0]
		return nil
	}
	for _, r := range inOrder(records) {
		row, err := prepareRecord(app, r)
		if err != nil {
			return nil, fmt.Errorf("record (%d, %d): %w", r.Seq, r.Index, err)
		}
		if len(bodies) == 0 || !frames[len(frames)-1].continues(&row, len(bodies)) {
			if err := end(); err != nil {
				return nil, err
			}
			frames = append(frames, row)
		}
		bodies = append(bodies, r.Attributes)
		if r.Activity {
			frames[len(frames)-1].Recorded.Add(terms.RecordedBy(r))
		}
	}
	return frames, end()
}

// row encodes records and returns their number and body.
func (e *encoder) row(name string, records []attributes) (n int, body []byte, err error) {
	from := len(e.buf)
	err = e.encode(name, records)
	return len(records), e.buf[from:len(e.buf):len(e.buf)], err
}

// inOrder returns the records in order of (Seq, Index).
func inOrder(records []storage.Record) []*storage.Record {
	order := make([]*storage.Record, len(records))
	for i := range records {
		order[i] = &records[i]
	}
	compare := func(a, b *storage.Record) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Index, b.Index))
	}
	if !slices.IsSortedFunc(order, compare) {
		slices.SortStableFunc(order, compare)
	}
	return order
}

func prepareRecord(app string, r *storage.Record) (row Row, err error) {
	switch {
	case r.Seq == 0 || r.Seq > math.MaxInt64:
		return row, fmt.Errorf("seq %d is not in 1 to 2^63-1", r.Seq)
	case r.Index < 0 || r.Index > math.MaxInt32:
		return row, fmt.Errorf("index %d is not in 0 to 2^31-1", r.Index)
	case r.ConferenceID == "":
		return row, errors.New("it has no conferenceID")
	case len(r.ConferenceID) > storage.MaxIDBytes:
		return row, fmt.Errorf("its conferenceID has %d bytes, at most %d are kept", len(r.ConferenceID), storage.MaxIDBytes)
	}
	row = Row{
		Seq: int64(r.Seq), Idx: r.Index, Name: r.Name,
		Place: PlaceID{app, r.ConferenceID},
		Columns: Columns{
			Activity: r.Activity, Fabric: r.Fabric,
			At: r.At.UnixMilli(), ConferenceAt: r.ConferenceAt.UnixMilli(), ObservedAt: r.ObservedAt.UnixMilli(),
		},
	}
	if t := row.PlaceTime(); t < 0 || t > MaxTime {
		return row, errors.New("the time that finds its conference is not in 1970 to 9999")
	}
	return row, nil
}

// continues reports whether next belongs to the same row, as its record number n.
func (r *Row) continues(next *Row, n int) bool {
	return next.Seq == r.Seq && next.Idx == r.Idx+n && next.Place == r.Place &&
		next.Columns == r.Columns && next.Name == r.Name
}
