package sqlite

import (
	"context"
	"fmt"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/follow"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
)

const summaryColumns = `revision, summary_start, summary_end, outcome, participants, mos, label, cause, document`

func fields(s *join.Summary) []any { return append(brief(s), &s.Document) }

// brief is fields without the document.
func brief(s *join.Summary) []any {
	return []any{&s.Revision, &s.Span.Start, &s.Span.End, &s.Outcome, &s.Participants, &s.MOS, &s.Label, &s.Cause}
}

// PutSummary implements storage.Writer. The summary goes to the conference that joins its
// span, the nearest to its start if there are several. Where there is none yet it makes
// one, which activity joins when it comes.
func (s *Store) PutSummary(ctx context.Context, sum storage.Summary) error {
	stored, err := join.NewSummary(sum)
	if err != nil {
		return s.wrap("put summary", fmt.Errorf("%w: %w", storage.ErrInvalid, err))
	}
	var changes follow.Changes
	changes.AddSummary(sum)
	err = s.writer.do(ctx, job{run: func(t *tx) error {
		place, err := t.place(frames.PlaceID{App: sum.AppID, Conference: sum.ConferenceID})
		if err != nil {
			return err
		}
		return join.Place{Table: table{t, place}}.PutSummary(stored)
	}, committed: func() { s.hub.Publish(changes.All()) }})
	if err != nil {
		return s.wrap("put summary", err)
	}
	return nil
}
