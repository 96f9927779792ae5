package postgres

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage/internal/join"
)

// table is the rows of one place for package join. It has those around loaded, as Around says;
// nobody else changes them, for the place is locked.
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

	// startsAround selects the rows c of a place that join.Table.Around returns for a span a to
	// b; q is what has the three.
	startsAround = `c.place = q.place
		AND c.start_ms >= coalesce((SELECT max(x.start_ms) FROM qos_conference x WHERE x.place = q.place AND x.start_ms <= q.a), q.a)
		AND c.start_ms <= coalesce((SELECT min(x.start_ms) FROM qos_conference x WHERE x.place = q.place AND x.start_ms > q.b), q.b)`
	rowsAround = tableColumns + `(VALUES ($1::bigint, $2::bigint, $3::bigint)) q (place, a, b) JOIN qos_conference c ON ` + startsAround + ` ORDER BY c.start_ms`
)

// queueTables reads the rows around the times that are written to.
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

// load reads the rows around a span too.
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
	p.t.stretched[key] = span
	if moved {
		p.t.restarted[key] = true
	}
	p.rows[p.index(key)].Span = span
	p.sort()
	return nil
}

// SetLoose implements join.Table.
func (p *table) SetLoose(key int64) error {
	p.rows[p.index(key)].Packed = false
	return p.t.exec(`UPDATE qos_conference SET packed = false WHERE place = $1 AND key = $2`, p.place, key)
}

// Absorb implements join.Table.
func (p *table) Absorb(into, from int64, summary bool) error {
	err := p.t.exec(`INSERT INTO qos_participant (place, conference, session)
		SELECT place, $1, session FROM qos_participant WHERE place = $3 AND conference = $2 ON CONFLICT DO NOTHING`, into, from, p.place)
	if err != nil {
		return err
	}
	if err := p.absorbTerms(into, from); err != nil {
		return err
	}
	if err := p.moveRenames(into, from); err != nil {
		return err
	}
	p.t.moved(into, from)
	if summary {
		err := p.t.exec(`UPDATE qos_conference SET (`+summaryColumns+`) =
			(SELECT `+summaryColumns+` FROM qos_conference WHERE place = $3 AND key = $1) WHERE place = $3 AND key = $2`, from, into, p.place)
		if err != nil {
			return err
		}
		p.rows[p.index(into)].Summary = p.rows[p.index(from)].Summary
	}
	return p.delete(from)
}

func (p *table) delete(key int64) error {
	for _, table := range []string{"qos_participant", "qos_term", "qos_rename"} {
		if err := p.t.exec(`DELETE FROM `+table+` WHERE place = $1 AND conference = $2`, p.place, key); err != nil {
			return err
		}
	}
	p.t.moved(0, key)
	i := p.index(key)
	p.rows = slices.Delete(p.rows, i, i+1)
	return p.t.exec(`DELETE FROM qos_conference WHERE place = $1 AND key = $2`, p.place, key)
}

const summaryColumns = `revision, summary_start, summary_end, outcome, participants, mos, label, cause, document`

// PutSummary implements join.Table.
func (p *table) PutSummary(key int64, s *join.Summary) error {
	order := s.Order
	p.rows[p.index(key)].Summary = &order
	p.t.summaries++
	return p.t.exec(`UPDATE qos_conference SET (`+summaryColumns+`) = ($1, $2, $3, $4, $5, $6, $7, $8, $9) WHERE place = $10 AND key = $11`,
		s.Revision, s.Span.Start, s.Span.End, []byte(s.Outcome), s.Participants, s.MOS, []byte(s.Label), []byte(s.Cause), s.Document, p.place, key)
}

// Annotated implements join.Table.
func (p *table) Annotated(span instance.Span) (found bool, err error) {
	if err := p.readDays(); err != nil {
		return false, err
	}
	err = p.t.row([]any{&found}, `SELECT EXISTS (SELECT 1 FROM qos_frame
		WHERE NOT activity AND place = $1 AND conference_at BETWEEN $2 AND $3 AND day = ANY ($4::int[]))`,
		p.place, span.Start, span.End, p.inDays())
	return found, err
}

// Recount implements join.Table.
func (p *table) Recount(key int64, span, own instance.Span) error {
	if err := p.readDays(); err != nil {
		return err
	}
	if err := p.t.exec(`DELETE FROM qos_participant WHERE place = $1 AND conference = $2`, p.place, key); err != nil {
		return err
	}
	err := p.t.exec(`INSERT INTO qos_participant (place, conference, session)
		SELECT $2::bigint, $1::bigint, session FROM qos_frame WHERE activity AND place = $2 AND at BETWEEN $3 AND $4 AND day = ANY ($7::int[])
		UNION SELECT $2::bigint, $1::bigint, p.session FROM qos_chunk c JOIN qos_packed p ON p.chunk = c.key AND p.day = c.day
			WHERE p.place = $2 AND c.place = $2 AND c.from_ms BETWEEN $3 AND $4 AND c.day = ANY ($7::int[]) AND p.day = ANY ($7::int[])
		UNION SELECT $2::bigint, $1::bigint, session FROM qos_frame WHERE NOT activity AND place = $2 AND conference_at BETWEEN $5 AND $6 AND day = ANY ($7::int[])`,
		key, p.place, span.Start, span.End, own.Start, own.End, p.inDays())
	if err != nil {
		return err
	}
	return p.rebuildTerms(key)
}

// readDays works out in which partitions the frames of the rows are: their sessions are
// the rows' participants, or come in this transaction.
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

func (p *table) inDays() []int32 { return slices.Sorted(maps.Keys(p.days)) }
