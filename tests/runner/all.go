package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// runAll runs jobs while prepare still adds some, and returns their results in the order in which they ended. The
// error is that of a build.
func (r *run) runAll(ctx context.Context) (results []*result, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := newQueue()
	stop := context.AfterFunc(ctx, q.wake)
	defer stop()
	ended := make(chan *result)
	var workers sync.WaitGroup
	for i := range browsersAtOnce + othersAtOnce {
		workers.Go(func() { r.work(ctx, q, i < browsersAtOnce, ended) })
	}
	go func() {
		// The first error ends the run: what does not compile has no result.
		if err = r.prepare(ctx, func(jobs ...*job) { q.add(r.history.expected, jobs...) }); err != nil {
			cancel()
		}
		q.close()
		workers.Wait()
		close(ended)
	}()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case res, more := <-ended:
			if !more {
				return results, err
			}
			results = append(results, res)
			r.report(res)
			tick.Reset(interval)
		case <-tick.C:
			r.status(q, len(results))
		}
	}
}

// work runs jobs of one kind until there are none.
func (r *run) work(ctx context.Context, q *queue, browsers bool, ended chan<- *result) {
	for j := q.next(ctx, browsers); j != nil; j = q.next(ctx, browsers) {
		res := r.execute(ctx, j, j.tests)
		q.done(j)
		if ctx.Err() == nil {
			ended <- res
		}
	}
}

// report prints the line of a job that ended, and the output of what failed.
func (r *run) report(res *result) {
	word := "ok  "
	if !res.ok() {
		word = "FAIL"
	}
	r.say("%s %s %.1fs, processor %.1fs, %s", word, res.name, res.took.Seconds(), res.cpu.Seconds(), res.counts)
	if !res.ok() {
		r.say("its processors were short in %.0f %% of the time, stalls %d\n%s", 100*res.starved.share, res.starved.stalls, res.text())
	}
}

// status prints what runs and how much is left.
func (r *run) status(q *queue, done int) {
	running, waiting := q.status()
	names := make([]string, len(running))
	for i, j := range running {
		names[i] = j.name
	}
	slices.Sort(names)
	left := ""
	if len(r.history) > 0 {
		left = fmt.Sprintf("; some %.0f minutes left by the times of the last run", r.history.left(running, waiting)/60+.5)
	}
	r.say("%d of %d done%s; running: %s", done, done+len(running)+len(waiting), left, strings.Join(names, ", "))
}

// mostAgain is how many jobs run again: where more failed, they did not fail by chance.
const mostAgain = 10

// again runs the failed tests of each job once more, one job at a time with nothing beside it.
func (r *run) again(ctx context.Context, results []*result) {
	failed := slices.DeleteFunc(slices.Clone(results), (*result).ok)
	if len(failed) > mostAgain {
		r.say("%d jobs failed: they do not run again", len(failed))
		return
	}
	for _, res := range failed {
		tests := res.failed
		if len(tests) == 0 {
			tests = res.job.tests
		}
		r.say("again, alone: %s %s", res.name, strings.Join(res.failed, " "))
		res.second = r.execute(ctx, res.job, tests)
		r.report(res.second)
	}
}
