package readapi

import (
	"context"
	"errors"
	"time"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

// reported selects the conferences that a notification counted: those past the limit of its reason
// that ended, or were rated, in its period.
type reported struct {
	reason   notice.Reason
	limit    float64
	from, to time.Time // zero: no bound
}

// searchReported narrows a search to what a notification counted.
func (a *API) searchReported(s *search, r *reported) {
	if r.rating() && !s.query.From.IsZero() {
		s.query.From = s.query.From.Add(-notice.MaxLate) // a rating may follow the end
	}
	s.conditions = append(s.conditions, func(ctx context.Context, c *storage.Conference) (bool, error) { return a.counted(ctx, c, r) })
}

func (r *reported) rating() bool { return r.reason == notice.DissatisfactoryUserFeedback }

// within reports whether a time is in the period.
func (r *reported) within(at time.Time) bool {
	return !at.Before(r.from) && (r.to.IsZero() || at.Before(r.to))
}

// counted reports whether a notification counted a conference. It reads the whole summary only
// where the row does not say it.
func (a *API) counted(ctx context.Context, c *storage.Conference, r *reported) (bool, error) {
	s := c.Summary
	if s == nil || !r.rating() && !r.within(s.End) {
		return false, nil
	}
	fact := notice.Fact{Outcome: s.Outcome, MOS: s.MOS}
	if fact.Measured(r.reason) {
		return fact.Counts(r.reason, r.limit), nil
	}
	if err := take(ctx, len(c.Participants)); err != nil {
		return false, err
	}
	full, err := a.reader.Conference(ctx, storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start})
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrDamaged) || err == nil && full.Summary == nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	fact, ratings, err := notice.ReadSummary(full.Summary.Document)
	if err != nil {
		return false, nil // not a document that a notification counted
	}
	for i := range ratings {
		one := notice.Fact{Rating: &ratings[i].Overall}
		if r.within(time.UnixMilli(ratings[i].AtMs)) && one.Counts(r.reason, r.limit) {
			return true, nil
		}
	}
	return fact.Counts(r.reason, r.limit), nil
}
