package postgres

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/follow"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/storage/internal/term"
)

// tx is one transaction of a writer. Writes are queued and sent together: at the
// end, or before a statement that must see them.
type tx struct {
	ctx  context.Context // it lives as long as one call
	w    *writer
	jobs []*job

	rows       map[int64]frames.SessionRow // stored rows of the locked sessions
	storedRuns map[frameID][]frames.Run    // stored records of the frames
	tables     map[int64]*table
	places     map[int64]int64 // key in qos_place, by conference

	frames       map[int32]*frameColumns // by day
	descriptions map[int64]frames.SessionRow
	newSpans     map[int64]instance.Span
	newStarts    map[int64]bool // conferences with a new start
	participants map[participant]bool
	recordTerms  map[int64][]term.Term // terms from records of activity, by conference
	renames      map[participant][]term.Rename

	knownVisits       map[visit]bool          // stored or queued
	newVisits         []visit                 // queued
	knownParticipants map[participant]bool    // stored or queued
	changedSessions   map[int64]bool          // sessions with a new description
	apps              map[int64]string        // AppIDs of the locked sessions
	queuedTerms       map[conferenceTerm]bool // written by this transaction, or queued

	revision int64 // of the settings

	changes      follow.Changes
	summaries    int           // number of summaries written
	droppedTerms map[int64]int // number of terms dropped, by conference
}

type frameID struct{ session, seq int64 }

type participant struct{ conference, session int64 }

// visit is a session with frames under a conferenceID (a row of qos_place).
type visit struct{ place, session int64 }

// lockSet is what a transaction locks and reads first.
type lockSet struct {
	sessions, places map[int64]bool
	visits           map[visit]bool
	spans            map[int64]instance.Span // by key in qos_place
	frames           map[int32]map[frameID]bool
}

// begin locks and reads all that the jobs need, in one round trip.
func (t *tx) begin() error {
	t.rows, t.storedRuns, t.tables = map[int64]frames.SessionRow{}, map[frameID][]frames.Run{}, map[int64]*table{}
	t.places, t.knownVisits = map[int64]int64{}, map[visit]bool{}
	t.knownParticipants, t.changedSessions, t.apps = map[participant]bool{}, map[int64]bool{}, map[int64]string{}
	t.queuedTerms, t.droppedTerms = map[conferenceTerm]bool{}, map[int64]int{}
	t.clear()
	locks := t.lockSet()
	sessions, places := slices.Sorted(maps.Keys(locks.sessions)), slices.Sorted(maps.Keys(locks.places))
	days := slices.Sorted(maps.Keys(locks.frames))
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
		for id := range locks.frames[day] {
			ids, seqs = append(ids, id.session), append(seqs, id.seq)
		}
		// OFFSET 0 keeps the planner from reading all frames of a conferenceID and comparing each with q.
		const lookup = ` FROM unnest($1::bigint[], $2::bigint[]) q (session, seq) JOIN qos_visit v ON v.session = q.session CROSS JOIN LATERAL (
				SELECT x.idx, x.n FROM `
		b.Queue(`SELECT q.session, q.seq, f.idx, f.n`+lookup+partition(frameTable, day)+` x
				WHERE x.place = v.place AND x.session = q.session AND x.seq = q.seq OFFSET 0) f
			UNION ALL SELECT q.session, q.seq, p.idx, p.n`+lookup+partition(packedTable, day)+` x
				WHERE x.place = v.place AND x.session = q.session AND x.first BETWEEN q.seq - $3 AND q.seq AND x.last >= q.seq OFFSET 0) p
			ORDER BY 1, 2, 3`, ids, seqs, int64(chunk.MaxRecords)).Query(t.readFrames)
	}
	t.queueVisits(b, locks)
	t.queueTables(b, places, locks.spans)
	t.queueKnown(b, locks)
	b.Queue(dialect.SQL(sqlstore.SettingsRevision)).QueryRow(t.readRevision)
	if err := t.w.conn.SendBatch(t.ctx, b).Close(); err != nil {
		return err
	}
	if len(t.rows) < len(sessions) || locked < len(places) {
		return errStale
	}
	return t.readErasures()
}

// queueVisits queues reading which of the visits that are written to are stored.
func (t *tx) queueVisits(b *pgx.Batch, locks *lockSet) {
	var sessions, places []int64
	for v := range locks.visits {
		sessions, places = append(sessions, v.session), append(places, v.place)
	}
	b.Queue(`SELECT v.session, v.place FROM unnest($1::bigint[], $2::bigint[]) q (session, place)
		JOIN qos_visit v ON v.session = q.session AND v.place = q.place`, sessions, places).Query(func(rows pgx.Rows) error {
		var v visit
		_, err := pgx.ForEachRow(rows, []any{&v.session, &v.place}, func() error { t.knownVisits[v] = true; return nil })
		return err
	})
}

// lockSet returns the keys that the jobs need.
func (t *tx) lockSet() *lockSet {
	w := &lockSet{map[int64]bool{}, map[int64]bool{}, map[visit]bool{}, map[int64]instance.Span{}, map[int32]map[frameID]bool{}}
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

func (w *lockSet) place(key int64, span instance.Span) {
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
		t.storedRuns[id] = append(t.storedRuns[id], frames.Run{From: idx, To: idx + n})
		return nil
	})
	return err
}

// describe queues a new description of a session if it differs from the stored one.
func (t *tx) describe(session int64, row frames.SessionRow) {
	if t.rows[session] != row {
		t.rows[session], t.descriptions[session], t.changedSessions[session] = row, row, true
	}
}

// frameColumns are rows of frames, by column, for one INSERT.
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
	if v := (visit{place, s.key}); !t.knownVisits[v] {
		t.knownVisits[v], t.newVisits = true, append(t.newVisits, v)
	}
	c.session, c.seq, c.place = append(c.session, s.key), append(c.seq, f.Seq), append(c.place, place)
	c.at, c.conferenceAt = append(c.at, f.At), append(c.conferenceAt, f.ConferenceAt)
	c.observedAt, c.fabric = append(c.observedAt, f.ObservedAt), append(c.fabric, int64(f.Fabric))
	c.idx, c.n = append(c.idx, int32(f.Idx)), append(c.n, int32(f.N))
	c.activity, c.body = append(c.activity, f.Activity), append(c.body, f.Body)
}

func (t *tx) clear() {
	t.newVisits = nil
	t.frames, t.descriptions = map[int32]*frameColumns{}, map[int64]frames.SessionRow{}
	t.newSpans, t.participants = map[int64]instance.Span{}, map[participant]bool{}
	t.newStarts, t.recordTerms, t.renames = map[int64]bool{}, map[int64][]term.Term{}, map[participant][]term.Rename{}
}

// flush sends the queued writes, followed by the statements last in the same round trip.
func (t *tx) flush(last ...string) error {
	terms, dropped, err := t.newTerms()
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	if len(t.newVisits) > 0 {
		var sessions, places []int64
		for _, v := range t.newVisits {
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
	for key, row := range t.descriptions {
		b.Queue(`UPDATE qos_session SET user_id = $1, user_alias = $2, details = $3 WHERE key = $4`,
			[]byte(row.UserID), []byte(row.UserAlias), []byte(row.Details), key)
	}
	if len(t.newSpans) > 0 {
		var places, keys, starts, ends []int64
		for key, span := range t.newSpans {
			places, keys, starts, ends = append(places, t.places[key]), append(keys, key), append(starts, span.Start), append(ends, span.End)
		}
		b.Queue(`UPDATE qos_conference c SET start_ms = q.s, end_ms = q.e
			FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) q (place, key, s, e) WHERE c.place = q.place AND c.key = q.key`,
			places, keys, starts, ends)
	}
	if len(t.newStarts) > 0 {
		b.Queue(`UPDATE qos_term t SET start_ms = c.start_ms FROM qos_conference c
			WHERE t.conference = ANY ($1) AND c.place = t.place AND c.key = t.conference`, slices.Collect(maps.Keys(t.newStarts)))
	}
	if len(t.participants) > 0 {
		var places, conferences, sessions []int64
		for p := range t.participants {
			places, conferences, sessions = append(places, t.places[p.conference]), append(conferences, p.conference), append(sessions, p.session)
		}
		b.Queue(`INSERT INTO qos_participant (place, conference, session)
			SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING`, places, conferences, sessions)
	}
	t.queueTerms(b, terms, dropped)
	t.queueRenames(b)
	for key, n := range dropped {
		t.droppedTerms[key] += n
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

// row sends the queued writes, then reads one row.
func (t *tx) row(dest []any, query string, args ...any) error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.w.conn.QueryRow(t.ctx, query, args...).Scan(dest...)
}

// conferences calls each for every row of tableColumns.
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
