package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
)

// summaryOrder says which of two summaries of one conference is kept.
type summaryOrder struct {
	revision int64
	span     instance.Span
}

// beats: the higher revision wins. Where conferences merge that both have a summary of
// the same revision, the longer one stays, then the earlier.
func (a summaryOrder) beats(b *summaryOrder) bool {
	if b == nil || a.revision != b.revision {
		return b == nil || a.revision > b.revision
	}
	long, other := a.span.End-a.span.Start, b.span.End-b.span.Start
	return long > other || long == other && a.span.Start < b.span.Start
}

// storedSummary is the columns of a summary.
type storedSummary struct {
	summaryOrder
	outcome      string
	participants int
	mos          *float64
	label        string
	document     []byte
}

const summaryColumns = `revision, summary_start, summary_end, outcome, participants, mos, label, document`

func (s *storedSummary) fields() []any {
	return []any{&s.revision, &s.span.Start, &s.span.End, &s.outcome, &s.participants, &s.mos, &s.label, &s.document}
}

// PutSummary implements storage.Writer. The summary goes to the conference that joins its
// span, the nearest to its start if there are several. Where there is none yet it makes
// one, which activity joins when it comes.
func (s *Store) PutSummary(ctx context.Context, sum storage.Summary) error {
	stored, err := prepareSummary(sum)
	if err != nil {
		return s.wrap("put summary", fmt.Errorf("%w: %w", storage.ErrInvalid, err))
	}
	err = s.writer.do(ctx, job{run: func(t *tx) error {
		place, err := t.place(placeID{sum.AppID, sum.ConferenceID})
		if err != nil {
			return err
		}
		return t.putSummary(place, stored)
	}})
	if err != nil {
		return s.wrap("put summary", err)
	}
	return nil
}

func prepareSummary(s storage.Summary) (*storedSummary, error) {
	start, end := s.Start.UnixMilli(), s.End.UnixMilli()
	switch {
	case s.AppID == "":
		return nil, errors.New("summary has no AppID")
	case s.ConferenceID == "":
		return nil, errors.New("summary has no conferenceID")
	case start < 0 || end > maxTime || end < start:
		return nil, errors.New("summary's start and end are not in 1970 to 9999, or in the wrong order")
	}
	return &storedSummary{
		summaryOrder{int64(s.Revision), instance.Span{Start: start, End: end}},
		s.Outcome, s.Participants, s.MOS, s.Label, append([]byte{}, s.Document...),
	}, nil
}

func (t *tx) putSummary(place int64, s *storedSummary) error {
	key, err := t.otherRow(place, s.span)
	if err != nil {
		return err
	}
	var revision, start, end sql.NullInt64
	err = t.row(`SELECT revision, summary_start, summary_end FROM conference WHERE key = ?`, key).Scan(&revision, &start, &end)
	if err != nil {
		return err
	}
	have := &summaryOrder{revision.Int64, instance.Span{Start: start.Int64, End: end.Int64}}
	if revision.Valid && !s.beats(have) {
		return nil
	}
	return t.exec(`UPDATE conference SET revision = ?, summary_start = ?, summary_end = ?, outcome = ?,
		participants = ?, mos = ?, label = ?, document = ? WHERE key = ?`,
		s.revision, s.span.Start, s.span.End, s.outcome, s.participants, s.mos, s.label, s.document, key)
}

func (t *tx) readSummary(key int64) (*storedSummary, error) {
	s := &storedSummary{}
	return s, t.row(`SELECT `+summaryColumns+` FROM conference WHERE key = ?`, key).Scan(s.fields()...)
}

func (t *tx) copySummary(to, from int64) error {
	return t.exec(`UPDATE conference SET (`+summaryColumns+`) =
		(SELECT `+summaryColumns+` FROM conference WHERE key = ?) WHERE key = ?`, from, to)
}

// summary gives the columns back as a storage.Summary.
func (s *storedSummary) summary(app, conference string) *storage.Summary {
	return &storage.Summary{
		AppID: app, ConferenceID: conference, Start: fromMs(s.span.Start), End: fromMs(s.span.End),
		Revision: int(s.revision), Outcome: s.outcome, Participants: s.participants,
		MOS: s.mos, Label: s.label, Document: s.document,
	}
}

func fromMs(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
