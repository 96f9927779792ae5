package conferenceprocessor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/conference/live"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/eventrow"
	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
)

// State in memory is a cache (docs/adr/0007): before a conference is summarised that this
// process did not see from its beginning, its records are read from the store.

const (
	// clockSlackMs is how far a client's times may be ahead of ours (docs/protocol.md,
	// section 5): so much after the start a conference may still reach back before it.
	clockSlackMs = 60_000
	// sweepAfter is when whoever was cut off by the last stop has come back or has left.
	sweepAfter = 2 * instance.Gap * time.Millisecond
	// sweepEvery is how often it is done again where others may have gone for good, for
	// conferences that began in the last sweepBack.
	sweepEvery = 5 * time.Minute
	sweepBack  = maxKeep
	perRestore = 256 // records restored while the lock is held
	sweepPage  = 100
)

// owner is what the processor wants of a storage extension.
type owner interface {
	Reader() storage.Reader
	// Shared reports whether other processes may write to the store.
	Shared() bool
}

type restorer struct {
	reader  storage.Reader
	sweepAt time.Time // zero: done
	swept   bool
	shared  bool
	checks  checks               // none where it is not shared
	chains  map[live.Partial]int // what was checked in this tick, by the chain's length
}

// findStore sets up the restorer where a storage extension is configured.
func (c *conferences) findStore(host component.Host) error {
	if c.cfg.Storage == (component.ID{}) {
		return nil
	}
	extension, ok := host.GetExtensions()[c.cfg.Storage]
	if !ok {
		return fmt.Errorf("storage %q: no such extension; list it under service::extensions", c.cfg.Storage)
	}
	store, ok := extension.(owner)
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

// restore gives the set the other records of partial conferences. It reports whether there is
// something to check again; what failed has time until the next tick.
func (c *conferences) restore(ctx context.Context, partials []live.Partial, now time.Time) (again bool) {
	for _, p := range partials {
		err := c.restorePart(ctx, p, now)
		if err == nil {
			again = true
			continue
		}
		c.drop(ctx, 1, reasonNotRestored)
		c.logger.Error("a conference cannot be read from the store, its summary may cover a part", zap.Error(err))
		c.mu.Lock()
		c.set.NotRestored(p)
		c.mu.Unlock()
	}
	return again
}

// restorePart gives the set the other records of one conference, unless it goes on
// elsewhere or is here already.
func (c *conferences) restorePart(ctx context.Context, p live.Partial, now time.Time) error {
	found, err := c.restoreOne(ctx, p, now)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(err, errGoesOn):
		return nil
	case errors.Is(err, storage.ErrNotFound):
		c.set.NotStored(p)
		return nil
	case err == nil:
		c.set.Restored(p, found.span, found.summary, now.UnixMilli())
	}
	return err
}

var errGoesOn = errors.New("it goes on elsewhere, or is here")

// restored is a conference that was read.
type restored struct {
	span    instance.Span
	summary conference.Summary // of revision 0 where there is none
}

// restoreOne reads one conference.
func (c *conferences) restoreOne(ctx context.Context, p live.Partial, now time.Time) (out restored, err error) {
	ref := storage.Ref{AppID: p.AppID, ConferenceID: p.ConferenceID, At: time.UnixMilli(p.AtMs)}
	stored, err := c.restorer.reader.Conference(ctx, ref)
	if errors.Is(err, storage.ErrDamaged) && stored.Summary != nil { // all but its document; the next revision mends that
		c.logger.Error("the summary of a conference cannot be read from the store, it is made anew", zap.Error(err))
	} else if err != nil {
		return out, err
	}
	out = restored{instance.Span{Start: stored.Start.UnixMilli(), End: stored.End.UnixMilli()}, recallSummary(stored.Summary)}
	c.mu.Lock()
	skip := c.set.GoesOn(p, out.span, now.UnixMilli()) || c.set.IsHere(p, out.span)
	if !skip {
		c.set.Restoring(p, out.span)
	}
	c.mu.Unlock()
	if skip {
		return out, errGoesOn
	}
	return out, c.restoreRecords(ctx, ref, stored.Participants, now.UnixMilli())
}

// recallSummary is the summary that was stored; its revision alone where it cannot be read.
func recallSummary(stored *storage.Summary) (summary conference.Summary) {
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
	measured := make([]event.Measurement, perRestore) // of the events, which share one
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
		err = errors.New("there is no room for it")
	}
	return err
}

// doubt makes another sweep due when a call failed: the next component may have stored its
// records before, and their client may never send them again.
func (c *conferences) doubt(now time.Time) {
	if c.restorer == nil || !c.restorer.sweepAt.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.doubted {
		c.doubted, c.restorer.sweepAt = false, now.Add(sweepAfter)
	}
}

// sweep brings in the conferences that ended while no process saw them: those without a
// summary to which nobody came back. It does so once, and again and again where another
// process may have gone.
func (c *conferences) sweep(ctx context.Context, now time.Time) {
	c.doubt(now)
	if c.restorer == nil || c.restorer.sweepAt.IsZero() || now.Before(c.restorer.sweepAt) {
		return
	}
	query := storage.Query{Unsummarised: true, To: now.Add(-sweepAfter), Limit: sweepPage}
	if c.restorer.swept {
		query.From = now.Add(-sweepBack)
	}
	c.restorer.swept, c.restorer.sweepAt = true, time.Time{}
	if c.restorer.shared {
		c.restorer.sweepAt = now.Add(sweepEvery)
	}
	for {
		page, err := c.restorer.reader.Conferences(ctx, query)
		if err != nil {
			c.logger.Error("the conferences that ended before the start cannot be listed", zap.Error(err))
			return
		}
		var ended []live.Partial
		for i := range page.Conferences {
			if found := &page.Conferences[i]; found.End.Before(query.To) {
				ended = append(ended, live.Partial{AppID: found.AppID, ConferenceID: found.ConferenceID, AtMs: found.Start.UnixMilli()})
			}
		}
		c.restore(ctx, ended, now)
		if query.Before = page.Next; page.Next == (storage.Cursor{}) {
			return
		}
	}
}
