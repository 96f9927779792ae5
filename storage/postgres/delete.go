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

// deleteConferences is the number of conferences that one transaction deletes.
const deleteConferences = 50

// deletion selects what is deleted: whatever ended before a time, of one app or of all.
type deletion struct {
	beforeMs int64
	appID    []byte // nil: all apps
}

// DeleteBefore implements storage.Remover. It drops partitions that hold nothing to keep, and
// deletes other rows in small transactions.
func (s *Store) DeleteBefore(ctx context.Context, before time.Time) (n int, err error) {
	ms := before.UnixMilli()
	err = s.read.withConn(ctx, func(conn *pgx.Conn) error {
		days, err := dropBefore(ctx, conn, ms)
		if err != nil {
			return err
		}
		if n, err = deleteAll(ctx, conn, deletion{beforeMs: ms}); err != nil {
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
	err = s.read.withConn(ctx, func(conn *pgx.Conn) error {
		n, err = deleteAll(ctx, conn, deletion{before.UnixMilli(), []byte(appID)})
		return err
	})
	if err != nil {
		return n, s.wrap("delete", err)
	}
	return n, nil
}

// ofApp returns the condition on the app, with the number of its parameter; empty for all apps.
func (d deletion) ofApp(number int) string {
	if d.appID == nil {
		return ""
	}
	return fmt.Sprintf(" AND app_id = $%d", number)
}

// args appends the parameter of ofApp to values.
func (d deletion) args(values ...any) []any {
	if d.appID == nil {
		return values
	}
	return append(values, d.appID)
}

// deleteAll deletes everything that d selects, and returns the number of conferences.
func deleteAll(ctx context.Context, conn *pgx.Conn, d deletion) (n int, err error) {
	for deleted := 1; deleted > 0; n += deleted {
		if deleted, err = deleteSome(ctx, conn, d); err != nil {
			return n + deleted, err
		}
	}
	for deleted := 1; deleted > 0; {
		if deleted, err = deleteUnattached(ctx, conn, d); err != nil {
			return n, err
		}
	}
	return n, deletePreCalls(ctx, conn, d)
}

// dropBefore drops the partitions of days before a time if no session of the day takes part in a
// conference, or has an unattached annotation, that is kept. It returns these days.
func dropBefore(ctx context.Context, conn *pgx.Conn, before int64) (dropped []int32, err error) {
	days, err := partitions(ctx, conn, dayOf(before))
	if err != nil {
		return nil, err
	}
	for _, day := range days {
		err := withDay(ctx, conn, day, func() error {
			var needed bool
			err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM qos_session s
				JOIN qos_participant p ON p.session = s.key JOIN qos_conference c ON c.place = p.place AND c.key = p.conference
				WHERE s.day = $1 AND c.end_ms >= $2)
				OR EXISTS (SELECT 1 FROM qos_session s JOIN qos_unattached u ON u.session = s.key
				WHERE s.day = $1 AND u.conference_at >= $2)`, day, before).Scan(&needed)
			if err != nil || needed {
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

// deleteSome deletes up to deleteConferences conferences and returns their number.
func deleteSome(ctx context.Context, conn *pgx.Conn, d deletion) (deleted int, err error) {
	var sessions []int64
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		places, err := collect[int64](tx.Query(ctx, `SELECT place FROM qos_conference
			WHERE start_ms < $1 AND end_ms < $1`+d.ofApp(3)+` ORDER BY start_ms LIMIT $2`, d.args(d.beforeMs, deleteConferences)...))
		if err != nil {
			return err
		}
		if places, err = collect[int64](tx.Query(ctx, `SELECT key FROM qos_place WHERE key = ANY ($1) ORDER BY key FOR UPDATE`, places)); err != nil {
			return err
		}
		deleted, sessions, err = deleteIn(ctx, tx, places, d.beforeMs)
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

// deleteIn deletes the conferences that ended before a time, of rows of qos_place that are locked.
func deleteIn(ctx context.Context, tx pgx.Tx, places []int64, before int64) (deleted int, sessions []int64, err error) {
	rows, err := tx.Query(ctx, tableColumns+`qos_conference c WHERE c.place = ANY ($1) AND c.start_ms < $2 AND c.end_ms < $2
		ORDER BY c.start_ms LIMIT $3`, places, before, deleteConferences)
	if err != nil {
		return 0, nil, err
	}
	var expired []sqlstore.Located
	err = conferences(rows, func(place int64, c join.Row) {
		expired = append(expired, sqlstore.Located{Row: c, Place: place})
	})
	for i := 0; i < len(expired) && err == nil; i++ {
		var conferenceSessions []int64
		conferenceSessions, err = deleteOne(querier{ctx, tx}, expired[i])
		sessions = append(sessions, conferenceSessions...)
	}
	return len(expired), sessions, err
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

// deleteSessions deletes those of the sessions that where selects which no conference and no
// unattached annotation refers to, and which no writer has locked. There are two statements, because
// the second must see what was committed by the previous owner of a lock.
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
