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

// located is a conference's place in the tables.
type located struct {
	sqlstore.Located
	days []int32 // partitions that hold its frames
}

// placeDays returns the days of the sessions that take part in a place's conferences that
// overlap a span.
func placeDays(tx sqlstore.Tx, place int64, span instance.Span) ([]int32, error) {
	return sqlstore.All(tx, func(row sqlstore.Row) (day int32, err error) { err = row.Scan(&day); return day, err }, `SELECT DISTINCT s.day
		FROM qos_conference c JOIN qos_participant p ON p.place = c.place AND p.conference = c.key JOIN qos_session s ON s.key = p.session
		WHERE c.place = ? AND c.start_ms <= ? AND c.end_ms >= ?`, place, span.End, span.Start)
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
	rows, err := a.db.Query(a.ctx, dialect.SQL(statement), dialect.Values(values)...)
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
