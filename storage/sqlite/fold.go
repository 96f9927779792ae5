package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"

	driver "modernc.org/sqlite"
)

// foldPages is the number of pages in the log after which it is folded into the file: 16 MB, for a page that changes often
// is then written back once.
const foldPages = 4000

// folder folds the log into the file while the writer continues. SQLite by itself does it within the commit that fills the log,
// for which all writes wait, tens of milliseconds. What is written meanwhile is left to the writer (rest), which is little: the log
// begins again only if all of it is in the file between two writes.
type folder struct {
	pages int // foldPages; tests have fewer
	since int // pages that the writer has written since it asked, used by the writer alone
	db    *sql.DB
	mu    sync.Mutex // held while the log is folded
	asked chan struct{}
	rest  atomic.Bool
	wg    sync.WaitGroup
}

func startFolder(db *sql.DB, pages int) *folder {
	f := &folder{pages: pages, db: db, asked: make(chan struct{}, 1)}
	f.wg.Go(func() {
		for range f.asked {
			f.fold()
		}
	})
	return f
}

// close waits for the folding that was asked for.
func (f *folder) close() {
	close(f.asked)
	f.wg.Wait()
}

const fold = `PRAGMA wal_checkpoint(PASSIVE)`

// fold folds what is in the log. An error is left to the writer, whose next write or folding has it too.
func (f *folder) fold() {
	f.mu.Lock()
	_, err := f.db.ExecContext(context.Background(), fold)
	f.mu.Unlock()
	f.rest.Store(err == nil)
}

// wrote asks for a folding after every so many pages that the writer's connection has written.
func (f *folder) wrote(conn *sql.Conn) {
	_ = conn.Raw(func(c any) error {
		written, _, err := c.(driver.DBStatus).Status(driver.DBStatusCacheWrite, true)
		f.since += written
		return err
	})
	if f.since < f.pages {
		return
	}
	f.since = 0
	select {
	case f.asked <- struct{}{}:
	default: // it is asked for already
	}
}
