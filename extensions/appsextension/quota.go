package appsextension

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/storage"
)

const (
	// kindBytes is the kind of setting that holds the bytes of an app in a day, by AppID.
	kindBytes = "app bytes"
	// bytesInterval is the time between two writes of them, in which a collector does not see the bytes of the others.
	bytesInterval = 30 * time.Second
	// scarceParts: clients measure less often when less than this part of the day's bytes is left.
	scarceParts = 10
	mib         = 1 << 20
	day         = 24 * time.Hour
)

// dayBytes are the bytes of an app in a day, at all collectors, as the store keeps them.
type dayBytes struct {
	Day   time.Time `json:"day"` // its begin, UTC
	Bytes int64     `json:"bytes"`
}

// quotas count the bytes of the day of the apps that have a limit of it. Safe for concurrent use.
type quotas struct {
	log *zap.Logger

	mu   sync.Mutex
	day  time.Time // whose bytes are counted
	apps map[string]*spent
}

// spent are the bytes of an app in the day.
type spent struct {
	stored  int64 // at all collectors, when the store was last asked
	pending int64 // at this collector since
	logged  bool  // that none are left
}

func newQuotas(log *zap.Logger) *quotas { return &quotas{log: log, apps: map[string]*spent{}} }

// Left returns 0 if an app may store so many more bytes in the day of now, UTC, or the time until the next day. scarce
// reports whether less than a tenth of its limit is left then. An app without a limit has always enough.
func (r *registry) Left(appID string, bytes int, now time.Time) (wait time.Duration, scarce bool) {
	if limit := r.dailyBytes(appID); limit > 0 {
		return r.quotas.left(appID, int64(bytes), limit, now)
	}
	return 0, false
}

// Stored counts bytes that an app has stored.
func (r *registry) Stored(appID string, bytes int, now time.Time) {
	if r.dailyBytes(appID) > 0 {
		r.quotas.add(appID, int64(bytes), now)
	}
}

// dailyBytes is an app's limit; 0: none.
func (r *registry) dailyBytes(appID string) int64 {
	if e, ok := r.now.Load().apps[appID]; ok {
		return int64(e.Auth.Limits.DailyMiB) * mib
	}
	return 0
}

func (q *quotas) left(appID string, bytes, limit int64, now time.Time) (wait time.Duration, scarce bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.of(appID, now)
	used := s.stored + s.pending + bytes
	if used <= limit {
		return 0, used > limit-limit/scarceParts
	}
	if !s.logged {
		q.log.Warn("an app has used up its bytes of the day; its clients wait for the next", zap.String("app", appID), zap.Int64("limit", limit))
	}
	s.logged = true
	return q.day.Add(day).Sub(now), true
}

func (q *quotas) add(appID string, bytes int64, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.of(appID, now).pending += bytes
}

// of returns the bytes of an app in the day of a time. A time of an earlier day counts for the present one: clocks differ.
func (q *quotas) of(appID string, now time.Time) *spent {
	if began := now.UTC().Truncate(day); began.After(q.day) {
		q.day = began
		clear(q.apps)
	}
	s := q.apps[appID]
	if s == nil {
		s = &spent{}
		q.apps[appID] = s
	}
	return s
}

// today returns the bytes of an app in the day of a time, as far as this collector knows.
func (q *quotas) today(appID string, now time.Time) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.apps[appID]; s != nil && !now.UTC().Truncate(day).After(q.day) {
		return s.stored + s.pending
	}
	return 0
}

// pending returns the bytes of the day that the store does not have, by app. It forgets apps that there are no longer.
func (q *quotas) pending(exists func(appID string) bool) (began time.Time, bytes map[string]int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	bytes = map[string]int64{}
	for appID, s := range q.apps {
		switch {
		case !exists(appID):
			delete(q.apps, appID)
		case s.pending > 0:
			bytes[appID] = s.pending
		}
	}
	return q.day, bytes
}

// written notes that the store has bytes of a day, and what it has of the app with them.
func (q *quotas) written(appID string, began time.Time, bytes int64, kept dayBytes) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.apps[appID]
	if s == nil || !q.day.Equal(began) {
		return
	}
	s.pending -= bytes
	if s.stored += bytes; kept.Day.Equal(began) {
		s.stored = kept.Bytes
	}
}

// forget forgets an app.
func (q *quotas) forget(appID string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.apps, appID)
}

// readBytes reads the bytes of the day that the store has, of all apps.
func (r *registry) readBytes(ctx context.Context, now time.Time) error {
	if r.settings == nil {
		return nil
	}
	all, err := r.settings.SettingsSince(ctx, kindBytes, 0)
	if err != nil {
		return err
	}
	r.quotas.mu.Lock()
	defer r.quotas.mu.Unlock()
	for i := range all.Changed {
		s := r.quotas.of(all.Changed[i].ID, now)
		if kept := decodeBytes(all.Changed[i].Body); kept.Day.Equal(r.quotas.day) {
			s.stored = kept.Bytes
		}
	}
	return nil
}

// decodeBytes reads the body of a setting. A damaged one counts as none.
func decodeBytes(body []byte) (d dayBytes) {
	if json.Unmarshal(body, &d) != nil || d.Bytes < 0 {
		return dayBytes{}
	}
	return d
}

// writeBytes adds the bytes that this collector has counted to those of the store. Those of an app that cannot be written
// wait for the next time. An error may hide a write: its bytes count twice.
func (r *registry) writeBytes(ctx context.Context) {
	apps := r.now.Load().apps
	began, pending := r.quotas.pending(func(appID string) bool { return apps[appID] != nil })
	var failed error
	for appID, bytes := range pending {
		kept, err := addBytes(ctx, r.settings, appID, dayBytes{began, bytes})
		if err == nil {
			r.quotas.written(appID, began, bytes, kept)
		} else if !errors.Is(err, storage.ErrConflict) {
			failed = err
		}
	}
	if failed != nil {
		r.logger.Warn("bytes of apps could not be written and wait", zap.Error(failed))
	}
}

// addBytes adds bytes of a day to those of an app, and returns the sum.
func addBytes(ctx context.Context, settings storage.Settings, appID string, add dayBytes) (sum dayBytes, err error) {
	err = amend(ctx, settings, kindBytes, appID, func(body []byte) any {
		sum = add
		// The clock of another collector may be ahead, by less than a day.
		if kept := decodeBytes(body); kept.Day.Equal(add.Day) || kept.Day.Equal(add.Day.Add(day)) {
			sum = dayBytes{kept.Day, kept.Bytes + add.Bytes}
		}
		return sum
	})
	return sum, err
}
