package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// deleteConferences is how many conferences one transaction deletes.
const deleteConferences = 50

// old selects what is deleted: what ended before a time, of all apps or of one (a value, nil: all).
type old struct {
	beforeMs int64
	appID    []byte
}

// DeleteBefore implements storage.Remover. Partitions of which nothing remains are dropped whole;
// the rest goes in small transactions.
func (s *Store) DeleteBefore(ctx context.Context, before time.Time) (n int, err error) {
	ms := before.UnixMilli()
	err = s.read.with(ctx, func(conn *pgx.Conn) error {
		days, err := dropBefore(ctx, conn, ms)
		if err != nil {
			return err
		}
		if n, err = deleteAll(ctx, conn, old{beforeMs: ms}); err != nil {
			return err
		}
		return deleteSessions(ctx, conn, `day = ANY ($1::int[])`, days)
	})
	if err != nil {
		return n, s.wrap("delete", err)
	}
	return n, nil
}

// DeleteAppBefore implements storage.Remover.
func (s *Store) DeleteAppBefore(ctx context.Context, appID string, before time.Time) (n int, err error) {
	err = s.read.with(ctx, func(conn *pgx.Conn) error {
		n, err = deleteAll(ctx, conn, old{before.UnixMilli(), []byte(appID)})
		return err
	})
	if err != nil {
		return n, s.wrap("delete", err)
	}
	return n, nil
}

// ofApp is the condition of an app whose value has a number.
func (o old) ofApp(number int) string {
	if o.appID == nil {
		return ""
	}
	return fmt.Sprintf(" AND app_id = $%d", number)
}

// args adds the value of the app, if there is one.
func (o old) args(values ...any) []any {
	if o.appID == nil {
		return values
	}
	return append(values, o.appID)
}

// deleteAll deletes what is old, and returns the number of conferences.
func deleteAll(ctx context.Context, conn *pgx.Conn, o old) (n int, err error) {
	for deleted := 1; deleted > 0; n += deleted {
		if deleted, err = deleteSome(ctx, conn, o); err != nil {
			return n + deleted, err
		}
	}
	for deleted := 1; deleted > 0; {
		if deleted, err = deleteUnattached(ctx, conn, o); err != nil {
			return n, err
		}
	}
	return n, deletePreCalls(ctx, conn, o)
}

// dropBefore drops the partitions of days before a time whose sessions took part in
// nothing that is to be kept, and returns the days.
func dropBefore(ctx context.Context, conn *pgx.Conn, before int64) (dropped []int32, err error) {
	days, err := partitions(ctx, conn, dayOf(before))
	if err != nil {
		return nil, err
	}
	for _, day := range days {
		err := withDay(ctx, conn, day, func() error {
			var kept bool
			err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM qos_session s
				JOIN qos_participant p ON p.session = s.key JOIN qos_conference c ON c.place = p.place AND c.key = p.conference
				WHERE s.day = $1 AND c.end_ms >= $2)
				OR EXISTS (SELECT 1 FROM qos_session s JOIN qos_unattached u ON u.session = s.key
				WHERE s.day = $1 AND u.conference_at >= $2)`, day, before).Scan(&kept)
			if err != nil || kept {
				return err
			}
			dropped = append(dropped, day)
			return dropPartitions(ctx, conn, day)
		})
		if err != nil {
			return dropped, err
		}
	}
	return dropped, nil
}

// deleteSome deletes some conferences and returns their number.
func deleteSome(ctx context.Context, conn *pgx.Conn, o old) (deleted int, err error) {
	var sessions []int64
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		places, err := collect[int64](tx.Query(ctx, `SELECT place FROM qos_conference
			WHERE start_ms < $1 AND end_ms < $1`+o.ofApp(3)+` ORDER BY start_ms LIMIT $2`, o.args(o.beforeMs, deleteConferences)...))
		if err != nil {
			return err
		}
		if places, err = collect[int64](tx.Query(ctx, `SELECT key FROM qos_place WHERE key = ANY ($1) ORDER BY key FOR UPDATE`, places)); err != nil {
			return err
		}
		deleted, sessions, err = deleteIn(ctx, tx, places, o.beforeMs)
		if err != nil {
			return err
		}
		return deleteUnusedPlaces(ctx, tx, places)
	})
	if err != nil {
		return 0, err
	}
	return deleted, deleteSessions(ctx, conn, `key = ANY ($1::bigint[])`, sessions)
}

// deleteIn deletes what ended before a time in places that are locked.
func deleteIn(ctx context.Context, tx pgx.Tx, places []int64, before int64) (deleted int, sessions []int64, err error) {
	rows, err := tx.Query(ctx, tableColumns+`qos_conference c WHERE c.place = ANY ($1) AND c.start_ms < $2 AND c.end_ms < $2
		ORDER BY c.start_ms LIMIT $3`, places, before, deleteConferences)
	if err != nil {
		return 0, nil, err
	}
	var found []sqlstore.Located
	err = conferences(rows, func(place int64, c join.Row) {
		found = append(found, sqlstore.Located{Row: c, Place: place})
	})
	for i := 0; i < len(found) && err == nil; i++ {
		var who []int64
		who, err = deleteOne(asked{ctx, tx}, found[i])
		sessions = append(sessions, who...)
	}
	return len(found), sessions, err
}

func deleteOne(tx sqlstore.Tx, c sqlstore.Located) (sessions []int64, err error) {
	if c.Own, err = sqlstore.OwnTimes(tx, c.Place, c.Row); err != nil {
		return nil, err
	}
	days, err := tx.Days(c.Place, c.Span)
	if err != nil {
		return nil, err
	}
	if _, err := sqlstore.DeleteFrames(tx, c, days, math.MaxInt64); err != nil {
		return nil, err
	}
	return sqlstore.Rows{Tx: tx, Place: c.Place}.Delete(c.Key)
}

// deleteSessions deletes those of the sessions that where selects in which nobody is
// interested: they take part in nothing, and no writer has them locked. Two statements,
// for the second must see what those wrote that had the lock before.
func deleteSessions[T int32 | int64](ctx context.Context, conn *pgx.Conn, where string, keys []T) error {
	if len(keys) == 0 {
		return nil
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		const unused = ` AND NOT EXISTS (SELECT 1 FROM qos_participant p WHERE p.session = s.key)
			AND NOT EXISTS (SELECT 1 FROM qos_unattached u WHERE u.session = s.key)`
		locked, err := collect[int64](tx.Query(ctx, `SELECT key FROM qos_session s WHERE `+where+unused+` ORDER BY key FOR UPDATE SKIP LOCKED`, keys))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `WITH gone AS (DELETE FROM qos_session s WHERE key = ANY ($1)`+unused+` RETURNING key)
			DELETE FROM qos_visit v USING gone WHERE v.session = gone.key`, locked)
		return err
	})
}

func collect[T any](rows pgx.Rows, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}
