package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"

	driver "modernc.org/sqlite"
)

// foldPages is the number of pages in the log after which it is checkpointed (folded into the file): 16 MB, so
// that a page that changes often is written back once.
const foldPages = 4000

// folder checkpoints the log while the writer continues. SQLite itself does it within the commit that fills the
// log, for which all writes wait tens of milliseconds. Pages that are written meanwhile are left to the writer
// (rest), and are few: SQLite reuses the log only if all of it is in the file between two writes.
type folder struct {
	pages    int // foldPages; tests set fewer
	written  int // pages written since the last request, used by the writer alone
	db       *sql.DB
	mu       sync.Mutex // held during a checkpoint
	requests chan struct{}
	rest     atomic.Bool
	wg       sync.WaitGroup
}

func startFolder(db *sql.DB, pages int) *folder {
	f := &folder{pages: pages, db: db, requests: make(chan struct{}, 1)}
	f.wg.Go(func() {
		for range f.requests {
			f.fold()
		}
	})
	return f
}

// close waits for a pending checkpoint.
func (f *folder) close() {
	close(f.requests)
	f.wg.Wait()
}

const fold = `PRAGMA wal_checkpoint(PASSIVE)`

// fold runs a checkpoint. It ignores an error, because the writer's next statement fails with it too.
func (f *folder) fold() {
	f.mu.Lock()
	_, err := f.db.ExecContext(context.Background(), fold)
	f.mu.Unlock()
	f.rest.Store(err == nil)
}

// countWrites requests a checkpoint each time the writer's connection has written f.pages pages.
func (f *folder) countWrites(conn *sql.Conn) {
	_ = conn.Raw(func(c any) error {
		written, _, err := c.(driver.DBStatus).Status(driver.DBStatusCacheWrite, true)
		f.written += written
		return err
	})
	if f.written < f.pages {
		return
	}
	f.written = 0
	select {
	case f.requests <- struct{}{}:
	default: // a request is pending
	}
}
