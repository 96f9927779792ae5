package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// partition is the name of a day's partition.
func partition(day int32) string { return fmt.Sprintf("qos_frame_%d", day) }

// condemned is its name while it is being dropped: nobody writes to it any more.
func condemned(day int32) string { return fmt.Sprintf("qos_frame_%d_condemned", day) }

// makePartition makes a day's partition where there is none. It is made beside the table
// and then attached, which blocks no writer.
func makePartition(ctx context.Context, conn *pgx.Conn, day int32) error {
	found, err := exists(ctx, conn, partition(day))
	if err != nil || found {
		return err
	}
	return withDay(ctx, conn, day, func() error {
		if err := dropCondemned(ctx, conn, day); err != nil { // a drop that stopped half-way
			return err
		}
		found, err := exists(ctx, conn, partition(day))
		if err != nil || found {
			return err
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %s (LIKE qos_frame INCLUDING ALL)`, partition(day)))
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, fmt.Sprintf(`ALTER TABLE qos_frame ATTACH PARTITION %s FOR VALUES IN (%d)`, partition(day), day))
			return err
		})
	})
}

// withDay runs f while nobody else writes to the day's partition, makes or drops it.
func withDay(ctx context.Context, conn *pgx.Conn, day int32, f func() error) error {
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1, $2)`, lockDay, day); err != nil {
		return err
	}
	err := f()
	if _, fault := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1, $2)`, lockDay, day); fault != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // the lock goes with the session
	}
	return err
}

func exists(ctx context.Context, conn *pgx.Conn, name string) (found bool, err error) {
	err = conn.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&found)
	return found, err
}

// dropPartition drops a day's partition, in steps of which any may be the last: renamed,
// so that no writer finds it; detached; dropped. The caller is within withDay.
func dropPartition(ctx context.Context, conn *pgx.Conn, day int32) error {
	_, err := conn.Exec(ctx, fmt.Sprintf(`ALTER TABLE IF EXISTS %s RENAME TO %s`, partition(day), condemned(day)))
	if err != nil {
		return err
	}
	return dropCondemned(ctx, conn, day)
}

func dropCondemned(ctx context.Context, conn *pgx.Conn, day int32) error {
	found, err := exists(ctx, conn, condemned(day))
	if err != nil || !found {
		return err
	}
	var attached, pending bool
	err = conn.QueryRow(ctx, `SELECT count(*) > 0, coalesce(bool_or(inhdetachpending), false)
		FROM pg_inherits WHERE inhrelid = to_regclass($1)`, condemned(day)).Scan(&attached, &pending)
	if err != nil {
		return err
	}
	how := "CONCURRENTLY"
	if pending {
		how = "FINALIZE"
	}
	if attached {
		_, err := conn.Exec(ctx, fmt.Sprintf(`ALTER TABLE qos_frame DETACH PARTITION %s %s`, condemned(day), how))
		if err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, `DROP TABLE IF EXISTS `+condemned(day))
	return err
}

// partitions returns the days that have a partition, or one that is half dropped, before a
// day.
func partitions(ctx context.Context, conn *pgx.Conn, before int64) ([]int32, error) {
	rows, err := conn.Query(ctx, `SELECT day FROM (
			SELECT substring(c.relname FROM '^qos_frame_([0-9]{1,9})(?:_condemned)?$')::int AS day FROM pg_class c
			WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid)) d
		WHERE day > 0 AND day < $1 ORDER BY day`, before)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}
