package webhookexporter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

const (
	scanInterval = time.Minute
	scanBack     = 10 * time.Minute // range of ended conferences that each scan reads again
	scanPage     = 200
	maxScanned   = 2000 // conferences of one app in a scan, the newest
)

// scan records conferences with a stored summary but without a point: the process that wrote the
// summary stopped in between. A new leader scans as far back as points are kept.
func (e *engine) scan(ctx context.Context, now time.Time) error {
	since := now.Add(-scanBack)
	if e.scannedAt.IsZero() {
		since = now.Add(-keepPoints)
	} else if now.Sub(e.scannedAt) < scanInterval {
		return nil
	}
	for _, app := range e.apps.HookedApps() {
		if err := e.scanApp(ctx, app, since, now); err != nil {
			return err
		}
	}
	e.scannedAt = now
	maps.DeleteFunc(e.recent, func(_ string, at time.Time) bool { return now.Sub(at) > keepPoints })
	return nil
}

// recentKey identifies one revision of a conference, so that scans read a document once.
func recentKey(c *storage.Conference) string {
	return fmt.Sprintf("%q %q %d %d", c.AppID, c.ConferenceID, c.Start.UnixMilli(), c.Summary.Revision)
}

func (e *engine) scanApp(ctx context.Context, app string, since, now time.Time) error {
	oldest := now
	for _, hook := range e.apps.Webhooks(app) {
		if at := e.existsSince(app, &hook); at.Before(oldest) {
			oldest = at
		}
	}
	if since.Before(oldest) {
		since = oldest // earlier conferences need no point: no webhook existed
	}
	q := storage.Query{AppID: app, From: since, Limit: scanPage}
	for read := 0; read < maxScanned; read += scanPage {
		page, err := e.reader.Conferences(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Conferences {
			if err := e.scanOne(ctx, &page.Conferences[i], since, now); err != nil {
				return err
			}
		}
		if q.Before = page.Next; page.Next == (storage.Cursor{}) {
			return nil
		}
	}
	return nil
}

// scanOne records a conference and its feedback if the store has no point of it.
func (e *engine) scanOne(ctx context.Context, c *storage.Conference, since, now time.Time) error {
	if c.Summary == nil || c.End.Before(since) || notice.TimingOf(c.End, now) != notice.InTime || !e.recent[recentKey(c)].IsZero() {
		return nil
	}
	full, err := e.reader.Conference(ctx, storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start})
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrDamaged) {
		return nil
	}
	if err != nil || full.Summary == nil {
		return err
	}
	f, ratings, err := notice.ReadSummary(full.Summary.Document)
	if err != nil {
		return nil // counted when its record was read
	}
	base := storage.Point{AppID: c.AppID, ConferenceID: c.ConferenceID, Start: full.Summary.Start, End: full.Summary.End}
	var points []storage.Point
	if p, why := finishPoint(base, f, now); why == "" {
		points = append(points, recordedAtEnd(p, now))
	}
	for _, r := range ratings {
		p := base
		if identifyFeedback(&p, r) != "" {
			continue
		}
		if p, why := finishPoint(p, notice.Fact{Rating: &r.Overall}, now); why == "" {
			points = append(points, recordedAtEnd(p, now))
		}
	}
	added, err := e.store.AddPoints(ctx, points)
	if err == nil {
		e.telemetry.QoswebhookPoints.Add(ctx, int64(added))
		e.recent[recentKey(c)] = now
	}
	return err
}

// recordedAtEnd sets the recording time of a point that a scan found to its end, as if it had been recorded then: later
// webhooks and rules do not notify of it.
func recordedAtEnd(p storage.Point, now time.Time) storage.Point {
	p.RecordedAt = earlier(p.End, now)
	return p
}
