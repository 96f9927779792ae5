// Package sqlstore has the statements of both engines, except those that write a frame of a live
// call, which each engine optimises. The statements are valid in SQLite and PostgreSQL; Dialect
// describes the differences.
//
// Texts are bytes in PostgreSQL, whose text refuses U+0000: they are values of type Text, and are
// read as bytes. Times are ms since the epoch.
package sqlstore

import (
	"context"

	"github.com/qosrtc/qos/internal/call/instance"
)

// Row is one row of a result.
type Row interface{ Scan(dest ...any) error }

// Tx is one transaction of an engine, or a connection outside of a transaction. It is not safe for concurrent use.
type Tx interface {
	// Each calls scan for each row of a result, until it returns an error.
	Each(scan func(Row) error, statement string, values ...any) error
	// Exec runs a statement and returns the number of rows that it changed.
	Exec(statement string, values ...any) (changed int64, err error)
	// Place returns the key of a conferenceID of an app; false if nothing of it is stored.
	Place(app, conference string) (key int64, found bool, err error)
	// Days returns the days whose partitions hold frames of those conferences that overlap a
	// span; none if the engine has no such partitions.
	Days(place int64, span instance.Span) (Days, error)
}

// DB is the functions of an engine that run statements. Their errors are the driver's.
type DB struct {
	// Read runs statements, each in its own snapshot.
	Read func(ctx context.Context, read func(Tx) error) error
	// View runs statements in one snapshot.
	View func(ctx context.Context, read func(Tx) error) error
	// Change runs statements in one transaction, which is rolled back if write returns an error.
	Change func(ctx context.Context, write func(Tx) error) error
	// Wrap adds the operation and the name of the store to an error.
	Wrap func(operation string, err error) error
}

// One reads one row into dest; false if there is none.
func One(tx Tx, dest []any, statement string, values ...any) (found bool, err error) {
	err = tx.Each(func(row Row) error {
		found = true
		return row.Scan(dest...)
	}, statement, values...)
	return found, err
}

// All returns the results of scan for all rows.
func All[T any](tx Tx, scan func(Row) (T, error), statement string, values ...any) (out []T, err error) {
	err = tx.Each(func(row Row) error {
		one, err := scan(row)
		out = append(out, one)
		return err
	}, statement, values...)
	return out, err
}
