package webhookexporter

import (
	"context"
	"errors"
	"time"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

// summaryPatience is how long a bad rating waits for the end of its conference. Users rate at the
// end, and the summary is at most 30 s later.
const summaryPatience = time.Minute

// maxPendingRatings bounds the ratings that wait. Further ones do not wait.
const maxPendingRatings = 10_000

// ratedPoint is a point with its fact, such as a bad rating.
type ratedPoint struct {
	point storage.Point
	fact  notice.Fact
}

// notifyRatings queues the notices of bad ratings whose conference has ended.
func (e *engine) notifyRatings(ctx context.Context, now time.Time) error {
	var wait []ratedPoint
	for i := range e.pending {
		r := &e.pending[i]
		waits, err := e.notifyRating(ctx, now, r)
		if err != nil {
			e.pending = append(wait, e.pending[i:]...)
			return err
		}
		if waits {
			wait = append(wait, *r)
		}
	}
	e.pending = wait
	return nil
}

// notifyRating reports whether a rating waits for the end of its conference.
func (e *engine) notifyRating(ctx context.Context, now time.Time, r *ratedPoint) (waits bool, err error) {
	c, err := e.reader.Conference(ctx, storage.Ref{AppID: r.point.AppID, ConferenceID: r.point.ConferenceID, At: r.point.End})
	if err != nil && !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrDamaged) {
		return false, err
	}
	if c.Summary == nil && now.Sub(r.point.RecordedAt) < summaryPatience && len(e.pending) < maxPendingRatings {
		return true, nil
	}
	start, end := c.Start, c.End
	if c.ConferenceID == "" { // no conference has the rating
		start, end = r.point.Start, r.point.End
	}
	return false, e.queue(ctx, e.individualNotices(r, start, end, notice.DissatisfactoryUserFeedback, now))
}
