package postgres

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// table implements join.Table for one row of qos_place. It caches the rows that Around returns;
// no other transaction changes them, because the row of qos_place is locked.
type table struct {
	t          *tx
	place      int64
	loaded     instance.Span
	rows       []join.Row
	unattached bool           // there may be unattached annotations
	days       map[int32]bool // partitions that may hold frames of the rows; nil: not read yet
}

const (
	tableColumns = `SELECT c.place, c.key, c.start_ms, c.end_ms, c.packed, c.revision, c.summary_start, c.summary_end FROM `

	// startsAround selects the rows c that join.Table.Around returns for the span a to b; q has
	// these two columns and the key in qos_place.
	startsAround = `c.place = q.place
		AND c.start_ms >= coalesce((SELECT max(x.start_ms) FROM qos_conference x WHERE x.place = q.place AND x.start_ms <= q.a), q.a)
		AND c.start_ms <= coalesce((SELECT min(x.start_ms) FROM qos_conference x WHERE x.place = q.place AND x.start_ms > q.b), q.b)`
	rowsAround = tableColumns + `(VALUES ($1::bigint, $2::bigint, $3::bigint)) q (place, a, b) JOIN qos_conference c ON ` + startsAround + ` ORDER BY c.start_ms`
)

// queueTables queues reading the rows around the spans that are written to.
func (t *tx) queueTables(b *pgx.Batch, places []int64, spans map[int64]instance.Span) {
	var froms, tos []int64
	for _, place := range places {
		span := instance.Span{Start: spans[place].Start - instance.Gap, End: spans[place].End + instance.Gap}
		t.tables[place] = &table{t: t, place: place, loaded: span}
		froms, tos = append(froms, span.Start), append(tos, span.End)
	}
	b.Queue(tableColumns+`unnest($1::bigint[], $2::bigint[], $3::bigint[]) q (place, a, b)
		JOIN qos_conference c ON `+startsAround+` ORDER BY c.place, c.start_ms`,
		places, froms, tos).Query(func(rows pgx.Rows) error {
		return conferences(rows, func(place int64, c join.Row) {
			t.tables[place].rows, t.places[c.Key] = append(t.tables[place].rows, c), place
		})
	})
	b.Queue(`SELECT DISTINCT place FROM qos_unattached WHERE place = ANY ($1)`, places).Query(func(rows pgx.Rows) error {
		var place int64
		_, err := pgx.ForEachRow(rows, []any{&place}, func() error { t.tables[place].unattached = true; return nil })
		return err
	})
}

func (t *tx) table(place int64) (join.Table, error) { return t.tables[place], nil }

// Around implements join.Table.
func (p *table) Around(span instance.Span) (out []join.Row, err error) {
	if err := p.load(span); err != nil {
		return nil, err
	}
	for _, r := range p.rows {
		if r.Span.Start <= span.Start {
			out = out[:0] // only the last of these
		}
		out = append(out, r)
		if r.Span.Start > span.End {
			break
		}
	}
	return out, nil
}

// load extends the cache to the rows around a span.
func (p *table) load(span instance.Span) error {
	if span = span.Union(p.loaded); span == p.loaded {
		return nil
	}
	if err := p.t.flush(); err != nil {
		return err
	}
	rows, err := p.t.w.conn.Query(p.t.ctx, rowsAround, p.place, span.Start, span.End)
	if err != nil {
		return err
	}
	p.loaded, p.rows, p.days = span, nil, nil
	return conferences(rows, func(place int64, c join.Row) { p.rows, p.t.places[c.Key] = append(p.rows, c), place })
}

func (p *table) index(key int64) int {
	return slices.IndexFunc(p.rows, func(r join.Row) bool { return r.Key == key })
}

func (p *table) sort() {
	slices.SortFunc(p.rows, func(a, b join.Row) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
}

// Insert implements join.Table.
func (p *table) Insert(span instance.Span) (key int64, err error) {
	err = p.t.row([]any{&key}, `INSERT INTO qos_conference (place, app_id, start_ms, end_ms)
		SELECT key, app_id, $1, $2 FROM qos_place WHERE key = $3 RETURNING key`, span.Start, span.End, p.place)
	p.rows, p.t.places[key] = append(p.rows, join.Row{Key: key, Span: span}), p.place
	p.sort()
	return key, err
}

// Stretch implements join.Table.
func (p *table) Stretch(key int64, span instance.Span, moved bool) error {
	p.t.newSpans[key] = span
	if moved {
		p.t.newStarts[key] = true
	}
	p.rows[p.index(key)].Span = span
	p.sort()
	return nil
}

// sqlRows returns the part of join.Table that both engines share.
func (p *table) sqlRows() sqlstore.Rows {
	return sqlstore.Rows{Tx: flushingQuerier{querier{p.t.ctx, p.t.w.conn}, p.t}, Place: p.place}
}

// SetLoose implements join.Table.
func (p *table) SetLoose(key int64) error {
	p.rows[p.index(key)].Packed = false
	return p.sqlRows().SetLoose(key)
}

// Absorb implements join.Table.
func (p *table) Absorb(into, from int64, summary bool) error {
	if err := p.sqlRows().Absorb(into, from, summary); err != nil {
		return err
	}
	p.t.moveParticipants(into, from)
	i := p.index(from)
	if summary {
		p.rows[p.index(into)].Summary = p.rows[i].Summary
	}
	p.rows = slices.Delete(p.rows, i, i+1)
	return nil
}

// PutSummary implements join.Table.
func (p *table) PutSummary(key int64, s *join.Summary) error {
	order := s.Order
	p.rows[p.index(key)].Summary = &order
	p.t.summaries++
	return p.sqlRows().PutSummary(key, s)
}

// Annotated implements join.Table.
func (p *table) Annotated(span instance.Span) (found bool, err error) {
	if err := p.readDays(); err != nil {
		return false, err
	}
	return p.sqlRows().Annotated(span, p.sortedDays())
}

// Recount implements join.Table.
func (p *table) Recount(key int64, span, own instance.Span) error {
	if err := p.readDays(); err != nil {
		return err
	}
	for member := range p.t.knownParticipants {
		if member.conference == key {
			delete(p.t.knownParticipants, member)
		}
	}
	sessions, err := p.sqlRows().Recount(key, span, own, p.sortedDays())
	for _, session := range sessions {
		p.t.participants[participant{key, session}] = true
	}
	return err
}

// readDays reads the partitions of the rows' frames: the days of the participants' sessions,
// and of the sessions of this transaction.
func (p *table) readDays() error {
	if err := p.t.flush(); err != nil || p.days != nil {
		return err
	}
	days := map[int32]bool{}
	for _, j := range p.t.jobs {
		for i := range j.batches {
			days[p.t.w.sessions[j.batches[i].Session].day] = true
		}
	}
	keys := make([]int64, len(p.rows))
	for i, r := range p.rows {
		keys[i] = r.Key
	}
	found, err := collect[int32](p.t.w.conn.Query(p.t.ctx, `SELECT DISTINCT s.day FROM qos_participant p
		JOIN qos_session s ON s.key = p.session WHERE p.place = $2 AND p.conference = ANY ($1)`, keys, p.place))
	if err != nil {
		return err
	}
	for _, day := range found {
		days[day] = true
	}
	p.days = days
	return nil
}

func (p *table) sortedDays() sqlstore.Days { return slices.Sorted(maps.Keys(p.days)) }
