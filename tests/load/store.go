package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// readStore calls read with a copy of the store in a SQLite file. A collector may use the file meanwhile.
func readStore(ctx context.Context, path string, read func(storage.Reader) error) (err error) {
	dir, err := os.MkdirTemp("", "qos-load")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	copied := filepath.Join(dir, "qos.sqlite3")
	if err := copyStore(ctx, path, copied); err != nil {
		return fmt.Errorf("store %s: copy: %w", path, err)
	}
	store, err := sqlite.Open(ctx, copied, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return read(store)
}

// copyStore copies a store in one transaction, as docs/operations.md does: its owner has the file locked for package sqlite.
func copyStore(ctx context.Context, from, to string) (err error) {
	from, err = filepath.Abs(from)
	if err != nil {
		return err
	}
	file := url.URL{Scheme: "file", Path: from, RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}
