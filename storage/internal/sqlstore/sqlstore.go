// Package sqlstore has the statements of both engines, except those by which a frame of a live
// call is written: an engine has its own way to make these fast. Statements are SQL that SQLite and PostgreSQL both know; Dialect names what differs.
//
// Texts are bytes in PostgreSQL, whose text refuses U+0000: they are values of type Text, and are
// read as bytes. Times are ms since the epoch.
package sqlstore

import (
	"context"

	"github.com/qosrtc/qos/internal/instance"
)

// Row is one row of an answer.
type Row interface{ Scan(dest ...any) error }

// Tx is one transaction of an engine, or a connection outside of any. It is for one goroutine.
type Tx interface {
	// Each calls scan for each row of an answer, until it returns an error.
	Each(scan func(Row) error, statement string, values ...any) error
	// Exec runs a statement and returns how many rows it changed.
	Exec(statement string, values ...any) (changed int64, err error)
	// Place returns the key of a conferenceID of an app, and false where nothing is stored of it.
	Place(app, conference string) (key int64, found bool, err error)
	// Days returns the days whose partitions hold frames of a place's conferences that overlap a
	// span; none where the engine has no such partitions.
	Days(place int64, span instance.Span) (Days, error)
}

// DB is how an engine runs statements. Its errors are its driver's.
type DB struct {
	// Read runs statements that see what each of them finds.
	Read func(ctx context.Context, read func(Tx) error) error
	// View runs statements that all see the same moment.
	View func(ctx context.Context, read func(Tx) error) error
	// Change runs statements that are committed together, unless write returns an error.
	Change func(ctx context.Context, write func(Tx) error) error
	// Wrap adds to an error what was done, and to which store.
	Wrap func(operation string, err error) error
}

// One reads one row into dest, and is false where there is none.
func One(tx Tx, dest []any, statement string, values ...any) (found bool, err error) {
	err = tx.Each(func(row Row) error {
		found = true
		return row.Scan(dest...)
	}, statement, values...)
	return found, err
}

// All returns what scan makes of each row.
func All[T any](tx Tx, scan func(Row) (T, error), statement string, values ...any) (out []T, err error) {
	err = tx.Each(func(row Row) error {
		one, err := scan(row)
		out = append(out, one)
		return err
	}, statement, values...)
	return out, err
}
