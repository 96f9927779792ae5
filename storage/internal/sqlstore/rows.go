package sqlstore

import (
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/term"
)

// Rows implements the methods of join.Table that are not used for every frame of a live call. It caches no
// rows; an engine that does must update its cache.
type Rows struct {
	Tx    Tx
	Place int64
}

const summaryColumns = `revision, summary_start, summary_end, outcome, participants, mos, label, cause, digest`

// Absorb moves participants, terms and renames to the row into, and the summary if summary is
// true. It deletes the row from.
func (r Rows) Absorb(into, from int64, summary bool) error {
	key := Place(r.Place)
	e := executor{tx: r.Tx}
	e.run(`INSERT INTO {table participant} ({key} conference, session)
		SELECT {key} ?, session FROM {table participant} WHERE {of} conference = ? ON CONFLICT DO NOTHING`, into, key, from)
	e.run(`INSERT INTO {table term} (term, start_ms, {key} conference, recorded)
		SELECT t.term, c.start_ms, {key c} c.key, t.recorded FROM {table conference} c {join} {table term} t ON {place t c} t.conference = ?
		WHERE c.place = ? AND c.key = ?
		ON CONFLICT (term, start_ms, conference) DO UPDATE SET recorded = {table term}.recorded OR excluded.recorded`, from, r.Place, into)
	e.run(`UPDATE {table conference} SET terms_dropped = terms_dropped
		+ (SELECT f.terms_dropped FROM {table conference} f WHERE f.place = ? AND f.key = ?) WHERE place = ? AND key = ?`, r.Place, from, r.Place, into)
	e.run(`INSERT INTO {table rename} ({key} conference, session, seq, idx, user_id, user_alias)
		SELECT {key} ?, session, seq, idx, user_id, user_alias FROM {table rename} WHERE {of} conference = ? ON CONFLICT DO NOTHING`, into, key, from)
	e.run(`DELETE FROM {table rename} AS r WHERE {of r} r.conference = ?`+OlderRenames, key, into, term.MaxRenames)
	if summary {
		e.run(`UPDATE {table conference} SET (`+summaryColumns+`) =
			(SELECT `+summaryColumns+` FROM {table conference} WHERE place = ? AND key = ?) WHERE place = ? AND key = ?`, r.Place, from, r.Place, into)
		e.run(deleteDocument, key, into)
		e.run(`UPDATE {table document} SET conference = ? WHERE {of} conference = ?`, into, key, from)
	}
	if e.err != nil {
		return e.err
	}
	_, err := r.Delete(from)
	return err
}

const deleteDocument = `DELETE FROM {table document} WHERE {of} conference = ?`

// OlderRenames is the condition on renames r that are older than the newest of their participant; its value is
// the number of renames to keep.
const OlderRenames = ` AND (SELECT count(*) FROM {table rename} n WHERE {place n r} n.conference = r.conference AND n.session = r.session
	AND (n.seq, n.idx) > (r.seq, r.idx)) >= ?`

// Delete deletes a row and all rows that refer to it, and returns its participants' sessions.
func (r Rows) Delete(key int64) (sessions []int64, err error) {
	sessions, err = All(r.Tx, scanKey, `DELETE FROM {table participant} WHERE {of} conference = ? RETURNING session`, Place(r.Place), key)
	e := executor{tx: r.Tx, err: err}
	e.run(`DELETE FROM {table term} WHERE {of} conference = ?`, Place(r.Place), key)
	e.run(`DELETE FROM {table rename} WHERE {of} conference = ?`, Place(r.Place), key)
	e.run(deleteDocument, Place(r.Place), key)
	e.run(`DELETE FROM {table conference} WHERE place = ? AND key = ?`, r.Place, key)
	return sessions, e.err
}

// PutSummary implements join.Table.
func (r Rows) PutSummary(key int64, s *join.Summary) error {
	e := executor{tx: r.Tx}
	e.run(`UPDATE {table conference} SET (`+summaryColumns+`) = (?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE place = ? AND key = ?`,
		s.Revision, s.Span.Start, s.Span.End, Text(s.Outcome), s.Participants, s.MOS, Text(s.Label), Text(s.Cause), s.Digest, r.Place, key)
	e.run(`INSERT INTO {table document} ({key} conference, body) SELECT {key c} c.key, ? FROM {table conference} c WHERE c.place = ? AND c.key = ?
		ON CONFLICT ({key} conference) DO UPDATE SET body = excluded.body`, s.Document, r.Place, key)
	return e.err
}

// SetLoose implements join.Table.
func (r Rows) SetLoose(key int64) error {
	_, err := r.Tx.Exec(`UPDATE {table conference} SET packed = false WHERE place = ? AND key = ?`, r.Place, key)
	return err
}

// Detach implements join.Table.
func (r Rows) Detach(session, at int64) error {
	_, err := r.Tx.Exec(`INSERT INTO {table unattached} (place, app_id, conference_at, session)
		SELECT key, app_id, ?, ? FROM {table place} WHERE key = ? ON CONFLICT DO NOTHING`, at, session, r.Place)
	return err
}

// Annotated reports whether there are annotations about a time in a span.
func (r Rows) Annotated(span instance.Span, days Days) (found bool, err error) {
	_, err = One(r.Tx, []any{&found}, `SELECT EXISTS (SELECT 1 FROM {table frame}
		WHERE NOT activity AND place = ? AND conference_at BETWEEN ? AND ? {indays})`, r.Place, span.Start, span.End, days)
	return found, err
}

// RecountParticipants inserts the participants of a row.
const RecountParticipants = `INSERT INTO {table participant} ({key} conference, session)
	SELECT {key f} CAST(? AS bigint), f.session FROM {table frame} f WHERE f.activity AND f.place = ? AND f.at BETWEEN ? AND ? {indays f}
	UNION SELECT {key p} CAST(? AS bigint), p.session FROM {table chunk} c {join} {table packed} p ON {place p c} p.chunk = c.key {sameday p c}
		WHERE c.place = ? AND c.from_ms BETWEEN ? AND ? {indays c}
	UNION SELECT {key f} CAST(? AS bigint), f.session FROM {table frame} f WHERE NOT f.activity AND f.place = ? AND f.conference_at BETWEEN ? AND ? {indays f}`

// Recount replaces the participants of a row by those of the frames and chunks, and deletes its terms
// that are not from records. It returns the participants' sessions. The caller must add their terms.
func (r Rows) Recount(key int64, span, own instance.Span, days Days) ([]int64, error) {
	e := executor{tx: r.Tx}
	e.run(`DELETE FROM {table participant} WHERE {of} conference = ?`, Place(r.Place), key)
	e.run(RecountParticipants, key, r.Place, span.Start, span.End, days, key, r.Place, span.Start, span.End, days, key, r.Place, own.Start, own.End, days)
	e.run(`DELETE FROM {table term} WHERE {of} conference = ? AND NOT recorded`, Place(r.Place), key)
	if e.err != nil {
		return nil, e.err
	}
	return All(r.Tx, scanKey, `SELECT session FROM {table participant} WHERE {of} conference = ?`, Place(r.Place), key)
}

func scanKey(row Row) (key int64, err error) {
	err = row.Scan(&key)
	return key, err
}

// executor runs statements until one fails.
type executor struct {
	tx      Tx
	changed int64 // number of changed rows
	err     error
}

func (e *executor) run(statement string, values ...any) {
	if e.err != nil {
		return
	}
	var changed int64
	changed, e.err = e.tx.Exec(statement, values...)
	e.changed += changed
}
