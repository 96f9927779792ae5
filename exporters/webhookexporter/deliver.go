package webhookexporter

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

const (
	firstBackOff = 5 * time.Second
	maxBackOff   = time.Hour

	// stopGrace is the time that a stopping collector waits for answers, and settleTimeout the time
	// that the store has to record one. With releaseTimeout and renewEvery they are shorter than
	// takeFor, so that no other collector sends meanwhile.
	stopGrace     = 5 * time.Second
	settleTimeout = 10 * time.Second
)

// dueNotice is the pending notice of a webhook that is due first.
type dueNotice struct {
	id        string
	app       string
	hook      notice.Hook
	slowSince time.Time // end of the last attempt of a slow URL; zero: the URL is fast
}

// deliver starts an attempt for each webhook with a due notice, one at a time for each URL of an app, as long as there
// are slots. Slow URLs are last, ordered by the end of their last attempt.
func (e *engine) deliver(ctx context.Context, now time.Time) error {
	all, err := e.dueNotices(ctx, now)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b dueNotice) int { return a.slowSince.Compare(b.slowSince) })
	for i := range all {
		e.attempt(ctx, &all[i], now)
	}
	return nil
}

// dueNotices returns the due notices, at most one of each webhook. It makes those of removed webhooks dead letters.
func (e *engine) dueNotices(ctx context.Context, now time.Time) (all []dueNotice, err error) {
	app, hook := "", ""
	for {
		page, err := e.store.NextNotices(ctx, app, hook, pageSize)
		if err != nil {
			return nil, err
		}
		for i := range page {
			n := &page[i]
			if n.DueAt.After(now) {
				continue
			}
			hooks := e.apps.Webhooks(n.AppID)
			at := slices.IndexFunc(hooks, func(h notice.Hook) bool { return h.ID == n.Hook })
			if at >= 0 {
				all = append(all, dueNotice{n.ID, n.AppID, hooks[at], e.slots.slowSince(target{n.AppID, hooks[at].URL})})
			} else if err := e.bury(ctx, n.ID); err != nil { // a later tick repeats it
				e.reportFailure(ctx, "settle", err)
			}
		}
		if len(page) < pageSize {
			return all, nil
		}
		app, hook = page[len(page)-1].AppID, page[len(page)-1].Hook
	}
}

// bury makes a notice of a removed webhook a dead letter.
func (e *engine) bury(ctx context.Context, id string) error {
	n, err := e.store.Notice(ctx, id)
	if err != nil {
		return err
	}
	n.State, n.Error = storage.NoticeDead, "the app has no such webhook any more"
	return e.settle(ctx, n, "dead")
}

// attempt sends a notice. If its URL is busy or there is no slot, a later tick sends it.
func (e *engine) attempt(ctx context.Context, d *dueNotice, now time.Time) {
	t := target{d.app, d.hook.URL}
	if !e.slots.begin(t) {
		return
	}
	id, hook := d.id, d.hook
	e.sending.Go(func() {
		lasting := time.AfterFunc(patience, func() { e.slots.markSlow(t) })
		out, cancel := outlast(ctx, e.grace)
		err := e.sendDue(out, id, &hook, now)
		cancel()
		lasting.Stop()
		e.slots.end(t, time.Now())
		if err != nil { // a later tick repeats it
			e.reportFailure(ctx, "settle", err)
			return
		}
		e.wake()
	})
}

// outlast returns a context that ends grace after ctx.
func outlast(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return out, func() { stop(); cancel() }
}

// unrecordedAttempt is a notice after an attempt that the store has not recorded.
type unrecordedAttempt struct {
	notice  storage.Notice
	outcome string
}

// sendDue sends a notice if it is still due at now: an attempt may have ended since it was read. If the last answer
// could not be recorded, sendDue records it and sends nothing.
func (e *engine) sendDue(ctx context.Context, id string, hook *notice.Hook, now time.Time) error {
	n, err := e.store.Notice(ctx, id)
	if err != nil {
		return err
	}
	last, unrecorded := e.unrecorded.LoadAndDelete(id)
	if n.State != storage.NoticePending || n.DueAt.After(now) {
		return nil
	}
	var done unrecordedAttempt
	if unrecorded {
		done = last.(unrecordedAttempt) // the map has no other type
	}
	if !unrecorded || done.notice.Attempts != n.Attempts+1 {
		done.notice, done.outcome = e.send(ctx, n, hook)
	}
	if done.outcome == "" {
		return nil
	}
	err = e.settle(ctx, done.notice, done.outcome)
	if err != nil && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNoNotice) {
		e.unrecorded.Store(id, done)
	}
	return err
}

// send makes one attempt and returns the notice after it. The outcome is empty if the collector
// stopped before there was an answer.
func (e *engine) send(ctx context.Context, n storage.Notice, hook *notice.Hook) (storage.Notice, string) {
	begin := time.Now()
	var a answer
	body, header, err := newRequest(hook, &n, e.dashboard, begin)
	if err != nil {
		a = answer{failure: err.Error(), permanent: true}
	} else {
		a = e.client.post(ctx, hook.URL, header, body)
	}
	if ctx.Err() != nil && a.status == 0 {
		return n, ""
	}
	return afterAttempt(n, a, begin, time.Since(begin), e.cfg.MaxAttempts)
}

func newRequest(hook *notice.Hook, n *storage.Notice, dashboard string, at time.Time) ([]byte, http.Header, error) {
	m, err := notice.DecodeMessage(n.Body)
	if err != nil {
		return nil, nil, err
	}
	if m.URL == "" { // a test: only the exporter has the dashboard's URL
		m.URL = notice.AppURL(m.AppID, dashboard)
	}
	body, err := hook.Body(m, at)
	if err != nil {
		return nil, nil, err
	}
	header, err := sign(hook, n.ID, at, body)
	return body, header, err
}

// afterAttempt returns a notice after an attempt, and its outcome.
func afterAttempt(n storage.Notice, a answer, begin time.Time, took time.Duration, maxAttempts int) (storage.Notice, string) {
	n.Attempts++
	n.AttemptedAt, n.Latency, n.Status, n.Error = begin, took, a.status, a.failure
	switch {
	case a.failure == "":
		n.State = storage.NoticeDelivered
		return n, "delivered"
	case a.permanent || a.status == http.StatusGone || n.Attempts >= maxAttempts:
		n.State = storage.NoticeDead
		return n, "dead"
	}
	n.DueAt = begin.Add(took + max(backOff(n.Attempts, rand.Float64()), a.retryAfter)) //nolint:gosec // jitter is no secret
	return n, "failed"
}

// backOff doubles with each attempt; jitter, 0 to 1, spreads it from a half to one and a half.
func backOff(attempts int, jitter float64) time.Duration {
	d := maxBackOff
	if attempts < 20 { // no overflow
		d = min(firstBackOff<<(attempts-1), maxBackOff)
	}
	return time.Duration(float64(d) * (0.5 + jitter))
}

// settle records an attempt, even if the collector stops.
func (e *engine) settle(ctx context.Context, n storage.Notice, outcome string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	err := e.store.UpdateNotice(ctx, n, storage.NoticePending)
	if err == nil {
		e.telemetry.QoswebhookDeliveries.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
	}
	return err
}
