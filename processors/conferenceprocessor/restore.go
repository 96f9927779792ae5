package conferenceprocessor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/record/eventrow"
	"github.com/qosrtc/qos/storage"
)

// The state in memory is a cache (docs/adr/0007): the processor reads the records of a conference
// from the store before it summarises it, unless it received all of them.

const (
	// clockSlackMs is the largest lead of a client's clock (docs/protocol.md, section 5): a
	// conference that begins within it after the start may have earlier records.
	clockSlackMs = 60_000
	// sweepAfter is the time after the start in which clients of the last process have resumed or
	// their conferences have ended.
	sweepAfter = 2 * instance.Gap * time.Millisecond
	// sweepEvery is the interval of further sweeps if one could not restore all, or if other
	// processes, which may have stopped permanently, write to the store. They cover conferences
	// that began in the last sweepBack.
	sweepEvery = 5 * time.Minute
	sweepBack  = maxKeep
	perRestore = 256 // records restored while the lock is held
	sweepPage  = 100
)

// storageExtension is the part of a storage extension that the processor uses.
type storageExtension interface {
	Reader() storage.Reader
	// Shared reports whether other processes may write to the store.
	Shared() bool
}

type restorer struct {
	reader   storage.Reader
	sweepAt  time.Time // zero: no further sweep
	hasSwept bool
	shared   bool
	checks   checks               // empty if not shared
	chains   map[live.Partial]int // chain lengths of the conferences checked in this tick
}

// findStore sets up the restorer if a storage extension is configured.
func (c *conferences) findStore(host component.Host) error {
	if c.cfg.Storage == (component.ID{}) {
		return nil
	}
	extension, ok := host.GetExtensions()[c.cfg.Storage]
	if !ok {
		return fmt.Errorf("storage %q: no such extension; list it under service::extensions", c.cfg.Storage)
	}
	store, ok := extension.(storageExtension)
	if !ok {
		return fmt.Errorf("storage %q is no storage extension", c.cfg.Storage)
	}
	reader := store.Reader()
	if reader == nil {
		return fmt.Errorf("storage %q has not started", c.cfg.Storage)
	}
	now := time.Now()
	c.set.StartedAt(now.UnixMilli())
	c.set.CompleteSince(now.UnixMilli() + instance.Gap + clockSlackMs)
	if store.Shared() {
		c.set.Shared()
	}
	c.restorer = &restorer{reader: reader, sweepAt: now.Add(sweepAfter), shared: store.Shared()}
	return nil
}

// restore restores partial conferences from the store. It returns the number of restored ones, which
// are to be checked again; the others wait for a later tick.
func (c *conferences) restore(ctx context.Context, partials []live.Partial, now time.Time) (n int) {
	for _, p := range partials {
		err := c.restorePartial(ctx, p, now)
		if err == nil {
			n++
			continue
		}
		if ctx.Err() == nil {
			c.logger.Warn("a conference cannot be read from the store, its summary waits", zap.Error(err))
		}
		c.mu.Lock()
		c.set.NotRestored(p)
		c.mu.Unlock()
	}
	return n
}

// restorePartial restores one conference, unless it continues at another collector or is complete.
func (c *conferences) restorePartial(ctx context.Context, p live.Partial, now time.Time) error {
	found, err := c.restoreOne(ctx, p, now)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(err, errSkipped):
		return nil
	case errors.Is(err, storage.ErrNotFound):
		c.set.NotStored(p)
		return nil
	case err == nil:
		c.finishRestore(p, &found, now)
	}
	return err
}

// finishRestore ends the restoration of p. The caller holds the lock.
func (c *conferences) finishRestore(p live.Partial, found *restoredConference, now time.Time) {
	if found.damaged {
		c.set.Damaged(p, found.span, found.summary)
		return
	}
	c.set.Restored(p, found.span, found.summary, now.UnixMilli())
}

var errSkipped = errors.New("the conference continues at another collector, or is complete")

// restoredConference is a conference that was read.
type restoredConference struct {
	span    instance.Span
	summary conference.Summary // revision 0 if there is none
	damaged bool               // some of its records cannot be read
}

// restoreOne reads one conference.
func (c *conferences) restoreOne(ctx context.Context, p live.Partial, now time.Time) (out restoredConference, err error) {
	ref := storage.Ref{AppID: p.AppID, ConferenceID: p.ConferenceID, At: time.UnixMilli(p.AtMs)}
	stored, err := c.restorer.reader.Conference(ctx, ref)
	if errors.Is(err, storage.ErrDamaged) && stored.Summary != nil { // only the document: the next revision replaces it
		c.logger.Error("the summary of a conference cannot be read from the store, the next revision replaces it", zap.Error(err))
	} else if err != nil {
		return out, err
	}
	out = restoredConference{
		span:    instance.Span{Start: stored.Start.UnixMilli(), End: stored.End.UnixMilli()},
		summary: storedSummary(stored.Summary),
	}
	c.mu.Lock()
	skip := c.set.Continues(p, out.span, now.UnixMilli()) || c.set.IsComplete(p, out.span)
	if !skip {
		c.set.Restoring(p, out.span)
	}
	c.mu.Unlock()
	if skip {
		return out, errSkipped
	}
	err = c.restoreRecords(ctx, ref, stored.Participants, now.UnixMilli())
	if out.damaged = errors.Is(err, storage.ErrDamaged); out.damaged {
		c.drop(ctx, 1, reasonDamaged)
		c.logger.Error("some records of a conference are damaged, its summary is not revised, or covers the others", zap.Error(err))
		err = nil
	}
	return out, err
}

// storedSummary decodes a stored summary; if that fails, it returns the revision only.
func storedSummary(stored *storage.Summary) (summary conference.Summary) {
	if stored == nil {
		return summary
	}
	if json.Unmarshal(stored.Document, &summary) != nil {
		summary = conference.Summary{}
	}
	summary.Revision = stored.Revision
	return summary
}

func (c *conferences) restoreRecords(ctx context.Context, ref storage.Ref, people []storage.Participant, nowMs int64) error {
	full := false
	events := make([]event.Event, 0, perRestore)
	measured := make([]event.Measurement, perRestore) // of the events, which would share one
	put := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i := range events {
			full = c.set.Restore(&events[i], nowMs) == live.Full || full
		}
		events = events[:0]
	}
	err := eventrow.Each(ctx, c.restorer.reader, ref, people, func(e *event.Event) bool {
		events = append(events, *e)
		if last := len(events) - 1; e.Measured != nil {
			measured[last] = *e.Measured
			events[last].Measured = &measured[last]
		}
		if len(events) == perRestore {
			put()
		}
		return !full
	})
	put()
	if err == nil && full {
		err = errors.New("no room for another conference")
	}
	return err
}

// sweepAgain schedules another sweep after a failed call: the next component may have stored its
// records, and their client may never send them again.
func (c *conferences) sweepAgain(now time.Time) {
	if c.restorer == nil || !c.restorer.sweepAt.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callFailed {
		c.callFailed, c.restorer.sweepAt = false, now.Add(sweepAfter)
	}
}

// sweep restores conferences that ended while no collector ran: those without a summary and without
// new records. It repeats until all are restored, and periodically if another process may have
// stopped.
func (c *conferences) sweep(ctx context.Context, now time.Time) {
	c.sweepAgain(now)
	if c.restorer == nil || c.restorer.sweepAt.IsZero() || now.Before(c.restorer.sweepAt) {
		return
	}
	query := storage.Query{Unsummarised: true, To: now.Add(-sweepAfter), Limit: sweepPage}
	if c.restorer.hasSwept {
		query.From = now.Add(-sweepBack)
	}
	c.restorer.hasSwept, c.restorer.sweepAt = true, now.Add(sweepEvery)
	if all := c.sweepOnce(ctx, query, now); all && !c.restorer.shared {
		c.restorer.sweepAt = time.Time{}
	}
}

// sweepOnce restores the conferences of a query that have ended. It reports whether all were
// restored.
func (c *conferences) sweepOnce(ctx context.Context, query storage.Query, now time.Time) (all bool) {
	all = true
	for {
		page, err := c.restorer.reader.Conferences(ctx, query)
		if err != nil && ctx.Err() == nil {
			c.logger.Error("the conferences that ended before the start cannot be listed", zap.Error(err))
		}
		if err != nil {
			return false
		}
		var ended []live.Partial
		for i := range page.Conferences {
			if found := &page.Conferences[i]; found.End.Before(query.To) {
				ended = append(ended, live.Partial{AppID: found.AppID, ConferenceID: found.ConferenceID, AtMs: found.Start.UnixMilli()})
			}
		}
		all = c.restore(ctx, ended, now) == len(ended) && all
		if query.Before = page.Next; page.Next == (storage.Cursor{}) {
			return all
		}
	}
}
