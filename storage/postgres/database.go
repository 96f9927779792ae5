package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

var dialect = sqlstore.Postgres //nolint:gochecknoglobals // a constant

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

// Exec implements sqlstore.Tx.
func (a asked) Exec(statement string, values ...any) (int64, error) {
	tag, err := a.db.Exec(a.ctx, dialect.SQL(statement), dialect.Values(values)...)
	return tag.RowsAffected(), err
}
