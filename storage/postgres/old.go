package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/term"
)

const nextUntold = `SELECT c.key, c.place, p.app_id, p.conference_id, c.start_ms FROM qos_conference c
	JOIN qos_place p ON p.key = c.place WHERE NOT c.told ORDER BY c.start_ms DESC LIMIT 1`

// tellOld makes the terms and renames of conferences that an older version wrote, the newest first: so
// many at once, in a transaction each. The next call goes on.
func (s *Store) tellOld(ctx context.Context) error {
	for records, conferences := 0, 0; records < term.OldRecords && conferences < term.OldConferences; conferences++ {
		var key, place, start int64
		var app, id []byte
		err := s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return conn.QueryRow(ctx, nextUntold).Scan(&key, &place, &app, &id, &start)
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		old, err := term.OfConference(ctx, s, storage.Ref{AppID: string(app), ConferenceID: string(id), At: frames.FromMs(start)})
		if err != nil {
			return err
		}
		records += old.Records
		err = s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return tellAll(ctx, tx, key, place, old) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tellAll adds all its terms and renames to a conference that still exists and lacks them.
func tellAll(ctx context.Context, tx pgx.Tx, key, place int64, old term.Old) error {
	if _, err := tx.Exec(ctx, `SELECT 1 FROM qos_place WHERE key = $1 FOR UPDATE`, place); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `UPDATE qos_conference SET told = true WHERE key = $1 AND NOT told`, key)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	if err := renameOld(ctx, tx, key, old.Renames); err != nil {
		return err
	}
	have, sessions := term.Kept{}, map[int64][]term.Term{}
	b := &pgx.Batch{}
	b.Queue(`SELECT term, recorded FROM qos_term WHERE conference = $1`, key).Query(func(rows pgx.Rows) error {
		var one term.Term
		var recorded bool
		_, err := pgx.ForEachRow(rows, []any{&one, &recorded}, func() error { have[one] = recorded; return nil })
		return err
	})
	b.Queue(selectSessions+`JOIN qos_participant p ON p.session = s.key WHERE p.conference = $1`, key).Query(readSessionTerms(sessions))
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	add := telling{map[int64]term.Kept{key: have}, map[told]bool{}, map[int64]int{}}
	add.terms(key, old.Terms, true)
	for _, some := range sessions {
		add.terms(key, some, false)
	}
	b = &pgx.Batch{}
	queueTerms(b, add.writes, add.left)
	return tx.SendBatch(ctx, b).Close()
}
