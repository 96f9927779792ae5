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
	// attempts is how often a transaction is tried that the server ended or that met a
	// partition or a row that had just gone.
	attempts = 4
	// maxCached bounds each of the caches; a full one starts again from nothing.
	maxCached = 1 << 16
)

// job is one write: batches to append, or a summary to put.
type job struct {
	batches []frames.Prepared
	place   frames.PlaceID
	summary *join.Summary
	given   storage.Summary // which summary is the columns of
	found   bool            // there is a conference that the summary is of
	result  storage.Appended
}

// writer owns the writing connection. Its caches are hints: a transaction that finds them
// wrong forgets them and begins again.
type writer struct {
	store *Store
	conn  *pgx.Conn

	sessions map[frames.SessionID]sessionKey
	places   map[frames.PlaceID]int64
	days     map[int32]bool          // that have a partition
	written  map[conferenceTerm]bool // terms of conferences
	late     *erasure.Late           // erasures of what is written; nil: not read yet
}

type sessionKey struct {
	key int64
	day int32
}

func newWriter(s *Store) *writer {
	w := &writer{store: s}
	w.forget()
	return w
}

func (w *writer) forget() {
	w.sessions, w.places, w.days = map[frames.SessionID]sessionKey{}, map[frames.PlaceID]int64{}, map[int32]bool{}
	w.written = map[conferenceTerm]bool{}
}

func (w *writer) close() {
	if w.conn != nil {
		_ = w.conn.Close(context.Background())
	}
}

// commit writes a group of jobs in one transaction, all or nothing.
func (w *writer) commit(jobs []*job) (err error) {
	for range attempts {
		if err = w.attempt(jobs); err == nil || !again(err) {
			return err
		}
		w.forget()
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
	if code(err) == readOnly { // the dsn may lead to another server by now
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
		w.store.notifier.lose() // it may have been committed all the same
		return err
	}
	t.remember()
	t.count(jobs)
	w.store.notifier.notify(t.changes.All())
	return nil
}

// connect makes the connection where there is none.
func (w *writer) connect(ctx context.Context) error {
	if w.conn != nil && !w.conn.IsClosed() {
		return nil
	}
	config := w.store.config.Copy()
	config.AfterConnect = w.greet
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		w.conn = conn
	}
	return err
}

// byIndex are the settings that, switched off, leave statements that an index answers.
var byIndex = []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"} //nolint:gochecknoglobals // a constant

// greet sets up a connection. Every statement is to be one that an index answers, for
// tables are young and change fast here, and their statistics are late. When this process
// stops, or its machine, the server is to notice soon: rows that it locked keep all others
// from their conferences. The others learn the collector's number before its first commit. A pooler in between may know no such settings, so they are no
// part of the connection's first message.
func (w *writer) greet(ctx context.Context, conn *pgconn.PgConn) error {
	return conn.Exec(ctx, fmt.Sprintf(`SELECT set_config(name, value, false) FROM (VALUES
			('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
			('idle_in_transaction_session_timeout', '%d')) setting (name, value);
		SELECT set_config(name, 'off', false) FROM unnest('{%s}'::text[]) name;
		SELECT pg_advisory_lock_shared(%d, %d); NOTIFY %s, '%s'`, (2*w.store.options.patience).Milliseconds(), strings.Join(byIndex, ","), lockCollector,
		w.store.number, channel, started(w.store.number))).Close()
}

// errStale says that a row went between its being made and its being locked.
var errStale = errors.New("rows were deleted while they were being written to")

// again says whether a transaction may succeed when it is tried again.
func again(err error) bool {
	if errors.Is(err, errStale) {
		return true
	}
	switch code(err) {
	case "": // not from the server
		return lost(err)
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return true
	case "42P01": // undefined_table: a partition went
		return true
	case "57P01", "57P02", "57P03": // the server is going down or coming up
		return true
	}
	return false
}

// code is the server's code of an error, empty where it is not the server's.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// lost says whether the connection was lost in mid-transaction, rather than that none
// could be made.
func lost(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return code(err) == ""
}

// splits says whether the jobs of a group that failed may fare better each alone.
func splits(err error) bool {
	switch code(err) {
	case "", diskFull, readOnly:
		return false
	}
	return !again(err)
}
