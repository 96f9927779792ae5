package postgres

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/frames"
)

// wordMark is the highest id of the words that were loaded. Words are learnt one writer
// at a time, so that ids are committed in order.
type wordMark struct{ atomic.Int64 }

const wordsAfter = `SELECT id, text FROM qos_word WHERE id > $1 ORDER BY id`

// loadWords loads what other collectors, or this one, have learnt.
func (s *Store) loadWords(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, wordsAfter, s.learnt.Load())
	if err != nil {
		return err
	}
	return s.takeWords(rows)
}

func (s *Store) takeWords(rows pgx.Rows) error {
	known := map[string]uint64{}
	var id, last int64
	var text []byte
	_, err := pgx.ForEachRow(rows, []any{&id, &text}, func() error {
		known[string(text)], last = uint64(id), id
		return nil
	})
	if err != nil || len(known) == 0 {
		return err
	}
	s.words.Add(known)
	for have := s.learnt.Load(); have < last && !s.learnt.CompareAndSwap(have, last); {
		have = s.learnt.Load()
	}
	return nil
}

// learn gives words ids and commits them, before any body uses them.
func (s *Store) learn(ctx context.Context, missing map[string]bool) error {
	return s.reading(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, 1)`, lockSchema); err != nil {
				return err
			}
			texts := make([][]byte, 0, len(missing))
			for text := range missing {
				texts = append(texts, []byte(text))
			}
			_, err := tx.Exec(ctx, `INSERT INTO qos_word (text)
				SELECT t FROM unnest($1::bytea[]) t WHERE NOT EXISTS (SELECT 1 FROM qos_word w WHERE w.text = t)
				LIMIT greatest(0, $2 - (SELECT count(*) FROM qos_word))`, texts, frames.MaxWords)
			return err
		})
		if err != nil {
			return err
		}
		return s.loadWords(ctx, conn)
	})
}
