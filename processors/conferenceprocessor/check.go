package conferenceprocessor

import (
	"context"
	"time"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/instance"
)

// Two processes may tell the same revision of one conference at once, each without what the
// other wrote a moment ago: the store keeps one of the two. So whoever told a summary reads
// the conference again a little later, and tells what is missing with the next revision. The
// last summary that is told was checked by its author, so it covers all.

const (
	checkAfter = instance.Gap * time.Millisecond
	maxChecks  = maxWaiting
)

// check is a conference to be read again.
type check struct {
	part  conference.Part
	at    time.Time
	until time.Time // it is not tried again after that
}

// checks are in order of their time.
type checks []check

// checkLater notes that summaries were taken by the next component.
func (c *conferences) checkLater(ctx context.Context, summaries []conference.Summary, now time.Time) {
	if c.restorer == nil || !c.restorer.shared {
		return
	}
	for i := range summaries {
		s := &summaries[i]
		c.restorer.checks = append(c.restorer.checks, check{
			conference.Part{AppID: s.AppID, ConferenceID: s.ConferenceID, AtMs: s.StartMs},
			now.Add(checkAfter), now.Add(checkAfter + c.cfg.KeepEnded),
		})
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
	for _, k := range look {
		err := c.restorePart(ctx, k.part, now)
		if k.at = now.Add(checkAfter); err != nil && now.Before(k.until) {
			c.restorer.checks = append(c.restorer.checks, k)
		} else if err != nil {
			c.drop(ctx, 1, reasonNotChecked)
		}
	}
}
