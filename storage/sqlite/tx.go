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

// maxCached bounds each of the writer's caches. A full cache is cleared.
const maxCached = 1 << 16

// tx is the writer's transaction, for jobs. The contexts of its
// statements are never cancelled: an interrupted statement would fail the transaction
// for all jobs that share it, and each takes only microseconds.
type tx struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt

	// Caches of rows, as they are after the commit of this transaction.
	sessions map[frames.SessionID]knownSession
	places   map[frames.PlaceID]int64
	newest   map[int64]newestRow // by key of a conferenceID

	late *erasure.Late // erasures to apply to new records

	unattached map[int64]bool // by key of a conferenceID: whether unattached annotations may exist

	recordTerms     map[conferenceTerm]bool // terms from records that are stored; cached as above
	conferenceTerms map[int64]term.Kept     // all terms of some conferences; cached as above
	cachedTerms     int                     // number of terms in kept, or more

	// Of one job: sessions whose description it may have changed, participations whose terms it has
	// written, and the number of dropped terms.
	changedSessions   map[int64]bool
	newParticipations map[participation]bool
	termsDropped      int
}

// knownSession is a stored session.
type knownSession struct {
	key  int64
	row  frames.SessionRow
	last int64 // highest stored seq: a frame after it is new
	next int   // index after the stored ones of last: a row that starts there or later is new
}

// clearCaches clears the caches: after a rollback they may contain rows that are not stored.
func (t *tx) clearCaches() {
	t.sessions, t.places = map[frames.SessionID]knownSession{}, map[frames.PlaceID]int64{}
	t.newest, t.unattached = map[int64]newestRow{}, map[int64]bool{}
	t.recordTerms, t.changedSessions, t.newParticipations = map[conferenceTerm]bool{}, map[int64]bool{}, map[participation]bool{}
	t.conferenceTerms, t.cachedTerms = map[int64]term.Kept{}, 0
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

type failedRow struct{ err error }

func (f failedRow) Scan(...any) error { return f.err }

func (t *tx) row(query string, args ...any) scanner {
	s, err := t.stmt(query)
	if err != nil {
		return failedRow{err}
	}
	return s.QueryRowContext(context.Background(), args...)
}

// errStop is returned by a scan function to end reading.
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
