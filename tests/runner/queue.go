package main

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Jobs run side by side: most of them wait for servers, networks and clocks most of the time. Browser tests have
// priority over the others, of which fewer run until the last of them has ended: what gets no processor exceeds the
// time limits of protocols.
const (
	browsersAtOnce = 3
	othersAtOnce   = 4
	othersBeside   = 2 // browser tests
)

// queue passes jobs to the goroutines that run them, the longest first. Jobs that run alone are the last, one by one.
type queue struct {
	mu       sync.Mutex
	changed  *sync.Cond
	waiting  []*job
	running  map[*job]bool
	complete bool // no job is added any more
}

func newQueue() *queue {
	q := &queue{running: map[*job]bool{}}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// add adds jobs; expected orders those that wait.
func (q *queue) add(expected func(*job) float64, jobs ...*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, jobs...)
	slices.SortStableFunc(q.waiting, func(a, b *job) int {
		switch {
		case a.alone == b.alone:
			return cmp.Compare(expected(b), expected(a))
		case a.alone:
			return 1
		}
		return -1
	})
	q.changed.Broadcast()
}

// close ends the queue: next returns nil when no job waits.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.complete = true
	q.changed.Broadcast()
}

// wake makes callers of next check their context.
func (q *queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed.Broadcast()
}

// next returns the next job of a kind, or nil when there will be none.
func (q *queue) next(ctx context.Context, browser bool) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		i := slices.IndexFunc(q.waiting, func(j *job) bool { return j.browser == browser })
		if i < 0 && q.complete {
			return nil
		}
		if i >= 0 && q.mayRun(q.waiting[i]) {
			j := q.waiting[i]
			q.waiting = slices.Delete(q.waiting, i, i+1)
			q.running[j] = true
			return j
		}
		q.changed.Wait()
	}
	return nil
}

func (q *queue) mayRun(j *job) bool {
	if j.alone {
		return q.complete && len(q.running) == 0 && !slices.ContainsFunc(q.waiting, func(other *job) bool { return !other.alone })
	}
	if j.browser {
		return true
	}
	browsers, others := false, 0
	for other := range q.running {
		if other.browser {
			browsers = true
		} else {
			others++
		}
	}
	browsers = browsers || slices.ContainsFunc(q.waiting, func(other *job) bool { return other.browser && !other.alone })
	return !browsers || others < othersBeside
}

// done reports that a job has ended.
func (q *queue) done(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, j)
	q.changed.Broadcast()
}

// status returns the jobs that run and those that wait.
func (q *queue) status() (running, waiting []*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for j := range q.running {
		running = append(running, j)
	}
	return running, slices.Clone(q.waiting)
}
