package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies missing migrations, each in its own transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	have, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	err = sqlstore.Migrate(migrations, have, func(text string, version int) error { return apply(ctx, db, text, version) })
	if err != nil {
		return err
	}
	return checkColumns(ctx, db)
}

func checkColumns(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c WHERE t.type = 'table'")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // closed already unless an error is returned
	var have []sqlstore.Column
	for rows.Next() {
		var c sqlstore.Column
		if err := rows.Scan(&c.Table, &c.Name); err != nil {
			return err
		}
		have = append(have, c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return sqlstore.CheckColumns(migrations, have)
}

// schemaVersion returns the number of applied migrations. It refuses a database of another
// program.
func schemaVersion(ctx context.Context, db *sql.DB) (version int, err error) {
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return 0, err
	}
	if version == 0 && tables > 0 {
		return 0, fmt.Errorf("it holds %d tables and indexes that are not a store's", tables)
	}
	return version, nil
}

func apply(ctx context.Context, db *sql.DB, text string, version int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	if _, err := tx.ExecContext(ctx, text); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}
