package main

import (
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx" of database/sql

	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// database is a PostgreSQL server, which inherits this process's core. The zero value starts it when it is needed.
type database struct {
	server *postgrestest.Server
	made   int
}

// store returns the configuration of a store in a database of its own.
func (d *database) store(string) (config map[string]any, err error) {
	if d.server == nil {
		if d.server, err = postgrestest.New(); err != nil {
			return nil, err
		}
	}
	d.made++
	name := fmt.Sprintf("compare%d", d.made)
	db, err := sql.Open("pgx", d.server.DSN("postgres"))
	if err != nil {
		return nil, err
	}
	_, err = db.Exec("CREATE DATABASE " + name)
	return map[string]any{"postgres": map[string]any{"dsn": d.server.DSN(name)}}, errors.Join(err, db.Close())
}

func (d *database) close() {
	if d.server != nil {
		d.server.Close()
	}
}
