package sqlite

import (
	"context"
	"database/sql"

	"github.com/qosrtc/qos/storage/internal/frames"
)

func loadDictionary(ctx context.Context, db *sql.DB) (*frames.Dictionary, error) {
	rows, err := db.QueryContext(ctx, "SELECT id, text FROM word")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[string]uint64{}
	for rows.Next() {
		var id uint64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, err
		}
		known[text] = id
	}
	d := frames.NewDictionary()
	d.Add(known)
	return d, rows.Err()
}

// learn gives words ids and commits them, before any body uses them.
func (s *Store) learn(ctx context.Context, missing map[string]bool) error {
	var learnt map[string]uint64
	return s.writer.do(ctx, job{
		run: func(t *tx) error {
			learnt = map[string]uint64{}
			room := s.words.Room()
			for text := range missing {
				if len(learnt) == room {
					return nil
				}
				var id uint64
				err := t.row(`INSERT INTO word (text) VALUES (?) ON CONFLICT DO UPDATE SET text = text RETURNING id`, text).Scan(&id)
				if err != nil {
					return err
				}
				learnt[text] = id
			}
			return nil
		},
		committed: func() { s.words.Add(learnt) },
	})
}
