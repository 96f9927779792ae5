package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/follow"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// PutSummary implements storage.Writer. It writes the summary to the conference that overlaps its
// span or lies within instance.Gap of it, the nearest to its start if there are several.
func (s *Store) PutSummary(ctx context.Context, sum storage.Summary) error {
	stored, err := join.NewSummary(sum)
	if err != nil {
		return s.wrap("put summary", fmt.Errorf("%w: %w", storage.ErrInvalid, err))
	}
	found := false
	err = s.writer.do(ctx, job{run: func(t *tx) (err error) {
		found, err = t.putSummary(frames.PlaceID{App: sum.AppID, Conference: sum.ConferenceID}, stored)
		return err
	}, committed: func() {
		if found {
			var changes follow.Changes
			changes.AddSummary(sum)
			s.hub.Publish(changes.All())
		}
	}})
	if err == nil && !found {
		err = storage.ErrNotFound
	}
	if err != nil {
		return s.wrap("put summary", err)
	}
	return nil
}

// putSummary reports whether the conference of s exists. It creates no row for an unknown conferenceID.
func (t *tx) putSummary(id frames.PlaceID, s *join.Summary) (found bool, err error) {
	if s, err = sqlstore.LateSummary(t.late, id.App, s); err != nil {
		return false, err
	}
	place, ok := t.places[id]
	if !ok {
		err = t.row(`SELECT key FROM place WHERE app_id = ? AND conference_id = ?`, id.App, id.Conference).Scan(&place)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return join.Place{Table: table{t, place}}.PutSummary(s)
}
