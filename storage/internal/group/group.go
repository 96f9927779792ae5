// Package group lets many writers share transactions. Jobs that queue while a transaction
// is running share the next, and a job may wait a moment for others. Each job gets its own
// result, and one that fails takes no other with it.
package group

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// QueueJobs is how many jobs may wait; more callers wait at the door.
	QueueJobs = 256
	// jobs in one transaction
	groupJobs = 256
)

// ErrClosed says that the store was closed.
var ErrClosed = errors.New("the store is closed")

// Commit writes jobs in one transaction, all or nothing. It may be called twice for a
// job: when a transaction fails, its jobs are written again, each alone.
type Commit[J any] func(jobs []J) error

// Queue hands jobs to the goroutine that commits them.
type Queue[J any] struct {
	commit Commit[J]
	split  func(error) bool
	linger time.Duration
	jobs   chan *waiting[J]
	wg     sync.WaitGroup

	mu     sync.RWMutex // held for writing to close jobs, for reading to send to it
	closed bool
}

type waiting[J any] struct {
	at   time.Time       // when it was queued
	ctx  context.Context //nolint:containedctx // it is the caller's, who waits
	job  J
	done chan error
	ran  bool // in the transaction that is being, or was, committed
}

// Start starts a queue. A transaction begins no earlier than linger after its first job was queued, unless it has
// groupJobs: a commit costs more than the rows of a frame, and at a thousand frames a second each would have its own.
// After an error for which split is false, jobs are not written again each alone: it would be the same for all.
func Start[J any](commit Commit[J], split func(error) bool, linger time.Duration) *Queue[J] {
	q := &Queue[J]{commit: commit, split: split, linger: linger, jobs: make(chan *waiting[J], QueueJobs)}
	q.wg.Go(q.work)
	return q
}

// Close runs what is queued and stops.
func (q *Queue[J]) Close() {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.jobs)
	}
	q.mu.Unlock()
	q.wg.Wait()
}

// Len returns the number of jobs that wait.
func (q *Queue[J]) Len() int { return len(q.jobs) }

// Do queues a job and waits for its result. When ctx ends first the job may still be
// committed, also while and after Do returns: what it writes is the caller's without an error alone.
func (q *Queue[J]) Do(ctx context.Context, job J) error {
	w := &waiting[J]{at: time.Now(), ctx: ctx, job: job, done: make(chan error, 1)}
	if err := q.enqueue(w); err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *Queue[J]) enqueue(w *waiting[J]) error {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		return ErrClosed
	}
	select {
	case q.jobs <- w:
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// work runs jobs until Close.
func (q *Queue[J]) work() {
	for first := range q.jobs {
		group := q.gather([]*waiting[J]{first})
		if err := q.run(group); err != nil && len(group) > 1 && q.split(err) {
			for _, w := range group {
				w.answer(q.run([]*waiting[J]{w}))
			}
		} else {
			for _, w := range group {
				w.answer(err)
			}
		}
	}
}

// gather adds what is queued, and what is queued until the first has waited for linger.
func (q *Queue[J]) gather(group []*waiting[J]) []*waiting[J] {
	var over <-chan time.Time // nil until it waits: under load jobs have queued for longer already
	for len(group) < groupJobs {
		select {
		case w, ok := <-q.jobs:
			if !ok {
				return group
			}
			group = append(group, w)
			continue
		default:
		}
		left := q.linger - time.Since(group[0].at)
		if left <= 0 {
			return group
		}
		if over == nil {
			over = time.After(left)
		}
		select {
		case w, ok := <-q.jobs:
			if !ok {
				return group
			}
			group = append(group, w)
		case <-over:
			return group
		}
	}
	return group
}

func (w *waiting[J]) answer(err error) {
	if err == nil && !w.ran {
		err = w.ctx.Err()
	}
	w.done <- err
}

// run commits a group. Jobs that nobody waits for any more are left out; when none is
// left no transaction is begun, for a locked store would cost its timeout each time.
func (q *Queue[J]) run(group []*waiting[J]) error {
	jobs := make([]J, 0, len(group))
	for _, w := range group {
		if w.ran = w.ctx.Err() == nil; w.ran {
			jobs = append(jobs, w.job)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	return q.commit(jobs)
}
