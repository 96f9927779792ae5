package sqlite

import (
	"context"
	"database/sql"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

var dialect = sqlstore.SQLite

// view runs read in one transaction, so that all its queries see the same snapshot.
func (s *Store) view(ctx context.Context, read func(*sql.Tx) error) error {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return read(tx)
}

// database returns the sqlstore.DB of this store.
func (s *Store) database() sqlstore.DB {
	return sqlstore.DB{
		Read: func(ctx context.Context, read func(sqlstore.Tx) error) error { return read(querier{ctx, s.read}) },
		View: func(ctx context.Context, read func(sqlstore.Tx) error) error {
			return s.view(ctx, func(tx *sql.Tx) error { return read(querier{ctx, tx}) })
		},
		Change: s.change,
		Wrap:   s.wrap,
	}
}

// querier implements sqlstore.Tx over a read transaction or the pool of connections.
type querier struct {
	ctx context.Context // it lives as long as one call
	db  interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	}
}

// Each implements sqlstore.Tx.
func (r querier) Each(scan func(sqlstore.Row) error, statement string, values ...any) error {
	rows, err := r.db.QueryContext(r.ctx, dialect.SQL(statement), dialect.Values(values)...)
	if err != nil {
		return err
	}
	return eachRow(rows, scan)
}

// Place implements sqlstore.Tx.
func (r querier) Place(app, conference string) (key int64, found bool, err error) {
	found, err = sqlstore.One(r, []any{&key}, selectPlace, app, conference)
	return key, found, err
}

// Days implements sqlstore.Tx.
func (r querier) Days(int64, instance.Span) (sqlstore.Days, error) { return nil, nil }

const selectPlace = `SELECT key FROM place WHERE app_id = ? AND conference_id = ?`

// Exec implements sqlstore.Tx.
func (r querier) Exec(statement string, values ...any) (int64, error) {
	result, err := r.db.ExecContext(r.ctx, dialect.SQL(statement), dialect.Values(values)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func eachRow(rows *sql.Rows, scan func(sqlstore.Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// writerQuerier implements sqlstore.Tx over the writer's transaction, with its prepared statements.
type writerQuerier struct{ *tx }

func (t *tx) querier() sqlstore.Tx { return writerQuerier{t} }

// Each implements sqlstore.Tx.
func (a writerQuerier) Each(scan func(sqlstore.Row) error, statement string, values ...any) error {
	return a.each(scan, dialect.SQL(statement), dialect.Values(values)...)
}

// Place implements sqlstore.Tx.
func (a writerQuerier) Place(app, conference string) (key int64, found bool, err error) {
	found, err = sqlstore.One(a, []any{&key}, selectPlace, app, conference)
	return key, found, err
}

// Exec implements sqlstore.Tx.
func (a writerQuerier) Exec(statement string, values ...any) (int64, error) {
	return a.count(dialect.SQL(statement), dialect.Values(values)...)
}

// Days implements sqlstore.Tx.
func (a writerQuerier) Days(int64, instance.Span) (sqlstore.Days, error) { return nil, nil }
