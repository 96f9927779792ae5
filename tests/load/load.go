package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/qosrtc/qos/tests/fleet"
)

// load is a run of the load.
type load struct {
	options
	day          *fleet.Day
	stats        *stats
	http         *http.Client
	began, ended time.Time
}

// perSlot is the number of conferences that are drawn for each that is live at a time: the shortest take a quarter of
// the mean length.
func perSlot(o *options) int { return 2 + int(4*o.lasts/o.length) }

func newLoad(o options, now time.Time) *load {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 10 * time.Second}
	return &load{
		options: o, stats: newStats(), http: &http.Client{Timeout: time.Minute, Transport: transport}, began: now,
		day: fleet.Draw(fleet.Config{
			Seed: o.seed, Start: now.UTC().Truncate(24 * time.Hour), Conferences: o.live * perSlot(&o), Interval: o.interval,
			MeanLength: o.length, Planted: fleet.DefaultPlanted(),
		}),
	}
}

// run returns when all that was sent is acknowledged, or given up.
func (l *load) run(ctx context.Context) {
	until := l.began.Add(l.ramp + l.lasts)
	var slots sync.WaitGroup
	for i := range l.live {
		slots.Go(func() {
			at := l.began.Add(l.ramp * time.Duration(i) / time.Duration(l.live))
			for n := i; n < len(l.day.Conferences) && at.Before(until) && ctx.Err() == nil; n += l.live {
				at = l.conference(ctx, &l.day.Conferences[n], at, until)
			}
		})
	}
	slots.Wait()
	l.ended = time.Now()
	l.http.CloseIdleConnections()
}

// conference plays a conference from a time on and returns when all of its sessions have ended: the time at which the
// next one begins. Steps after until are left out.
func (l *load) conference(ctx context.Context, c *fleet.Conference, at, until time.Time) time.Time {
	shift := at.Sub(time.UnixMilli(c.StartMs))
	steps := map[*fleet.Session][]fleet.Step{}
	for _, step := range l.day.StepsOf(c) {
		if time.UnixMilli(step.AtMs).Add(shift).Before(until) {
			steps[step.Session] = append(steps[step.Session], step)
		}
	}
	var sessions sync.WaitGroup
	for session, own := range steps {
		e := &endpoint{load: l, session: session, steps: own, shift: shift, sets: map[string]int{}}
		sessions.Go(func() { e.run(ctx) })
	}
	l.stats.add(&l.stats.conferences, 1)
	sessions.Wait()
	return maxTime(time.Now(), time.UnixMilli(c.EndMs).Add(shift))
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
