package conferenceprocessor

import (
	"context"
	"errors"
	"time"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/conference/live"
	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
)

// Two processes may emit the same revision of one conference at once, each without what the
// other wrote a moment ago: the store keeps one of the two. So the author of a summary reads
// the conference again a little later, and adds what is missing with the next revision. The
// last summary that is emitted was checked by its author, so it covers all.

const (
	checkAfter = instance.Gap * time.Millisecond
	maxChecks  = maxWaiting
	// maxChain is how often a summary that a check led to is checked in turn: collectors whose
	// labels differ would never agree.
	maxChain = 5
)

// check is a conference to be read again.
type check struct {
	part  live.Partial
	at    time.Time
	until time.Time // it is not tried again after that
	chain int       // checks before it that led to a summary
}

// checks are in order of their time.
type checks []check

// checkLater notes that summaries were taken by the next component.
func (c *conferences) checkLater(ctx context.Context, summaries []conference.Summary, now time.Time) {
	if c.restorer == nil || !c.restorer.shared {
		return
	}
	for i := range summaries {
		part := live.Partial{AppID: summaries[i].AppID, ConferenceID: summaries[i].ConferenceID, AtMs: summaries[i].StartMs}
		if chain := c.restorer.chains[part]; chain <= maxChain {
			at := now.Add(checkAfter)
			c.restorer.checks = append(c.restorer.checks, check{part, at, at.Add(c.cfg.KeepEnded), chain})
		}
	}
	if over := len(c.restorer.checks) - maxChecks; over > 0 {
		c.restorer.checks = c.restorer.checks[over:]
		c.drop(ctx, int64(over), reasonNotChecked)
	}
}

// checkDue restores the conferences whose time has come. What cannot be read is tried
// again as long as the conference could be revised.
func (c *conferences) checkDue(ctx context.Context, now time.Time) {
	if c.restorer == nil {
		return
	}
	due := 0
	for due < len(c.restorer.checks) && !c.restorer.checks[due].at.After(now) {
		due++
	}
	look := c.restorer.checks[:due]
	c.restorer.checks = c.restorer.checks[due:]
	c.restorer.chains = make(map[live.Partial]int, len(look))
	for _, k := range look {
		err := c.checkOne(ctx, k.part, now)
		c.restorer.chains[k.part] = k.chain + 1
		if k.at = now.Add(checkAfter); err != nil && now.Before(k.until) {
			c.restorer.checks = append(c.restorer.checks, k)
		} else if err != nil {
			c.drop(ctx, 1, reasonNotChecked)
		}
	}
}

// checkOne restores a conference that has a summary in the store. One that has none was
// deleted since, or nobody stores summaries.
func (c *conferences) checkOne(ctx context.Context, p live.Partial, now time.Time) error {
	found, err := c.restoreOne(ctx, p, now)
	if err == nil && found.summary.Revision > 0 {
		c.mu.Lock()
		c.set.Restored(p, found.span, found.summary, now.UnixMilli())
		c.mu.Unlock()
	}
	if errors.Is(err, errGoesOn) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}
