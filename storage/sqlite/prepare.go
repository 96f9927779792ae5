package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/qosrtc/qos/storage"
)

// maxTime is the last millisecond of the year 9999.
var maxTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1

// prepared is a Batch as the writer wants it. It shares no memory with the caller's, who
// may go away before the writer is done.
type prepared struct {
	session sessionID
	row     sessionRow
	frames  []frameRow // ordered by seq and index
}

// sessionRow is what can change of a session's row.
type sessionRow struct{ userID, userAlias, details string }

// frameRow is one row of frame: records with consecutive indexes that agree in all else.
type frameRow struct {
	seq   int64
	idx   int
	n     int
	place placeID
	frameColumns
	name string // of the records; it stands in the body
	body []byte
}

type frameColumns struct {
	activity                     bool
	at, conferenceAt, observedAt int64
	fabric                       int
}

// placeTime is the time that finds the frame's conference.
func (f *frameRow) placeTime() int64 {
	if f.activity {
		return f.at
	}
	return f.conferenceAt
}

// prepare checks the batches and encodes them. All the work that can be done outside of
// the writer is done here.
func (s *Store) prepare(ctx context.Context, batches []storage.Batch) ([]prepared, error) {
	e := &encoder{words: s.words.current.Load().ids}
	out, err := prepareAll(e, batches)
	if err != nil || len(e.missing) == 0 || s.words.full() {
		return out, err
	}
	if err := s.learn(ctx, e.missing); err != nil {
		return nil, err
	}
	return prepareAll(&encoder{words: s.words.current.Load().ids}, batches)
}

func prepareAll(e *encoder, batches []storage.Batch) ([]prepared, error) {
	out := make([]prepared, 0, len(batches))
	for i := range batches {
		p, err := prepareBatch(e, &batches[i])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func prepareBatch(e *encoder, b *storage.Batch) (p prepared, err error) {
	if b.Session.AppID == "" {
		return p, errors.New("session has no AppID")
	}
	p.session.app = b.Session.AppID
	if p.session.id, err = storage.ParseSessionID(b.Session.ID); err != nil {
		return p, err
	}
	details, err := json.Marshal(b.Session.Details)
	if err != nil {
		return p, err
	}
	p.row = sessionRow{b.Session.UserID, b.Session.UserAlias, string(details)}
	p.frames, err = prepareRecords(e, b.Session.AppID, b.Records)
	return p, err
}

// prepareRecords groups records into rows. A record that stands there twice gives rows
// that overlap: the writer finds them out like any other duplicate.
func prepareRecords(e *encoder, app string, records []storage.Record) (frames []frameRow, err error) {
	var bodies []attributes
	end := func() error {
		if len(bodies) == 0 {
			return nil
		}
		row := &frames[len(frames)-1]
		row.n, row.body, err = e.row(row.name, bodies)
		if err != nil {
			return fmt.Errorf("record (%d, %d): %w", row.seq, row.idx, err)
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
	}
	return frames, end()
}

// row returns the number and the body of records.
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

func prepareRecord(app string, r *storage.Record) (row frameRow, err error) {
	switch {
	case r.Seq == 0 || r.Seq > math.MaxInt64:
		return row, fmt.Errorf("seq %d is not in 1 to 2^63-1", r.Seq)
	case r.Index < 0 || r.Index > math.MaxInt32:
		return row, fmt.Errorf("index %d is not in 0 to 2^31-1", r.Index)
	case r.ConferenceID == "":
		return row, errors.New("it has no conferenceID")
	}
	row = frameRow{
		seq: int64(r.Seq), idx: r.Index, name: r.Name,
		place: placeID{app, r.ConferenceID},
		frameColumns: frameColumns{
			activity: r.Activity, fabric: r.Fabric,
			at: r.At.UnixMilli(), conferenceAt: r.ConferenceAt.UnixMilli(), observedAt: r.ObservedAt.UnixMilli(),
		},
	}
	if t := row.placeTime(); t < 0 || t > maxTime {
		return row, errors.New("the time that finds its conference is not in 1970 to 9999")
	}
	return row, nil
}

// continues says whether next stands in the same row, as its record number n.
func (f *frameRow) continues(next *frameRow, n int) bool {
	return next.seq == f.seq && next.idx == f.idx+n && next.place == f.place &&
		next.frameColumns == f.frameColumns && next.name == f.name
}
