package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// Detach implements join.Table.
func (p *table) Detach(session, at int64) error {
	p.unattached = true
	return p.sqlRows().Detach(session, at)
}

// Attach implements join.Table. The flag avoids a query for every frame of a live call: unattached
// annotations are rare.
func (p *table) Attach(span instance.Span) (sessions []int64, err error) {
	if !p.unattached {
		return nil, nil
	}
	if err := p.t.flush(); err != nil {
		return nil, err
	}
	rows, err := p.t.w.conn.Query(p.t.ctx, `DELETE FROM qos_unattached u USING qos_session s
		WHERE u.place = $1 AND u.conference_at BETWEEN $2 AND $3 AND s.key = u.session RETURNING s.key, s.day`, p.place, span.Start, span.End)
	if err != nil {
		return nil, err
	}
	var key int64
	var day int32
	_, err = pgx.ForEachRow(rows, []any{&key, &day}, func() error {
		sessions = append(sessions, key)
		if p.days != nil {
			p.days[day] = true
		}
		return nil
	})
	return sessions, err
}

// deleteUnattached deletes up to deleteConferences old entries of qos_unattached with their annotations,
// and returns their number.
func deleteUnattached(ctx context.Context, conn *pgx.Conn, d deletion) (deleted int, err error) {
	var sessions []int64
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		places, err := collect[int64](tx.Query(ctx, `SELECT place FROM qos_unattached WHERE conference_at < $1`+d.ofApp(3)+`
			ORDER BY conference_at LIMIT $2`, d.args(d.beforeMs, deleteConferences)...))
		if err != nil {
			return err
		}
		if places, err = collect[int64](tx.Query(ctx, `SELECT key FROM qos_place WHERE key = ANY ($1) ORDER BY key FOR UPDATE`, places)); err != nil {
			return err
		}
		sessions, err = collect[int64](tx.Query(ctx, `WITH old AS (
				SELECT u.place, u.conference_at, u.session, s.day FROM qos_unattached u JOIN qos_session s ON s.key = u.session
				WHERE u.place = ANY ($1) AND u.conference_at < $2 ORDER BY u.conference_at LIMIT $3),
			frames AS (DELETE FROM qos_frame f USING old WHERE f.day = old.day AND f.place = old.place AND f.conference_at = old.conference_at
				AND f.session = old.session AND NOT f.activity),
			gone AS (DELETE FROM qos_unattached u USING old WHERE u.place = old.place AND u.conference_at = old.conference_at AND u.session = old.session
				RETURNING u.session)
			SELECT session FROM gone`, places, d.beforeMs, deleteConferences))
		if err != nil {
			return err
		}
		return deleteUnusedPlaces(ctx, tx, places)
	})
	if err != nil {
		return 0, err
	}
	return len(sessions), deleteSessions(ctx, conn, `key = ANY ($1::bigint[])`, sessions)
}

// deleteUnusedPlaces deletes those rows of qos_place, which are locked, that nothing refers to.
func deleteUnusedPlaces(ctx context.Context, tx pgx.Tx, places []int64) error {
	for _, place := range places {
		if err := sqlstore.DeleteUnusedPlace(querier{ctx, tx}, place); err != nil {
			return err
		}
	}
	return nil
}
