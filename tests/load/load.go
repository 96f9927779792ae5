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
	starts       []start
	stats        *stats
	ledger       *ledger
	http         *http.Client
	began, ended time.Time
}

func newLoad(o options, now time.Time) *load {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 10 * time.Second}
	day := fleet.Draw(fleet.Config{
		Seed: o.seed, Start: now.UTC().Truncate(24 * time.Hour), Conferences: o.live * perSlot(&o), Interval: o.interval,
		MeanLength: o.length, Planted: fleet.DefaultPlanted(),
	})
	return &load{
		options: o, day: day, starts: plan(&o, day), stats: newStats(), ledger: &ledger{accounts: map[string]*account{}},
		http: &http.Client{Timeout: time.Minute, Transport: transport}, began: now,
	}
}

// run returns when all that was sent is acknowledged, or given up.
func (l *load) run(ctx context.Context) {
	l.began = time.Now() // the draw of a large fleet takes seconds
	until := l.began.Add(l.ramp + l.lasts)
	l.startAll(ctx, func(c *fleet.Conference, at time.Time) { l.conference(ctx, c, at, until) })
	l.ended = time.Now()
	l.http.CloseIdleConnections()
}

// conference plays a conference from a time on and returns when all of its sessions have ended. Steps after until are
// left out.
func (l *load) conference(ctx context.Context, c *fleet.Conference, at, until time.Time) {
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
	sessions.Wait()
}
