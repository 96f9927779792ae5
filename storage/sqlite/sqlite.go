package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/follow"
	"github.com/qosrtc/qos/storage/internal/group"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// Synchronous determines when a write is on disk; the package comment compares the values.
type Synchronous string

// The values of Synchronous.
const (
	SynchronousNormal Synchronous = "normal"
	SynchronousFull   Synchronous = "full"
)

// busyTimeout is how long a connection waits for a lock of another program (a backup,
// a shell) on the file.
const busyTimeout = 5 * time.Second

// readers is the number of connections that read.
const readers = 4

// writerPragmas: SQLite itself checkpoints the log at 64 MB, if the folder is slower than the writer, and truncates
// it to that after a burst. Deleted bytes are overwritten, so that retention and packing leave none in free pages.
var writerPragmas = []string{
	"foreign_keys(1)", "journal_mode(WAL)", "cache_size(-16000)", "wal_autocheckpoint(16000)", "journal_size_limit(67108864)", "secure_delete(1)",
}

// Options are the settings of a store. The zero value is ready to use.
type Options struct {
	Synchronous Synchronous // empty: SynchronousNormal
	// Linger is how long a write may wait for others that share its transaction. 0: it does not wait.
	Linger time.Duration

	busyTimeout time.Duration // 0: the constant; tests set others
	foldPages   int           // likewise
}

// Store is a store in one SQLite file.
type Store struct {
	settings
	notices
	accounts
	users
	precalls
	lists
	hours
	path    string
	lock    *sql.DB
	write   *sql.DB
	read    *sql.DB
	folding *sql.DB
	folder  *folder
	writer  *writer
	sweep   sync.Mutex // held while rows are removed: by a step of Pack, of DeleteBefore or of an erasure
	hub     *follow.Hub

	once   sync.Once
	closed error
}

var (
	_ storage.Writer    = (*Store)(nil)
	_ storage.Reader    = (*Store)(nil)
	_ storage.Follower  = (*Store)(nil)
	_ storage.Settings  = (*Store)(nil)
	_ storage.Notices   = (*Store)(nil)
	_ storage.Accounts  = (*Store)(nil)
	_ storage.Users     = (*Store)(nil)
	_ storage.HourMaker = (*Store)(nil)
)

// Open opens the store in the file at path, creates it if necessary, and applies missing
// migrations. The caller must call Close.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Synchronous == "" {
		o.Synchronous = SynchronousNormal
	}
	o.busyTimeout, o.foldPages = cmp.Or(o.busyTimeout, busyTimeout), cmp.Or(o.foldPages, foldPages)
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{path: path, hub: follow.NewHub()}
	s.settings, s.lists = sqlstore.NewSettings(s.database(), storage.MaxSettings), sqlstore.NewLists(s.database())
	s.notices = sqlstore.NewNotices(s.database())
	s.accounts = sqlstore.NewAccounts(s.database())
	s.users = sqlstore.NewUsers(s.database(), s.erasing())
	s.precalls = sqlstore.NewPreCalls(s.database(), s.change)
	s.hours = sqlstore.NewHours(s.database(), s.hourWriter())
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(s.wrap("open", err), s.closeFiles())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, o Options) (err error) {
	if err := makePrivate(s.path + ".lock"); err != nil {
		return err
	}
	if s.lock, err = takeLock(ctx, s.path); err != nil {
		return err
	}
	if isEmptied(s.path) {
		return errEmptied
	}
	if err := privateStore(s.path); err != nil {
		return err
	}
	synchronous := "synchronous(" + string(o.Synchronous) + ")"
	if s.write, err = openDB(s.path, o, append([]string{synchronous}, writerPragmas...)...); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if err := migrate(ctx, s.write); err != nil {
		return err
	}
	if s.read, err = openDB(s.path, o, "query_only(1)"); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	if s.folding, err = openDB(s.path, o, synchronous); err != nil {
		return err
	}
	s.folding.SetMaxOpenConns(1)
	s.folder = startFolder(s.folding, o.foldPages)
	if s.writer, err = startWriter(ctx, s.write, s.folder, o.Linger); err != nil {
		return err
	}
	if err = s.reload(ctx); err != nil {
		s.writer.close()
	}
	return err
}

// Close waits for accepted writes and closes the file. It may be called
// more than once. Later writes fail.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.writer.close()
		s.hub.Close(group.ErrClosed)
		if err := s.closeFiles(); err != nil {
			s.closed = s.wrap("close", err)
		}
	})
	return s.closed
}

// closeFiles closes the connections, after the writer has stopped: readers first, so that the last
// connection of the file, the writer's, folds the log into it, then the lock.
func (s *Store) closeFiles() error {
	if s.folder != nil {
		s.folder.close()
	}
	var errs []error
	for _, db := range []*sql.DB{s.read, s.folding, s.write, s.lock} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

func openDB(path string, o Options, pragmas ...string) (*sql.DB, error) {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", o.busyTimeout.Milliseconds()))
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	return sql.Open("sqlite", fileURI(path)+"?"+q.Encode())
}

// fileURI returns the URI of a file, with any characters in its path.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if path[0] != '/' { // a drive letter
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// takeLock locks a file beside the store exclusively until it is closed. The
// operating system releases the lock when the process ends. The store's file itself cannot be locked,
// because it has several connections.
func takeLock(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", fileURI(path+".lock"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	db.SetConnMaxLifetime(0)
	_, err = db.ExecContext(ctx, "BEGIN EXCLUSIVE")
	switch resultCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		err = errInUse
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// isEmptied reports whether the file is empty and its log is not. SQLite would consider the file new and
// remove the log, which may be all that is left.
func isEmptied(path string) bool {
	file, err := os.Stat(path)
	if err != nil || file.Size() > 0 {
		return false
	}
	log, err := os.Stat(path + "-wal")
	return err == nil && log.Size() > 0
}

var errEmptied = errors.New("the file is empty, but its log (-wal) is not: restore it, or move both away")

var errInUse = errors.New("another process, or this one, has the store open already")

// resultCode returns SQLite's primary result code, 0 if err is not SQLite's.
func resultCode(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// wrap adds the file, the operation and an explanation of the most frequent codes to err.
func (s *Store) wrap(operation string, err error) error {
	hint := ""
	switch resultCode(err) {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		hint = "the file is damaged or not a database; move it away or restore it: "
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		hint = "another program holds a lock on the file: "
	case sqlite3.SQLITE_FULL:
		hint = "no space left: "
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		hint = "the file or its directory cannot be written: "
	}
	return fmt.Errorf("store %s: %s: %s%w", s.path, operation, hint, err)
}
