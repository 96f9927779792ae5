// Package group lets concurrent writers share transactions. Jobs that are queued while a transaction
// is running share the next one, and a job may wait for others (linger). Each job gets its own
// result, and a job that fails does not fail the others.
package group

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// QueueJobs is the capacity of the queue; further callers of Do block.
	QueueJobs = 256
	// groupJobs is the maximum number of jobs in one transaction.
	groupJobs = 256
)

// ErrClosed is returned after the store was closed.
var ErrClosed = errors.New("the store is closed")

// Commit writes jobs in one transaction, all or nothing. It may be called twice for a
// job: if a transaction fails, its jobs are written again, one by one.
type Commit[J any] func(jobs []J) error

// Queue passes jobs to the goroutine that commits them.
type Queue[J any] struct {
	commit Commit[J]
	split  func(error) bool
	linger time.Duration
	jobs   chan *request[J]
	wg     sync.WaitGroup

	mu     sync.RWMutex // held for writing to close jobs, for reading to send to it
	closed bool
}

type request[J any] struct {
	at   time.Time       // when the job was queued
	ctx  context.Context // it is the caller's, who waits
	job  J
	done chan error
	ran  bool // the last transaction had the job
}

// Start starts a queue. A transaction begins no earlier than linger after its first job was queued, unless it has
// groupJobs: a commit costs more than the rows of a frame, and a thousand frames a second would each have their own.
// After an error for which split returns false, jobs are not written again one by one: the error would be the same.
func Start[J any](commit Commit[J], split func(error) bool, linger time.Duration) *Queue[J] {
	q := &Queue[J]{commit: commit, split: split, linger: linger, jobs: make(chan *request[J], QueueJobs)}
	q.wg.Go(q.work)
	return q
}

// Close waits for the queued jobs and stops.
func (q *Queue[J]) Close() {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.jobs)
	}
	q.mu.Unlock()
	q.wg.Wait()
}

// Len returns the number of queued jobs.
func (q *Queue[J]) Len() int { return len(q.jobs) }

// Do queues a job and waits for its result. If ctx ends first, the job may still be committed, also after Do has
// returned: results in the job are valid only if Do returned nil.
func (q *Queue[J]) Do(ctx context.Context, job J) error {
	w := &request[J]{at: time.Now(), ctx: ctx, job: job, done: make(chan error, 1)}
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

func (q *Queue[J]) enqueue(w *request[J]) error {
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

// work commits jobs until Close.
func (q *Queue[J]) work() {
	for first := range q.jobs {
		group := q.gather([]*request[J]{first})
		if err := q.run(group); err != nil && len(group) > 1 && q.split(err) {
			for _, w := range group {
				w.answer(q.run([]*request[J]{w}))
			}
		} else {
			for _, w := range group {
				w.answer(err)
			}
		}
	}
}

// gather adds queued jobs to a group, until the first has waited for linger or the group is full.
func (q *Queue[J]) gather(group []*request[J]) []*request[J] {
	var timeout <-chan time.Time // nil until needed: under load the first job has waited long enough already
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
		if timeout == nil {
			timeout = time.After(left)
		}
		select {
		case w, ok := <-q.jobs:
			if !ok {
				return group
			}
			group = append(group, w)
		case <-timeout:
			return group
		}
	}
	return group
}

func (w *request[J]) answer(err error) {
	if err == nil && !w.ran {
		err = w.ctx.Err()
	}
	w.done <- err
}

// run commits a group, without jobs whose caller has given up. If none is
// left, it begins no transaction, since each would wait for the timeout of a locked store.
func (q *Queue[J]) run(group []*request[J]) error {
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
