package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/qosrtc/qos/storage/internal/group"
)

// job is one write.
type job struct {
	run       func(*tx) error
	committed func() // called after the commit, before the caller continues; may be nil
	// alone runs outside of a transaction, without other jobs; nil: run is used
	alone func(context.Context, *sql.Conn) error
}

// writer owns the writing connection.
type writer struct {
	conn   *sql.Conn
	folder *folder
	tx     tx
	queue  *group.Queue[job]
}

func startWriter(ctx context.Context, db *sql.DB, folder *folder, linger time.Duration) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, folder: folder}
	w.tx = tx{conn: conn, stmts: map[string]*sql.Stmt{}}
	w.tx.clearCaches()
	w.queue = group.Start(w.commit, func(error) bool { return true }, linger)
	return w, nil
}

// close waits for queued jobs and stops.
func (w *writer) close() {
	w.queue.Close()
	for _, stmt := range w.tx.stmts { // each keeps the file open
		_ = stmt.Close()
	}
	_ = w.conn.Close()
}

// do queues a job and waits for its result.
func (w *writer) do(ctx context.Context, j job) error { return w.queue.Do(ctx, j) }

// errTogether makes the queue run the jobs of a group one by one.
var errTogether = errors.New("a job of the group runs without a transaction")

// commit runs a group of jobs in one transaction, all or nothing.
func (w *writer) commit(jobs []job) error {
	for _, j := range jobs {
		if j.alone == nil {
			continue
		}
		if len(jobs) > 1 {
			return errTogether
		}
		w.tx.clearCaches()
		w.folder.mu.Lock() // the job may checkpoint the log
		defer w.folder.mu.Unlock()
		return j.alone(context.Background(), w.conn)
	}
	if w.folder.rest.Swap(false) {
		_ = w.tx.exec(fold) // after an error (another program may lock the file) a later checkpoint does it
	}
	if err := w.tx.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := w.runAll(jobs)
	if err == nil {
		err = w.tx.exec("COMMIT")
	}
	if err != nil {
		w.tx.clearCaches()
		// A transaction that SQLite ended by itself (disk full) has nothing to roll back.
		_ = w.tx.exec("ROLLBACK")
		return err
	}
	for _, j := range jobs {
		if j.committed != nil {
			j.committed()
		}
	}
	w.folder.countWrites(w.conn)
	return nil
}

func (w *writer) runAll(jobs []job) error {
	for _, j := range jobs {
		if err := j.run(&w.tx); err != nil {
			return err
		}
	}
	return nil
}
