package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The tables with a partition for each day. The partitions of a day are created and dropped together.
// Transactions that use several of the tables do so in this order.
const (
	frameTable  = "qos_frame"
	chunkTable  = "qos_chunk"
	packedTable = "qos_packed"
)

var dayTables = []string{frameTable, chunkTable, packedTable}

// partition returns the name of a day's partition of a table.
func partition(table string, day int32) string { return fmt.Sprintf("%s_%d", table, day) }

// condemnedName returns the name of a partition that is being dropped. No writer uses this name.
func condemnedName(table string, day int32) string { return partition(table, day) + "_condemned" }

// makePartitions creates the missing partitions of a day as separate tables and
// then attaches them, which blocks no writer.
func makePartitions(ctx context.Context, conn *pgx.Conn, day int32) error {
	missing, err := missingPartitions(ctx, conn, day)
	if err != nil || len(missing) == 0 {
		return err
	}
	return withDay(ctx, conn, day, func() error {
		if err := dropCondemned(ctx, conn, day); err != nil { // left by an interrupted drop
			return err
		}
		missing, err := missingPartitions(ctx, conn, day)
		if err != nil || len(missing) == 0 {
			return err
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			hashed, err := hashPartitions(ctx, tx)
			if err != nil {
				return err
			}
			for _, table := range missing {
				name := partition(table, day)
				if err := makeLike(ctx, tx, name, table, "place", hashed); err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, fmt.Sprintf(`ALTER TABLE %s ATTACH PARTITION %s FOR VALUES IN (%d)`, table, name, day)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// placeTables are the tables of conferences without partitions by day. The value is the column
// with the key of the row in qos_place.
var placeTables = map[string]string{
	"qos_place": "key", "qos_conference": "place", "qos_participant": "place", "qos_document": "place", "qos_unattached": "place", "qos_rename": "place",
}

// hashPlaces replaces placeTables, which are empty, by tables with a number of hash partitions.
func hashPlaces(ctx context.Context, tx pgx.Tx, number int) error {
	for table, column := range placeTables {
		plain := table + "_plain"
		triggers, err := collect[string](tx.Query(ctx, `SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal`, table))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf(`ALTER TABLE %s RENAME TO %s`, table, plain)); err != nil {
			return err
		}
		if err := makeLike(ctx, tx, table, plain, column, number); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DROP TABLE `+plain); err != nil {
			return err
		}
		for _, trigger := range triggers {
			if _, err := tx.Exec(ctx, trigger); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeLike creates a table like another, with a number of hash partitions by a column; 0: none.
func makeLike(ctx context.Context, tx pgx.Tx, name, like, column string, number int) error {
	by := ""
	if number > 0 {
		by = fmt.Sprintf(` PARTITION BY HASH (%s)`, column)
	}
	if _, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %s (LIKE %s INCLUDING ALL)%s`, name, like, by)); err != nil {
		return err
	}
	for i := range number {
		_, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %s_h%d PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d) WITH (fillfactor = 70)`,
			name, i, name, number, i))
		if err != nil {
			return err
		}
	}
	return nil
}

// hashPartitions returns the number of hash partitions of the tables of conferences, 0 without
// any. The tables of each day have the same number.
func hashPartitions(ctx context.Context, tx pgx.Tx) (number int, err error) {
	err = tx.QueryRow(ctx, `SELECT count(*) FROM pg_inherits WHERE inhparent = 'qos_conference'::regclass`).Scan(&number)
	return number, err
}

// missingPartitions returns the tables without a partition of a day.
func missingPartitions(ctx context.Context, conn *pgx.Conn, day int32) ([]string, error) {
	return collect[string](conn.Query(ctx, `SELECT t FROM unnest($1::text[]) WITH ORDINALITY AS u (t, i)
		WHERE to_regclass(t || '_' || $2::int) IS NULL ORDER BY i`, dayTables, day))
}

// withDay runs f with the exclusive lock of a day: no other process writes to the day's partitions, creates or
// drops them.
func withDay(ctx context.Context, conn *pgx.Conn, day int32, f func() error) error {
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1, $2)`, lockDay, day); err != nil {
		return err
	}
	err := f()
	if _, fault := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1, $2)`, lockDay, day); fault != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // ends the session, which releases the lock
	}
	return err
}

// dropPartitions drops a day's partitions. It can be interrupted after each step: it renames them
// in one transaction, so that no writer finds them, detaches them and drops them. Renaming locks
// the tables in the order of dayTables. The caller is within withDay.
func dropPartitions(ctx context.Context, conn *pgx.Conn, day int32) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, table := range dayTables {
			_, err := tx.Exec(ctx, fmt.Sprintf(`ALTER TABLE IF EXISTS %s RENAME TO %s`, partition(table, day), condemnedName(table, day)))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return dropCondemned(ctx, conn, day)
}

func dropCondemned(ctx context.Context, conn *pgx.Conn, day int32) error {
	for _, table := range dayTables {
		if err := dropTable(ctx, conn, table, condemnedName(table, day)); err != nil {
			return err
		}
	}
	return nil
}

// dropTable drops a partition of a table, detached or not, if it exists.
func dropTable(ctx context.Context, conn *pgx.Conn, table, name string) error {
	var found, attached, pending bool
	err := conn.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL, count(*) > 0, coalesce(bool_or(inhdetachpending), false)
		FROM pg_inherits WHERE inhrelid = to_regclass($1)`, name).Scan(&found, &attached, &pending)
	if err != nil || !found {
		return err
	}
	mode := "CONCURRENTLY"
	if pending {
		mode = "FINALIZE"
	}
	if attached {
		if _, err := conn.Exec(ctx, fmt.Sprintf(`ALTER TABLE %s DETACH PARTITION %s %s`, table, name, mode)); err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, `DROP TABLE IF EXISTS `+name)
	return err
}

// partitions returns the days before a day that have a partition, also one that is being dropped.
func partitions(ctx context.Context, conn *pgx.Conn, before int64) ([]int32, error) {
	return collect[int32](conn.Query(ctx, `SELECT DISTINCT day FROM (
			SELECT substring(c.relname FROM '^qos_(?:frame|chunk|packed)_([0-9]{1,9})(?:_condemned)?$')::int AS day FROM pg_class c
			WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)) d
		WHERE day > 0 AND day < $1 ORDER BY day`, before))
}
