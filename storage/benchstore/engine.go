package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx" of database/sql

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// store is the methods of an engine that are measured.
type store interface {
	storage.Writer
	storage.Reader
	storage.Follower
	storage.HourMaker
	Pack(ctx context.Context, before time.Time) (storage.Packed, error)
	DeleteBefore(ctx context.Context, before time.Time) (int, error)
	Close() error
}

// engine creates empty stores, and measures their files.
type engine struct {
	driver, dsn string
	open        func(ctx context.Context) (store, error)
	empty       func(ctx context.Context) error
	onDisk      func(ctx context.Context, db *sql.DB) (int64, error)
	plainTable  string // creates a table with only a body
	plainInsert string
	prefix      string // of the store's tables
	bytesInUse  []string
}

const postgresName = "PostgreSQL"

var engineNames = []string{"SQLite normal", "SQLite full", postgresName}

// newEngine returns the engine with a name of engineNames.
func newEngine(name, dir string, server *postgrestest.Server) (*engine, error) {
	if kind, how, _ := strings.Cut(name, " "); kind == "SQLite" {
		return newSQLite(filepath.Join(dir, "store.sqlite3"), how), nil
	}
	if name == postgresName && server != nil {
		return newPostgres(server), nil
	}
	return nil, fmt.Errorf("engine %q is none of %q, or has no server", name, engineNames)
}

func newSQLite(path, how string) *engine {
	return &engine{
		driver: "sqlite", plainTable: "CREATE TABLE plain (body BLOB NOT NULL) STRICT", plainInsert: "INSERT INTO plain (body) VALUES (?)",
		dsn: "file:" + path + "?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(4000)&_pragma=synchronous(" + how + ")",
		open: func(ctx context.Context) (store, error) {
			return sqlite.Open(ctx, path, sqlite.Options{Synchronous: sqlite.Synchronous(how)})
		},
		empty: func(context.Context) error {
			files, err := filepath.Glob(path + "*")
			for _, file := range files {
				err = errors.Join(err, os.Remove(file))
			}
			return err
		},
		onDisk: func(context.Context, *sql.DB) (size int64, _ error) {
			for _, suffix := range []string{"", "-wal"} {
				if info, err := os.Stat(path + suffix); err == nil {
					size += info.Size()
				}
			}
			return size, nil
		},
		bytesInUse: []string{`SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`},
	}
}

const postgresSize = `SELECT sum(pg_relation_size(c.oid) + CASE WHEN reltoastrelid > 0 THEN pg_total_relation_size(reltoastrelid) ELSE 0 END)::bigint
	FROM pg_class c WHERE relname LIKE 'qos\_%' AND relkind IN ('r', 'i')`

// newPostgres creates a database for the benchmark. The size on disk is measured after VACUUM, which the
// server also runs by itself; the size in use is that of a copy, made by VACUUM FULL.
func newPostgres(server *postgrestest.Server) *engine {
	const database = "bench"
	e := &engine{
		driver: "pgx", dsn: server.DSN(database), prefix: "qos_",
		plainTable: "CREATE TABLE plain (body bytea NOT NULL)", plainInsert: "INSERT INTO plain (body) VALUES ($1)",
		onDisk: func(ctx context.Context, db *sql.DB) (size int64, err error) {
			if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
				return 0, err
			}
			return size, db.QueryRowContext(ctx, postgresSize).Scan(&size)
		},
		bytesInUse: []string{"VACUUM FULL", postgresSize},
	}
	e.open = func(ctx context.Context) (store, error) { return postgres.Open(ctx, e.dsn, postgres.Options{}) }
	e.empty = func(ctx context.Context) error {
		return e.exec(ctx, server.DSN("postgres"), "DROP DATABASE IF EXISTS "+database+" WITH (FORCE)", "CREATE DATABASE "+database)
	}
	return e
}

// exec runs statements outside of the store.
func (e *engine) exec(ctx context.Context, dsn string, statements ...string) error {
	return e.with(dsn, func(db *sql.DB) error {
		for _, statement := range statements {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *engine) with(dsn string, do func(*sql.DB) error) error {
	db, err := sql.Open(e.driver, dsn)
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

// create opens an empty store.
func (e *engine) create(ctx context.Context) (store, error) {
	if err := e.empty(ctx); err != nil {
		return nil, err
	}
	return e.open(ctx)
}

// size returns the size of the closed store in bytes, and how many of them are in use.
func (e *engine) size(ctx context.Context) (onDisk, inUse int64, err error) {
	err = e.with(e.dsn, func(db *sql.DB) (err error) {
		if onDisk, err = e.onDisk(ctx, db); err != nil {
			return err
		}
		last := len(e.bytesInUse) - 1
		for _, statement := range e.bytesInUse[:last] {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return db.QueryRowContext(ctx, e.bytesInUse[last]).Scan(&inUse)
	})
	return onDisk, inUse, err
}
