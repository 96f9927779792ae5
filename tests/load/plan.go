package main

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/qosrtc/qos/tests/fleet"
)

// start is the start of a conference.
type start struct {
	conference *fleet.Conference
	after      time.Duration // since the load began
}

// plan returns the starts of a run, ascending. They follow from the options and the script alone: a slow collector
// delays none.
func plan(o *options, day *fleet.Day) (starts []start) {
	for i := range o.live {
		after := o.ramp * time.Duration(i) / time.Duration(o.live)
		for n := i; n < len(day.Conferences) && after < o.ramp+o.lasts; n += o.live {
			c := &day.Conferences[n]
			starts = append(starts, start{c, after})
			after += time.Duration(max(0, c.EndMs-c.StartMs)) * time.Millisecond
		}
	}
	slices.SortStableFunc(starts, func(a, b start) int { return cmp.Compare(a.after, b.after) })
	return starts
}

// perSlot is the number of conferences that are drawn for each that is live at a time: the shortest take a quarter of
// the mean length.
func perSlot(o *options) int { return 2 + int(4*(o.ramp+o.lasts)/o.length) }

// mostAtOnce bounds the conferences that wait for their last acks beside the planned ones.
func mostAtOnce(o *options) int { return 2*o.live + 10 }

// startAll starts each conference at its time, or at once if that has passed, and returns when all have ended. A conference
// is counted as not started if the most possible are live.
func (l *load) startAll(ctx context.Context, play func(c *fleet.Conference, at time.Time)) {
	live := make(chan struct{}, mostAtOnce(&l.options))
	var running sync.WaitGroup
	defer running.Wait()
	for _, s := range l.starts {
		at := l.began.Add(s.after)
		if pause(ctx, time.Until(at)); ctx.Err() != nil {
			return
		}
		select {
		case live <- struct{}{}:
			l.stats.started(time.Since(at))
			running.Go(func() {
				play(s.conference, at)
				<-live
			})
		default:
			l.stats.add(&l.stats.notStarted, 1)
		}
	}
}

// pause returns after a time, or when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
