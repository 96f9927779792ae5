package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
)

const (
	// attempts is the number of attempts of a transaction that the server ended or that met a
	// partition or a row that had just been deleted.
	attempts = 4
	// maxCached bounds each of the caches. A full cache is cleared.
	maxCached = 1 << 16
)

// job is one write: batches to append, or a summary to put.
type job struct {
	batches  []frames.Prepared
	place    frames.PlaceID
	summary  *join.Summary
	original storage.Summary // the original of summary
	found    bool            // the conference of the summary exists
	result   storage.Appended
}

// writer owns the writing connection. Its caches may be outdated: a transaction that detects it
// clears them and is retried.
type writer struct {
	store *Store
	conn  *pgx.Conn

	sessions       map[frames.SessionID]sessionKey
	places         map[frames.PlaceID]int64
	days           map[int32]bool          // days with partitions
	committedTerms map[conferenceTerm]bool // committed terms
	late           *erasure.Late           // erasures to apply to new records; nil: not read yet
}

type sessionKey struct {
	key int64
	day int32
}

func newWriter(s *Store) *writer {
	w := &writer{store: s}
	w.clearCaches()
	return w
}

func (w *writer) clearCaches() {
	w.sessions, w.places, w.days = map[frames.SessionID]sessionKey{}, map[frames.PlaceID]int64{}, map[int32]bool{}
	w.committedTerms = map[conferenceTerm]bool{}
}

func (w *writer) close() {
	if w.conn != nil {
		_ = w.conn.Close(context.Background())
	}
}

// commit writes a group of jobs in one transaction, all or nothing.
func (w *writer) commit(jobs []*job) (err error) {
	for range attempts {
		if err = w.attempt(jobs); err == nil || !retryable(err) {
			return err
		}
		w.clearCaches()
	}
	return err
}

func (w *writer) attempt(jobs []*job) error {
	ctx, cancel := context.WithTimeout(context.Background(), w.store.options.patience)
	defer cancel()
	if err := w.connect(ctx); err != nil {
		return err
	}
	err := w.transaction(ctx, jobs)
	if code(err) == readOnly { // after a failover the dsn may lead to another server
		_ = w.conn.Close(ctx)
	}
	if err != nil && !w.conn.IsClosed() && w.conn.PgConn().TxStatus() != 'I' {
		if _, fault := w.conn.Exec(ctx, "ROLLBACK"); fault != nil {
			_ = w.conn.Close(ctx)
		}
	}
	return err
}

func (w *writer) transaction(ctx context.Context, jobs []*job) error {
	if err := w.resolve(ctx, jobs); err != nil {
		return err
	}
	t := &tx{ctx: ctx, w: w, jobs: jobs}
	if err := t.begin(); err != nil {
		return err
	}
	for _, j := range jobs {
		if err := t.run(j); err != nil {
			return err
		}
	}
	if err := t.commit(); err != nil {
		w.store.notifier.requestCatchUp() // the commit may have succeeded nevertheless
		return err
	}
	t.remember()
	t.countDropped(jobs)
	w.store.notifier.notify(t.changes.All())
	return nil
}

// connect opens the connection unless it is open.
func (w *writer) connect(ctx context.Context) error {
	if w.conn != nil && !w.conn.IsClosed() {
		return nil
	}
	config := w.store.config.Copy()
	config.AfterConnect = w.setUp
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		w.conn = conn
	}
	return err
}

// indexOnly are the planner settings to switch off so that statements use indexes.
var indexOnly = []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"}

// setUp configures a new connection. Every statement must use an index: tables change fast, and their
// statistics are outdated. Keepalives and the timeout make the server detect a crash of this process or its
// machine soon, because rows that it locked block the other collectors. NOTIFY announces the collector's number
// before its first commit. A pooler may reject these settings in the startup message, so they are statements.
func (w *writer) setUp(ctx context.Context, conn *pgconn.PgConn) error {
	return conn.Exec(ctx, fmt.Sprintf(`SELECT set_config(name, value, false) FROM (VALUES
			('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
			('idle_in_transaction_session_timeout', '%d')) setting (name, value);
		SELECT set_config(name, 'off', false) FROM unnest('{%s}'::text[]) name;
		SELECT pg_advisory_lock_shared(%d, %d); NOTIFY %s, '%s'`, (2*w.store.options.patience).Milliseconds(), strings.Join(indexOnly, ","), lockCollector,
		w.store.number, channel, startMessage(w.store.number))).Close()
}

// errStale is returned when a row was deleted before the transaction locked it.
var errStale = errors.New("rows were deleted while they were being written to")

// retryable reports whether a transaction may succeed when it is retried.
func retryable(err error) bool {
	if errors.Is(err, errStale) {
		return true
	}
	switch code(err) {
	case "": // not from the server
		return connectionLost(err)
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return true
	case "42P01": // undefined_table: a partition was dropped
		return true
	case "57P01", "57P02", "57P03": // the server is shutting down or starting
		return true
	}
	return false
}

// code returns the server's code of an error, empty if the error is not the server's.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// connectionLost reports whether the connection was lost during a transaction. It is false for a failed connect
// and for a timeout.
func connectionLost(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return code(err) == ""
}

// splittable reports whether the jobs of a group that failed may succeed one by one.
func splittable(err error) bool {
	switch code(err) {
	case "", diskFull, readOnly:
		return false
	}
	return !retryable(err)
}
