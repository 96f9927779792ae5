package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

var dialect = sqlstore.Postgres //nolint:gochecknoglobals // a constant

// view runs read in a transaction, so that all its queries see the same state.
func (s *Store) view(ctx context.Context, read func(context.Context, pgx.Tx) error) error {
	return s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			return read(ctx, tx)
		})
	})
}

// reading runs f with a connection, and no longer than it may take: a server that went
// silent is an error.
func (s *Store) reading(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.patience)
	defer cancel()
	return s.read.with(ctx, func(conn *pgx.Conn) error { return f(ctx, conn) })
}

// database is how package sqlstore runs statements.
func (s *Store) database() sqlstore.DB {
	return sqlstore.DB{
		Read: func(ctx context.Context, read func(sqlstore.Tx) error) error {
			return s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error { return read(asked{ctx, conn}) })
		},
		View: func(ctx context.Context, read func(sqlstore.Tx) error) error {
			return s.view(ctx, func(ctx context.Context, tx pgx.Tx) error { return read(asked{ctx, tx}) })
		},
		Change: s.change,
		Wrap:   s.wrap,
	}
}

// asked implements sqlstore.Tx over a transaction or a connection.
type asked struct {
	ctx context.Context //nolint:containedctx // it lives as long as one call
	db  interface {
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	}
}

// Each implements sqlstore.Tx.
func (a asked) Each(scan func(sqlstore.Row) error, statement string, values ...any) error {
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

// arguments returns values as the driver takes them. A plan for any values of a listing expects few rows, and so reads and
// sorts all that a page of it is the start of.
func arguments(values []any) []any {
	out := dialect.Values(values)
	if len(out) > 0 && out[0] == any(sqlstore.Fresh{}) {
		out[0] = pgx.QueryExecModeCacheDescribe
	}
	return out
}

// Place implements sqlstore.Tx.
func (a asked) Place(app, conference string) (key int64, found bool, err error) {
	found, err = sqlstore.One(a, []any{&key}, `SELECT key FROM qos_place WHERE key = ? AND app_id = ? AND conference_id = ?`,
		placeKey(app, conference), []byte(app), []byte(conference))
	return key, found, err
}

// Exec implements sqlstore.Tx.
func (a asked) Exec(statement string, values ...any) (int64, error) {
	tag, err := a.db.Exec(a.ctx, dialect.SQL(statement), dialect.Values(values)...)
	return tag.RowsAffected(), err
}

// Days implements sqlstore.Tx: the days are those of the sessions that take part, and of those with unattached
// annotations about a time in the span.
func (a asked) Days(place int64, span instance.Span) (sqlstore.Days, error) {
	return sqlstore.All(a, func(row sqlstore.Row) (day int32, err error) { err = row.Scan(&day); return day, err }, `SELECT DISTINCT s.day
		FROM qos_conference c JOIN qos_participant p ON p.place = c.place AND p.conference = c.key JOIN qos_session s ON s.key = p.session
		WHERE c.place = ? AND c.start_ms <= ? AND c.end_ms >= ?
		UNION SELECT s.day FROM qos_unattached u JOIN qos_session s ON s.key = u.session WHERE u.place = ? AND u.conference_at BETWEEN ? AND ?`,
		place, span.End, span.Start, place, span.Start, span.End)
}

// queued implements sqlstore.Tx over the writer's transaction: what is queued is sent first.
type queued struct {
	asked
	t *tx
}

// Each implements sqlstore.Tx.
func (q queued) Each(scan func(sqlstore.Row) error, statement string, values ...any) error {
	if err := q.t.flush(); err != nil {
		return err
	}
	return q.asked.Each(scan, statement, values...)
}

// Exec implements sqlstore.Tx.
func (q queued) Exec(statement string, values ...any) (int64, error) {
	if err := q.t.flush(); err != nil {
		return 0, err
	}
	return q.asked.Exec(statement, values...)
}
