package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

const (
	queueJobs = 256 // jobs that may wait; more callers wait at the door
	groupJobs = 256 // jobs in one transaction
)

var errClosed = errors.New("the store is closed")

// job is one write. run may be called twice: when a transaction fails, its jobs are run
// again, each alone.
type job struct {
	ctx       context.Context //nolint:containedctx // it is the caller's, who waits
	run       func(*tx) error
	committed func() // after the commit, before the caller goes on; may be nil
	done      chan error
	ran       bool // in the transaction that is being, or was, committed
}

// writer owns the writing connection.
type writer struct {
	conn *sql.Conn
	tx   tx
	jobs chan *job
	wg   sync.WaitGroup

	mu     sync.RWMutex // held for writing to close jobs, for reading to send to it
	closed bool
}

func startWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, jobs: make(chan *job, queueJobs)}
	w.tx = tx{conn: conn, stmts: map[string]*sql.Stmt{}}
	w.tx.forget()
	w.wg.Go(w.work)
	return w, nil
}

// close runs what is queued and stops.
func (w *writer) close() {
	w.mu.Lock()
	closed := w.closed
	if !closed {
		w.closed = true
		close(w.jobs)
	}
	w.mu.Unlock()
	w.wg.Wait()
	if closed {
		return
	}
	for _, stmt := range w.tx.stmts { // SQLite keeps the file open for each
		_ = stmt.Close()
	}
	_ = w.conn.Close()
}

// do queues a job and waits for its result. When ctx ends first the job may still be
// committed.
func (w *writer) do(ctx context.Context, j job) error {
	j.ctx, j.done = ctx, make(chan error, 1)
	if err := w.enqueue(j); err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) enqueue(j job) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed
	}
	select {
	case w.jobs <- &j:
		return nil
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
}

// work runs jobs until close. Those that queued while a transaction was running share
// the next: no job waits for company, and under load a commit is shared by many.
func (w *writer) work() {
	for first := range w.jobs {
		group := w.gather([]*job{first})
		if err := w.commit(group); err != nil && len(group) > 1 {
			for _, j := range group {
				j.answer(w.commit([]*job{j}))
			}
		} else {
			for _, j := range group {
				j.answer(err)
			}
		}
	}
}

// gather adds what is queued already.
func (w *writer) gather(group []*job) []*job {
	for len(group) < groupJobs {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				return group
			}
			group = append(group, j)
		default:
			return group
		}
	}
	return group
}

func (j *job) answer(err error) {
	if err == nil && !j.ran {
		err = j.ctx.Err()
	}
	j.done <- err
}

// commit runs a group in one transaction, all or nothing. Jobs that nobody waits for any
// more are left out.
func (w *writer) commit(group []*job) error {
	alive := false
	for _, j := range group {
		j.ran = j.ctx.Err() == nil
		alive = alive || j.ran
	}
	if !alive { // a locked file costs the busy timeout once, not once a job
		return nil
	}
	if err := w.tx.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := w.runAll(group)
	if err == nil {
		err = w.tx.exec("COMMIT")
	}
	if err != nil {
		w.tx.forget()
		// A transaction that SQLite ended by itself (disk full) has nothing to roll back.
		_ = w.tx.exec("ROLLBACK")
		return err
	}
	for _, j := range group {
		if j.ran && j.committed != nil {
			j.committed()
		}
	}
	return nil
}

func (w *writer) runAll(group []*job) error {
	for _, j := range group {
		if !j.ran {
			continue
		}
		if err := j.run(&w.tx); err != nil {
			return err
		}
	}
	return nil
}
