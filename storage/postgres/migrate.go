package postgres

import (
	"context"
	"embed"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// The classes of advisory locks; the second key is the object within the class. The numbers are
// arbitrary, to avoid those of other programs.
const (
	lockSchema = 0x716f7301 // migrations
	lockDay    = 0x716f7302 // a day's partition
	// the number of a collector, held while it runs
	lockCollector = 0x716f7303
	lockPack      = 0x716f7304 // key of the qos_place row whose records are being packed or erased
)

// migrate applies missing migrations, in one transaction. If several collectors start at the same
// time, the first one migrates and the others wait.
func migrate(ctx context.Context, conn *pgx.Conn, hashed int) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, 0)`, lockSchema); err != nil {
			return err
		}
		have, err := schemaVersion(ctx, tx)
		if err != nil {
			return err
		}
		err = sqlstore.Migrate(migrations, have, func(text string, version int) error { return apply(ctx, tx, text, version) })
		if err != nil {
			return err
		}
		if err := checkColumns(ctx, tx); err != nil {
			return err
		}
		if have == 0 && hashed > 0 {
			return hashPlaces(ctx, tx, hashed)
		}
		return nil
	})
}

// checkColumns checks the columns of the tables that are visible in the search path, as statements are.
func checkColumns(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) AND c.relname LIKE 'qos\_%' AND a.attnum > 0 AND NOT a.attisdropped`)
	if err != nil {
		return err
	}
	have, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sqlstore.Column])
	if err != nil {
		return err
	}
	return sqlstore.CheckColumns(migrations, have)
}

// schemaVersion returns the number of applied migrations.
func schemaVersion(ctx context.Context, tx pgx.Tx) (version int, err error) {
	_, err = tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS qos_migration (
		version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`)
	if err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM qos_migration`).Scan(&version)
	return version, err
}

func apply(ctx context.Context, tx pgx.Tx, text string, version int) error {
	if _, err := tx.Conn().PgConn().Exec(ctx, text).ReadAll(); err != nil { // many statements
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO qos_migration (version) VALUES ($1)`, version)
	return err
}
