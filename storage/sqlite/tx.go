package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/storage/internal/term"
)

// maxCached bounds each of the writer's caches; a full one starts again from nothing.
const maxCached = 1 << 16

// tx is what a job may use inside the writer's transaction. The contexts of its
// statements are never cancelled: an interrupted statement would spoil the transaction
// for every job that shares it, and each takes microseconds.
type tx struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt

	// Keys of rows that are in the store, or will be when this transaction commits.
	sessions map[frames.SessionID]knownSession
	places   map[frames.PlaceID]int64
	newest   map[int64]newest // by place

	late *erasure.Late // erasures of what is written

	unattached map[int64]bool // by place: whether it may have unattached annotations

	written   map[conferenceTerm]bool // terms of conferences, as the keys above
	kept      map[int64]term.Kept     // all terms of some conferences, as the keys above
	keptTerms int                     // at least how many terms kept has

	// Of one job: sessions whose description it may have changed, who takes part anew, and
	// values that it had no room for.
	changed      map[int64]bool
	anew         map[participation]bool
	termsDropped int
}

// knownSession is a session's row.
type knownSession struct {
	key  int64
	row  frames.SessionRow
	last int64 // highest seq in the store: a frame beyond it is new
	next int   // index after those of last in the store: a row from it on is new
}

// forget empties the caches: after a rollback they may hold what is not in the store.
func (t *tx) forget() {
	t.sessions, t.places = map[frames.SessionID]knownSession{}, map[frames.PlaceID]int64{}
	t.newest, t.unattached = map[int64]newest{}, map[int64]bool{}
	t.written, t.changed, t.anew = map[conferenceTerm]bool{}, map[int64]bool{}, map[participation]bool{}
	t.kept, t.keptTerms = map[int64]term.Kept{}, 0
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s := t.stmts[query]; s != nil {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	t.stmts[query] = s
	return s, nil
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.count(query, args...)
	return err
}

// count runs a statement and returns the number of rows it changed.
func (t *tx) count(query string, args ...any) (int64, error) {
	s, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// scanner reads the columns of one row.
type scanner = sqlstore.Row

type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }

func (t *tx) row(query string, args ...any) scanner {
	s, err := t.stmt(query)
	if err != nil {
		return failed{err}
	}
	return s.QueryRowContext(context.Background(), args...)
}

// errStop ends the reading of rows.
var errStop = errors.New("no more rows are needed")

// each calls scan for every row of a query, until it returns errStop.
func (t *tx) each(scan func(scanner) error, query string, args ...any) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	if err := eachRow(rows, scan); !errors.Is(err, errStop) {
		return err
	}
	return nil
}
