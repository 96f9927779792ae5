package postgres

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/follow"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/storage/internal/term"
)

// tx is one transaction of a writer. What it writes is queued and sent together: at the
// end, or before a statement has to see it.
type tx struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one call
	w    *writer
	jobs []*job

	rows   map[int64]frames.SessionRow // of the sessions that are locked
	have   map[frameID][]frames.Run    // what is stored of the frames
	tables map[int64]*table
	places map[int64]int64 // of conferences

	frames       map[int32]*frameColumns // by day
	described    map[int64]frames.SessionRow
	stretched    map[int64]instance.Span
	restarted    map[int64]bool // conferences whose start is another
	participants map[participant]bool
	recorded     map[int64][]term.Term // by records of activity, of conferences
	renames      map[participant][]term.Rename

	visits  map[visit]bool          // that are there, or queued
	visited []visit                 // that are queued
	known   map[participant]bool    // that are there, or queued
	changed map[int64]bool          // sessions whose description is another
	apps    map[int64]string        // of the sessions that are locked
	writing map[conferenceTerm]bool // that this transaction has written, or queued

	revision int64 // of the settings

	changes   follow.Changes
	summaries int           // that were written
	left      map[int64]int // values that there was no room for, by conference
}

type frameID struct{ session, seq int64 }

type participant struct{ conference, session int64 }

// visit is a session in a place.
type visit struct{ place, session int64 }

// wanted is what a transaction locks and reads first.
type wanted struct {
	sessions, places map[int64]bool
	visits           map[visit]bool
	spans            map[int64]instance.Span // by place
	frames           map[int32]map[frameID]bool
}

// begin locks and reads all that the jobs need, in one round trip.
func (t *tx) begin() error {
	t.rows, t.have, t.tables = map[int64]frames.SessionRow{}, map[frameID][]frames.Run{}, map[int64]*table{}
	t.places, t.visits = map[int64]int64{}, map[visit]bool{}
	t.known, t.changed, t.apps = map[participant]bool{}, map[int64]bool{}, map[int64]string{}
	t.writing, t.left = map[conferenceTerm]bool{}, map[int64]int{}
	t.clear()
	want := t.want()
	sessions, places := slices.Sorted(maps.Keys(want.sessions)), slices.Sorted(maps.Keys(want.places))
	days := slices.Sorted(maps.Keys(want.frames))
	b := &pgx.Batch{}
	b.Queue(`BEGIN`)
	b.Queue(`SELECT pg_advisory_xact_lock_shared($1, day) FROM unnest($2::int[]) day`, lockDay, days)
	b.Queue(`SELECT key, user_id, user_alias, details FROM qos_session WHERE key = ANY ($1) ORDER BY key FOR UPDATE`, sessions).Query(t.readSessions)
	locked := 0
	b.Queue(`SELECT key FROM qos_place WHERE key = ANY ($1) ORDER BY key FOR UPDATE`, places).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			locked++
		}
		return rows.Err()
	})
	for _, day := range days {
		var ids, seqs []int64
		for id := range want.frames[day] {
			ids, seqs = append(ids, id.session), append(seqs, id.seq)
		}
		// OFFSET 0 keeps the planner from reading all frames of a place and comparing each with q.
		const asked = ` FROM unnest($1::bigint[], $2::bigint[]) q (session, seq) JOIN qos_visit v ON v.session = q.session CROSS JOIN LATERAL (
				SELECT x.idx, x.n FROM `
		b.Queue(`SELECT q.session, q.seq, f.idx, f.n`+asked+partition(frameTable, day)+` x
				WHERE x.place = v.place AND x.session = q.session AND x.seq = q.seq OFFSET 0) f
			UNION ALL SELECT q.session, q.seq, p.idx, p.n`+asked+partition(packedTable, day)+` x
				WHERE x.place = v.place AND x.session = q.session AND x.first BETWEEN q.seq - $3 AND q.seq AND x.last >= q.seq OFFSET 0) p
			ORDER BY 1, 2, 3`, ids, seqs, int64(chunk.MaxRecords)).Query(t.readFrames)
	}
	t.queueVisits(b, want)
	t.queueTables(b, places, want.spans)
	t.queueKnown(b, want)
	b.Queue(dialect.SQL(sqlstore.SettingsRevision)).QueryRow(t.readRevision)
	if err := t.w.conn.SendBatch(t.ctx, b).Close(); err != nil {
		return err
	}
	if len(t.rows) < len(sessions) || locked < len(places) {
		return errStale
	}
	return t.readErasures()
}

// queueVisits reads which of the jobs' sessions have frames of the places that are written to.
func (t *tx) queueVisits(b *pgx.Batch, want *wanted) {
	var sessions, places []int64
	for v := range want.visits {
		sessions, places = append(sessions, v.session), append(places, v.place)
	}
	b.Queue(`SELECT v.session, v.place FROM unnest($1::bigint[], $2::bigint[]) q (session, place)
		JOIN qos_visit v ON v.session = q.session AND v.place = q.place`, sessions, places).Query(func(rows pgx.Rows) error {
		var v visit
		_, err := pgx.ForEachRow(rows, []any{&v.session, &v.place}, func() error { t.visits[v] = true; return nil })
		return err
	})
}

// want collects what the jobs need.
func (t *tx) want() *wanted {
	w := &wanted{map[int64]bool{}, map[int64]bool{}, map[visit]bool{}, map[int64]instance.Span{}, map[int32]map[frameID]bool{}}
	for _, j := range t.jobs {
		if j.summary != nil {
			w.place(t.w.places[j.place], j.summary.Span)
		}
		for i := range j.batches {
			b := &j.batches[i]
			s := t.w.sessions[b.Session]
			w.sessions[s.key], t.apps[s.key] = true, b.Session.App
			if w.frames[s.day] == nil {
				w.frames[s.day] = map[frameID]bool{}
			}
			for f := range b.Frames {
				w.frames[s.day][frameID{s.key, b.Frames[f].Seq}] = true
				place := t.w.places[b.Frames[f].Place]
				w.visits[visit{place, s.key}] = true
				w.place(place, instance.At(b.Frames[f].PlaceTime()))
			}
		}
	}
	return w
}

func (w *wanted) place(key int64, span instance.Span) {
	if w.places[key] {
		span = span.Union(w.spans[key])
	}
	w.places[key], w.spans[key] = true, span
}

func (t *tx) readSessions(rows pgx.Rows) error {
	var key int64
	var user, alias, details []byte
	_, err := pgx.ForEachRow(rows, []any{&key, &user, &alias, &details}, func() error {
		t.rows[key] = frames.SessionRow{UserID: string(user), UserAlias: string(alias), Details: string(details)}
		return nil
	})
	return err
}

func (t *tx) readFrames(rows pgx.Rows) error {
	var id frameID
	var idx, n int
	_, err := pgx.ForEachRow(rows, []any{&id.session, &id.seq, &idx, &n}, func() error {
		t.have[id] = append(t.have[id], frames.Run{From: idx, To: idx + n})
		return nil
	})
	return err
}

// describe queues the newest description of a session.
func (t *tx) describe(session int64, row frames.SessionRow) {
	if t.rows[session] != row {
		t.rows[session], t.described[session], t.changed[session] = row, row, true
	}
}

// frameColumns are rows of frames by column, as one statement takes them.
type frameColumns struct {
	session, seq, place, at, conferenceAt, observedAt, fabric []int64
	idx, n                                                    []int32
	activity                                                  []bool
	body                                                      [][]byte
}

func (t *tx) insert(s sessionKey, f *frames.Row) {
	c := t.frames[s.day]
	if c == nil {
		c = &frameColumns{}
		t.frames[s.day] = c
	}
	place := t.w.places[f.Place]
	if v := (visit{place, s.key}); !t.visits[v] {
		t.visits[v], t.visited = true, append(t.visited, v)
	}
	c.session, c.seq, c.place = append(c.session, s.key), append(c.seq, f.Seq), append(c.place, place)
	c.at, c.conferenceAt = append(c.at, f.At), append(c.conferenceAt, f.ConferenceAt)
	c.observedAt, c.fabric = append(c.observedAt, f.ObservedAt), append(c.fabric, int64(f.Fabric))
	c.idx, c.n = append(c.idx, int32(f.Idx)), append(c.n, int32(f.N))
	c.activity, c.body = append(c.activity, f.Activity), append(c.body, f.Body)
}

func (t *tx) clear() {
	t.visited = nil
	t.frames, t.described = map[int32]*frameColumns{}, map[int64]frames.SessionRow{}
	t.stretched, t.participants = map[int64]instance.Span{}, map[participant]bool{}
	t.restarted, t.recorded, t.renames = map[int64]bool{}, map[int64][]term.Term{}, map[participant][]term.Rename{}
}

// flush sends what is queued, and last in the same round trip.
func (t *tx) flush(last ...string) error {
	terms, left, err := t.newTerms()
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	if len(t.visited) > 0 {
		var sessions, places []int64
		for _, v := range t.visited {
			sessions, places = append(sessions, v.session), append(places, v.place)
		}
		b.Queue(`INSERT INTO qos_visit (session, place) SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING`, sessions, places)
	}
	for day, c := range t.frames {
		b.Queue(`INSERT INTO `+partition(frameTable, day)+` (day, session, seq, place, at, conference_at, observed_at, fabric, idx, n, activity, body)
			SELECT `+strconv.Itoa(int(day))+`, * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
				$7::bigint[], $8::int[], $9::int[], $10::bool[], $11::bytea[])`,
			c.session, c.seq, c.place, c.at, c.conferenceAt, c.observedAt, c.fabric, c.idx, c.n, c.activity, c.body)
	}
	for key, row := range t.described {
		b.Queue(`UPDATE qos_session SET user_id = $1, user_alias = $2, details = $3 WHERE key = $4`,
			[]byte(row.UserID), []byte(row.UserAlias), []byte(row.Details), key)
	}
	if len(t.stretched) > 0 {
		var places, keys, starts, ends []int64
		for key, span := range t.stretched {
			places, keys, starts, ends = append(places, t.places[key]), append(keys, key), append(starts, span.Start), append(ends, span.End)
		}
		b.Queue(`UPDATE qos_conference c SET start_ms = q.s, end_ms = q.e
			FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) q (place, key, s, e) WHERE c.place = q.place AND c.key = q.key`,
			places, keys, starts, ends)
	}
	if len(t.restarted) > 0 {
		b.Queue(`UPDATE qos_term t SET start_ms = c.start_ms FROM qos_conference c
			WHERE t.conference = ANY ($1) AND c.place = t.place AND c.key = t.conference`, slices.Collect(maps.Keys(t.restarted)))
	}
	if len(t.participants) > 0 {
		var places, conferences, sessions []int64
		for p := range t.participants {
			places, conferences, sessions = append(places, t.places[p.conference]), append(conferences, p.conference), append(sessions, p.session)
		}
		b.Queue(`INSERT INTO qos_participant (place, conference, session)
			SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING`, places, conferences, sessions)
	}
	t.queueTerms(b, terms, left)
	t.queueRenames(b)
	for key, n := range left {
		t.left[key] += n
	}
	for _, statement := range last {
		b.Queue(statement)
	}
	t.clear()
	if b.Len() == 0 {
		return nil
	}
	return t.w.conn.SendBatch(t.ctx, b).Close()
}

func (t *tx) commit() error { return t.flush(`COMMIT`) }

// row sends what is queued, then reads one row.
func (t *tx) row(dest []any, query string, args ...any) error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.w.conn.QueryRow(t.ctx, query, args...).Scan(dest...)
}

// conferences reads rows as package join wants them.
func conferences(rows pgx.Rows, each func(place int64, c join.Row)) error {
	var c join.Row
	var place int64
	var revision, start, end *int64
	_, err := pgx.ForEachRow(rows, []any{&place, &c.Key, &c.Span.Start, &c.Span.End, &c.Packed, &revision, &start, &end}, func() error {
		c.Summary = nil
		if revision != nil {
			c.Summary = &join.Order{Revision: *revision, Span: instance.Span{Start: *start, End: *end}}
		}
		each(place, c)
		return nil
	})
	return err
}
