package main

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/term"
)

// values are the columns of a conference after its key and place; text says how the engine
// keeps texts.
func (r listing) values(text func(string) any) []any {
	out := []any{text(r.app), r.start.UnixMilli(), r.end.UnixMilli(), true}
	if r.summary == nil {
		return append(out, nil, nil, nil, nil, nil, nil, nil, nil)
	}
	s := r.summary
	return append(out, s.Revision, s.Start.UnixMilli(), s.End.UnixMilli(), text(s.Outcome), s.Participants, *s.MOS, text(s.Label), r.document)
}

// placeKeys gives places their keys: the first conference's.
type placeKeys map[[2]string]int64

func (p placeKeys) key(l listing, fresh int64) (key int64, known bool) {
	place := [2]string{l.app, l.conference}
	if key, known = p[place]; !known {
		p[place] = fresh
		return fresh, false
	}
	return key, true
}

// terms are those of a conference, as its participants' sessions say.
func (r listing) terms() map[term.Term]bool {
	out := map[term.Term]bool{}
	for _, s := range r.sessions {
		for _, t := range term.OfSession(r.app, s.user, s.user, details) {
			out[t] = true
		}
	}
	return out
}

// bulk implements engine.
func (e *sqliteEngine) bulk(ctx context.Context, n int, conference func(int) listing) error {
	// Without a log: what is made here is worth nothing until it is all there.
	db, err := sql.Open("sqlite", "file:"+e.path+"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=cache_size(-262144)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // what was committed is there
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	var statements [5]*sql.Stmt
	for i, text := range []string{
		`INSERT INTO place (key, app_id, conference_id) VALUES (?, ?, ?)`,
		`INSERT INTO session (key, app_id, id, user_id, user_alias, details) VALUES (?, ?, ?, ?, ?, ?)`,
		`INSERT INTO conference (key, place, app_id, start_ms, end_ms, activity,
			revision, summary_start, summary_end, outcome, participants, mos, label, document, told) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`,
		`INSERT INTO participant (conference, session) VALUES (?, ?)`,
		`INSERT INTO term (term, start_ms, conference, recorded) VALUES (?, ?, ?, 0)`,
	} {
		if statements[i], err = tx.PrepareContext(ctx, text); err != nil {
			return err
		}
	}
	insert := func(table int, values ...any) {
		if err == nil {
			_, err = statements[table].ExecContext(ctx, values...)
		}
	}
	places, session := placeKeys{}, int64(0)
	for i := 0; i < n && err == nil; i++ {
		r := conference(i)
		key := int64(i + 1)
		place, known := places.key(r, key)
		if !known {
			insert(0, place, r.app, r.conference)
		}
		insert(2, append([]any{key, place}, r.values(func(s string) any { return s })...)...)
		for _, s := range r.sessions {
			session++
			insert(1, session, r.app, s.id[:], s.user, s.user, string(s.details))
			insert(3, key, session)
		}
		for t := range r.terms() {
			insert(4, int64(t), r.start.UnixMilli(), key)
		}
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// bulk implements engine: a COPY a table, each over all conferences.
func (e *postgresEngine) bulk(ctx context.Context, n int, conference func(int) listing) error {
	conn, err := pgx.Connect(ctx, e.dsn(benchDatabase))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // its statements were committed
	session, places := int64(0), placeKeys{}
	bytes := func(s string) any { return []byte(s) }
	for _, t := range []struct {
		table   string
		columns []string
		rows    func(key int64, r listing) [][]any
	}{
		{"qos_place", []string{"key", "app_id", "conference_id"}, func(key int64, r listing) [][]any {
			if _, known := places.key(r, key); known {
				return nil
			}
			return [][]any{{key, []byte(r.app), []byte(r.conference)}}
		}},
		{"qos_session", []string{"key", "app_id", "id", "day", "user_id", "user_alias", "details"}, func(_ int64, r listing) (out [][]any) {
			for _, s := range r.sessions {
				session++
				out = append(out, []any{
					session, []byte(r.app), s.id[:], int32(r.start.Unix() / int64(day.Seconds())), []byte(s.user), []byte(s.user), s.details,
				})
			}
			return out
		}},
		{"qos_conference", []string{
			"key", "place", "app_id", "start_ms", "end_ms", "activity",
			"revision", "summary_start", "summary_end", "outcome", "participants", "mos", "label", "document", "told",
		}, func(key int64, r listing) [][]any {
			session = 0
			place, _ := places.key(r, key)
			return [][]any{append(append([]any{key, place}, r.values(bytes)...), true)}
		}},
		{"qos_term", []string{"term", "start_ms", "conference", "recorded"}, func(key int64, r listing) (out [][]any) {
			for t := range r.terms() {
				out = append(out, []any{int64(t), r.start.UnixMilli(), key, false})
			}
			return out
		}},
		{"qos_participant", []string{"conference", "session"}, func(key int64, r listing) (out [][]any) {
			for range r.sessions {
				session++
				out = append(out, []any{key, session})
			}
			return out
		}},
	} {
		if err := copyRows(ctx, conn, t.table, t.columns, n, conference, t.rows); err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, "VACUUM ANALYZE")
	return err
}

func copyRows(ctx context.Context, conn *pgx.Conn, table string, columns []string, n int,
	conference func(int) listing, rows func(int64, listing) [][]any,
) error {
	var waiting [][]any
	i := 0
	_, err := conn.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		for len(waiting) == 0 {
			if i == n {
				return nil, nil
			}
			r := conference(i)
			i++
			waiting = rows(int64(i), r)
		}
		row := waiting[0]
		waiting = waiting[1:]
		return row, nil
	}))
	return err
}
