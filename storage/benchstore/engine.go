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

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/storage/sqlite"
)

// store is what is measured of an engine.
type store interface {
	storage.Writer
	storage.Reader
	DeleteBefore(ctx context.Context, before time.Time) (int, error)
	Close() error
}

// packer is an engine that packs conferences that have closed.
type packer interface {
	Pack(ctx context.Context, before time.Time) (storage.Packed, error)
}

// engine makes stores, each empty, and knows what lies below them.
type engine interface {
	// open opens the store; create makes it empty first.
	open(ctx context.Context, create bool) (store, error)
	// size returns the bytes that the closed or idle store takes, and how many of them are
	// in use.
	size(ctx context.Context) (onDisk, inUse int64, err error)
	// plain opens a table with nothing but a body.
	plain(ctx context.Context) (plainTable, error)
	// bulk writes conferences without records in the engine's own layout.
	bulk(ctx context.Context, n int, conference func(i int) listing) error
}

// plainTable is what the engine's database does at best: one row, one commit.
type plainTable interface {
	// connection returns an insert; one goroutine may use it.
	connection(ctx context.Context) (insert func(body []byte) error, err error)
	close() error
}

// newEngine reads an engine's name: "SQLite normal", "SQLite full" or "PostgreSQL".
func newEngine(name, dir, dsn string) (engine, error) {
	if kind, how, _ := strings.Cut(name, " "); kind == "SQLite" {
		return &sqliteEngine{path: filepath.Join(dir, "store.sqlite3"), how: sqlite.Synchronous(how)}, nil
	}
	if name == postgresName && dsn != "" {
		return &postgresEngine{server: dsn}, nil
	}
	return nil, fmt.Errorf("engine %q is none of %q, or has no server", name, engineNames)
}

const postgresName = "PostgreSQL"

var engineNames = []string{"SQLite normal", "SQLite full", postgresName}

type sqliteEngine struct {
	path string
	how  sqlite.Synchronous
}

func (e *sqliteEngine) open(ctx context.Context, create bool) (store, error) {
	if create {
		if err := e.remove(); err != nil {
			return nil, err
		}
	}
	return sqlite.Open(ctx, e.path, sqlite.Options{Synchronous: e.how})
}

func (e *sqliteEngine) remove() error {
	files, err := filepath.Glob(e.path + "*")
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

func (e *sqliteEngine) size(ctx context.Context) (onDisk, inUse int64, err error) {
	db, err := e.database("")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = db.Close() }() // nothing was written
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(e.path + suffix); err == nil {
			onDisk += info.Size()
		}
	}
	err = db.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&inUse)
	return onDisk, inUse, err
}

// database opens the file beside the store, with its settings.
func (e *sqliteEngine) database(suffix string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+e.path+suffix+
		"?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(4000)&_pragma=synchronous("+string(e.how)+")")
}

type sqlitePlain struct{ db *sql.DB }

func (e *sqliteEngine) plain(ctx context.Context) (plainTable, error) {
	if err := e.remove(); err != nil {
		return nil, err
	}
	db, err := e.database("-plain")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer
	_, err = db.ExecContext(ctx, "CREATE TABLE plain (body BLOB NOT NULL) STRICT")
	return sqlitePlain{db}, err
}

func (p sqlitePlain) connection(ctx context.Context) (func([]byte) error, error) {
	statement, err := p.db.PrepareContext(ctx, "INSERT INTO plain (body) VALUES (?)")
	return func(body []byte) error {
		_, err := statement.ExecContext(ctx, body)
		return err
	}, err
}

func (p sqlitePlain) close() error { return p.db.Close() }

type postgresEngine struct{ server string }

const benchDatabase = "bench"

func (e *postgresEngine) dsn(database string) string {
	return strings.Replace(e.server, "/postgres?", "/"+database+"?", 1)
}

func (e *postgresEngine) exec(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, e.dsn(database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // its statements were committed
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (e *postgresEngine) create(ctx context.Context) error {
	return e.exec(ctx, "postgres", "DROP DATABASE IF EXISTS "+benchDatabase+" WITH (FORCE)", "CREATE DATABASE "+benchDatabase)
}

func (e *postgresEngine) open(ctx context.Context, create bool) (store, error) {
	if create {
		if err := e.create(ctx); err != nil {
			return nil, err
		}
	}
	return postgres.Open(ctx, e.dsn(benchDatabase), postgres.Options{})
}

const postgresSize = `SELECT sum(pg_relation_size(c.oid) + CASE WHEN reltoastrelid > 0 THEN pg_total_relation_size(reltoastrelid) ELSE 0 END)
	FROM pg_class c WHERE relname LIKE 'qos\_%' AND relkind IN ('r', 'i')`

// size makes what was deleted free first, as the server does by itself sooner or later.
// What is in use is what a copy would take: VACUUM FULL makes one.
func (e *postgresEngine) size(ctx context.Context) (onDisk, inUse int64, err error) {
	conn, err := pgx.Connect(ctx, e.dsn(benchDatabase))
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = conn.Close(ctx) }() // its statements were committed
	for _, step := range []struct {
		vacuum string
		size   *int64
	}{{"VACUUM", &onDisk}, {"VACUUM FULL", &inUse}} {
		if _, err := conn.Exec(ctx, step.vacuum); err != nil {
			return 0, 0, err
		}
		if err := conn.QueryRow(ctx, postgresSize).Scan(step.size); err != nil {
			return 0, 0, err
		}
	}
	return onDisk, inUse, nil
}

type postgresPlain struct {
	engine *postgresEngine
	opened []*pgx.Conn
}

func (e *postgresEngine) plain(ctx context.Context) (plainTable, error) {
	if err := e.create(ctx); err != nil {
		return nil, err
	}
	return &postgresPlain{engine: e}, e.exec(ctx, benchDatabase, "CREATE TABLE plain (body bytea NOT NULL)")
}

func (p *postgresPlain) connection(ctx context.Context) (func([]byte) error, error) {
	conn, err := pgx.Connect(ctx, p.engine.dsn(benchDatabase))
	if err != nil {
		return nil, err
	}
	p.opened = append(p.opened, conn)
	return func(body []byte) error {
		_, err := conn.Exec(ctx, "INSERT INTO plain (body) VALUES ($1)", body)
		return err
	}, nil
}

func (p *postgresPlain) close() (err error) {
	for _, conn := range p.opened {
		err = errors.Join(err, conn.Close(context.Background()))
	}
	return err
}
