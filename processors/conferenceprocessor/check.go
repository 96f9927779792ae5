package conferenceprocessor

import (
	"context"
	"errors"
	"time"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
)

// Two processes may emit the same revision of one conference at once, each without the newest
// records of the other: the store keeps one of the two. So the process that emitted a summary reads
// the conference again 30 s later, and emits the next revision if records were missing. The last
// summary was checked in this way, so it covers all records.

const (
	checkAfter = instance.Gap * time.Millisecond
	maxChecks  = maxWaiting
	// maxChain bounds checks of summaries that result from checks: collectors with different labels
	// would revise each other without end.
	maxChain = 5
)

// check is a conference to be read again.
type check struct {
	part  live.Partial
	at    time.Time
	until time.Time // no retry after this time
	chain int       // number of earlier checks that led to a summary
}

// checks are in the order of at.
type checks []check

// checkLater schedules checks of summaries that the next component accepted.
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

// checkDue restores the conferences whose check is due. It repeats a failed read while the conference
// may still be revised.
func (c *conferences) checkDue(ctx context.Context, now time.Time) {
	if c.restorer == nil {
		return
	}
	due := 0
	for due < len(c.restorer.checks) && !c.restorer.checks[due].at.After(now) {
		due++
	}
	ready := c.restorer.checks[:due]
	c.restorer.checks = c.restorer.checks[due:]
	c.restorer.chains = make(map[live.Partial]int, len(ready))
	for _, k := range ready {
		err := c.checkOne(ctx, k.part, now)
		c.restorer.chains[k.part] = k.chain + 1
		if k.at = now.Add(checkAfter); err != nil && now.Before(k.until) {
			c.restorer.checks = append(c.restorer.checks, k)
		} else if err != nil {
			c.drop(ctx, 1, reasonNotChecked)
		}
	}
}

// checkOne restores a conference that has a summary in the store. A conference without one was
// deleted, or the pipeline stores no summaries.
func (c *conferences) checkOne(ctx context.Context, p live.Partial, now time.Time) error {
	found, err := c.restoreOne(ctx, p, now)
	if err == nil && found.summary.Revision > 0 {
		c.mu.Lock()
		c.finishRestore(p, &found, now)
		c.mu.Unlock()
	}
	if errors.Is(err, errSkipped) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}
