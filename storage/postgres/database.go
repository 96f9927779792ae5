package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

var dialect = sqlstore.Postgres

// view runs read in one transaction, so that all its queries see the same snapshot.
func (s *Store) view(ctx context.Context, read func(context.Context, pgx.Tx) error) error {
	return s.withReadConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			return read(ctx, tx)
		})
	})
}

// withReadConn runs f with a connection for at most options.patience, so that an unresponsive
// server results in an error.
func (s *Store) withReadConn(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.patience)
	defer cancel()
	return s.read.withConn(ctx, func(conn *pgx.Conn) error { return f(ctx, conn) })
}

// database returns the sqlstore.DB of this store.
func (s *Store) database() sqlstore.DB {
	return sqlstore.DB{
		Read: func(ctx context.Context, read func(sqlstore.Tx) error) error {
			return s.withReadConn(ctx, func(ctx context.Context, conn *pgx.Conn) error { return read(querier{ctx, conn}) })
		},
		View: func(ctx context.Context, read func(sqlstore.Tx) error) error {
			return s.view(ctx, func(ctx context.Context, tx pgx.Tx) error { return read(querier{ctx, tx}) })
		},
		Change: s.change,
		Wrap:   s.wrap,
	}
}

// querier implements sqlstore.Tx over a transaction or a connection.
type querier struct {
	ctx context.Context // it lives as long as one call
	db  interface {
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	}
}

// Each implements sqlstore.Tx.
func (a querier) Each(scan func(sqlstore.Row) error, statement string, values ...any) error {
	rows, err := a.db.Query(a.ctx, dialect.SQL(statement), arguments(values)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// arguments returns values for the driver. For sqlstore.Fresh it disables the cached plan: a generic plan of a listing
// expects few rows, so it reads and sorts all of them before it returns a page.
func arguments(values []any) []any {
	out := dialect.Values(values)
	if len(out) > 0 && out[0] == any(sqlstore.Fresh{}) {
		out[0] = pgx.QueryExecModeCacheDescribe
	}
	return out
}

// Place implements sqlstore.Tx.
func (a querier) Place(app, conference string) (key int64, found bool, err error) {
	found, err = sqlstore.One(a, []any{&key}, `SELECT key FROM qos_place WHERE key = ? AND app_id = ? AND conference_id = ?`,
		placeKey(app, conference), []byte(app), []byte(conference))
	return key, found, err
}

// Exec implements sqlstore.Tx.
func (a querier) Exec(statement string, values ...any) (int64, error) {
	tag, err := a.db.Exec(a.ctx, dialect.SQL(statement), dialect.Values(values)...)
	return tag.RowsAffected(), err
}

// Days implements sqlstore.Tx: the days of the sessions that take part, and of those with unattached
// annotations about a time in the span.
func (a querier) Days(place int64, span instance.Span) (sqlstore.Days, error) {
	return sqlstore.All(a, func(row sqlstore.Row) (day int32, err error) { err = row.Scan(&day); return day, err }, `SELECT DISTINCT s.day
		FROM qos_conference c JOIN qos_participant p ON p.place = c.place AND p.conference = c.key JOIN qos_session s ON s.key = p.session
		WHERE c.place = ? AND c.start_ms <= ? AND c.end_ms >= ?
		UNION SELECT s.day FROM qos_unattached u JOIN qos_session s ON s.key = u.session WHERE u.place = ? AND u.conference_at BETWEEN ? AND ?`,
		place, span.End, span.Start, place, span.Start, span.End)
}

// flushingQuerier implements sqlstore.Tx over the writer's transaction. It sends queued writes first.
type flushingQuerier struct {
	querier
	t *tx
}

// Each implements sqlstore.Tx.
func (q flushingQuerier) Each(scan func(sqlstore.Row) error, statement string, values ...any) error {
	if err := q.t.flush(); err != nil {
		return err
	}
	return q.querier.Each(scan, statement, values...)
}

// Exec implements sqlstore.Tx.
func (q flushingQuerier) Exec(statement string, values ...any) (int64, error) {
	if err := q.t.flush(); err != nil {
		return 0, err
	}
	return q.querier.Exec(statement, values...)
}
