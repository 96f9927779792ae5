package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"sync/atomic"
)

// maxWords bounds the dictionary. Names beyond it are written out in each body: records
// from elsewhere may bring any number of names.
const maxWords = 4096

// dictionary maps the words of the store to ids and back. Only committed words are in
// it, and a word is never removed.
type dictionary struct {
	current atomic.Pointer[words]
}

type words struct {
	ids   map[string]uint64
	texts map[uint64]string
}

func loadDictionary(ctx context.Context, db *sql.DB) (*dictionary, error) {
	rows, err := db.QueryContext(ctx, "SELECT id, text FROM word")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	w := &words{ids: map[string]uint64{}, texts: map[uint64]string{}}
	for rows.Next() {
		var id uint64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, err
		}
		w.ids[text], w.texts[id] = id, text
	}
	d := &dictionary{}
	d.current.Store(w)
	return d, rows.Err()
}

// text returns the word of an id.
func (d *dictionary) text(id uint64) (string, bool) {
	text, ok := d.current.Load().texts[id]
	return text, ok
}

// full says whether no more words can be learnt.
func (d *dictionary) full() bool { return len(d.current.Load().ids) >= maxWords }

// add takes in committed words. Only the writer calls it.
func (d *dictionary) add(learnt map[string]uint64) {
	have := d.current.Load()
	next := &words{ids: maps.Clone(have.ids), texts: maps.Clone(have.texts)}
	for text, id := range learnt {
		next.ids[text], next.texts[id] = id, text
	}
	d.current.Store(next)
}

// learn gives words ids and commits them, before any body uses them.
func (s *Store) learn(ctx context.Context, missing map[string]bool) error {
	var learnt map[string]uint64
	return s.writer.do(ctx, job{
		run: func(t *tx) error {
			learnt = map[string]uint64{}
			room := maxWords - len(s.words.current.Load().ids)
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
		committed: func() { s.words.add(learnt) },
	})
}
