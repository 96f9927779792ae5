package sqlstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/term"
)

// Bounds of one transaction or one read of an erasure.
const (
	eraseRows        = 128
	eraseConferences = 100
	eraseSessions    = 500
	eraseEntries     = 500
)

// maxPasses bounds the passes over the conferences. A pass may miss records of conferences that merge meanwhile;
// the next one finds them.
const maxPasses = 5

// pass is one run of an erasure.
type pass struct {
	*Users
	e       *erasure.Erasure
	changed int // number of records, summaries and renames that the pass over the conferences changed
	// discovered are sessions that only a record names with an identifier: the store keeps only the newest
	// renames in rows of their own.
	discovered map[[16]byte]bool
}

// run runs the erasure until ErasureRewriting.
func (p *pass) run(ctx context.Context) error {
	for passes := 0; p.e.State != storage.ErasureRewriting; {
		var err error
		switch p.e.State {
		case storage.ErasureSessions:
			err = p.sessions(ctx)
			p.setState(storage.ErasureConferences)
		case storage.ErasureConferences:
			p.changed = 0
			err = p.conferences(ctx)
			if p.changed > 0 {
				p.erasing.Changed()
			}
			p.setState(storage.ErasureOthers)
			if passes++; p.changed+len(p.discovered) > 0 && passes < maxPasses {
				p.setState(storage.ErasureSessions)
			}
		default:
			if err = p.unattached(ctx); err == nil {
				err = p.precalls(ctx)
			}
			if err == nil {
				err = p.entries(ctx)
			}
			p.setState(storage.ErasureRewriting)
		}
		if err != nil {
			return err
		}
		if err := p.save(ctx, p.e); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) setState(state storage.ErasureState) { p.e.State, p.e.After = state, erasure.Place{} }

// conferenceRef is a conference with its conferenceID.
type conferenceRef struct {
	Located
	conferenceID string
}

// selectConferenceRefs selects the conferences of an app that began before a time, after a position, the oldest first.
const selectConferenceRefs = `SELECT c.key, c.place, c.start_ms, c.end_ms, p.conference_id FROM {table conference} c {join} {table place} p ON p.key = c.place
	WHERE c.app_id = ? AND c.start_ms < ? AND (c.start_ms, c.key) > (?, ?) ORDER BY c.start_ms, c.key LIMIT ?`

func scanConferenceRef(row Row) (c conferenceRef, err error) {
	var id []byte
	err = row.Scan(&c.Key, &c.Place, &c.Span.Start, &c.Span.End, &id)
	c.conferenceID = string(id)
	return c, err
}

// eachConference calls do for each conference of an app that began before a time and is after a position, and page
// after each page of them. So a pass ends, even if new conferences begin all the time.
func (u *Users) eachConference(ctx context.Context, app string, before time.Time, after erasure.Place, do func(conferenceRef) error, page func(erasure.Place) error) error {
	if after == (erasure.Place{}) {
		after.Start = math.MinInt64
	}
	for {
		var found []conferenceRef
		err := u.db.Read(ctx, func(tx Tx) (err error) {
			found, err = All(tx, scanConferenceRef, selectConferenceRefs, Text(app), before.UnixMilli(), after.Start, after.Key, eraseConferences)
			return err
		})
		for i := 0; i < len(found) && err == nil; i++ {
			if err = ctx.Err(); err == nil {
				err = do(found[i])
			}
			after = erasure.Place{Start: found[i].Span.Start, Key: found[i].Key}
		}
		if err != nil || len(found) == 0 {
			return err
		}
		if err := page(after); err != nil {
			return err
		}
	}
}

func (p *pass) conferences(ctx context.Context) error {
	first := p.e.After == (erasure.Place{})
	if first {
		p.e.Named = 0
	}
	return p.eachConference(ctx, p.e.AppID, p.e.At, p.e.After, func(c conferenceRef) error { return p.conference(ctx, c) }, func(after erasure.Place) error {
		p.e.After = after
		return p.save(ctx, p.e)
	})
}

// conference erases the user in one conference, page by page.
func (p *pass) conference(ctx context.Context, c conferenceRef) error {
	if _, named := p.e.Find(false, nil).Text(c.conferenceID); named {
		p.e.Named++
	}
	w, err := p.begin(ctx, &c)
	if err != nil {
		return err
	}
	before := p.changed
	if err := w.rows(ctx, ActivityRows, c.Span); err != nil {
		return err
	}
	if err := w.rows(ctx, OtherRows, c.Own); err != nil {
		return err
	}
	if err := w.chunks(ctx); err != nil {
		return err
	}
	if err := w.step(ctx, w.renames); err != nil {
		return err
	}
	err = w.step(ctx, w.summary)
	if p.changed > before {
		p.e.Conferences++
	}
	return err
}

// conferenceErasure is the erasure in one conference, or in annotations without a conference.
type conferenceErasure struct {
	*pass
	lock        Lock
	c           conferenceRef
	days        Days
	ownSessions map[[16]byte]bool // sessions of the user
	ids         *erasure.IDs
	found       map[string]bool // identifiers replaced by the current step
}

// begin reads the data of a conference that its erasure needs.
func (p *pass) begin(ctx context.Context, c *conferenceRef) (*conferenceErasure, error) {
	w := &conferenceErasure{pass: p, lock: Lock{Place: c.Place, Conference: c.Key}, ownSessions: map[[16]byte]bool{}}
	err := p.db.View(ctx, func(tx Tx) (err error) {
		if c.Own, err = OwnTimes(tx, c.Place, c.Row); err != nil {
			return err
		}
		if w.days, err = tx.Days(c.Place, c.Span); err != nil {
			return err
		}
		return tx.Each(func(row Row) error {
			var id, user []byte
			err := row.Scan(&id, &user)
			if err == nil && string(user) == p.e.Pseudonym {
				w.ownSessions[[16]byte(id)] = true
			}
			return err
		}, `SELECT s.id, s.user_id FROM {table participant} p {join} {table session} s ON s.key = p.session WHERE {of p} p.conference = ?`, Place(c.Place), c.Key)
	})
	w.c = *c
	w.ids = p.e.Find(len(w.ownSessions) > 0, func(text string) { w.found[text] = true })
	return w, err
}

// change erases the user in one record.
func (w *conferenceErasure) change(session [16]byte, name string, attributes map[string]any) bool {
	if w.ownSessions[session] {
		return w.ids.Own(attributes)
	}
	if to, ok := term.RenamedTo(name, attributes); ok && erasure.Began(session) < w.e.At.UnixMilli() &&
		(w.e.Names(to.UserID, to.UserAlias) || to.UserID == w.e.Pseudonym) {
		w.discovered[session] = true
	}
	return w.ids.Mention(attributes)
}

// step runs do without writing. If there are changes, it runs do again in a transaction that writes.
func (w *conferenceErasure) step(ctx context.Context, do func(tx Tx, write bool) (changed counts, err error)) error {
	var n counts
	err := w.db.View(ctx, func(tx Tx) (err error) {
		w.found = map[string]bool{}
		n, err = do(tx, false)
		return err
	})
	if err != nil {
		return err
	}
	if n.sum() == 0 {
		w.e.Damaged += n.damaged
		return nil
	}
	err = w.erasing.Locked(ctx, w.lock, func(tx Tx) (err error) {
		w.found = map[string]bool{}
		if n, err = do(tx, true); err != nil {
			return err
		}
		return w.terms(tx)
	})
	if err == nil {
		w.e.Records, w.e.Summaries, w.e.Damaged = w.e.Records+n.records, w.e.Summaries+n.summaries, w.e.Damaged+n.damaged
		w.changed += n.sum()
	}
	return err
}

// counts are the numbers of changes of a step.
type counts struct{ records, summaries, renames, damaged int }

func (n counts) sum() int { return n.records + n.summaries + n.renames }

// terms deletes the search terms of the identifiers that a step replaced, and adds the pseudonym's.
func (w *conferenceErasure) terms(tx Tx) error {
	e := executor{tx: tx}
	for name := range w.found {
		for _, kind := range []term.Kind{term.Name, term.Alias} {
			e.run(`DELETE FROM {table term} WHERE {of} conference = ? AND term = ?`, Place(w.c.Place), w.c.Key, int64(term.New(w.e.AppID, kind, name)))
		}
	}
	if len(w.found) > 0 && w.c.Key != 0 {
		e.run(insertTerm, int64(term.New(w.e.AppID, term.Alias, w.e.Pseudonym)), true, w.c.Place, w.c.Key)
	}
	return e.err
}

const (
	insertTerm = `INSERT INTO {table term} (term, start_ms, {key} conference, recorded)
		SELECT CAST(? AS bigint), c.start_ms, {key c} c.key, CAST(? AS boolean) FROM {table conference} c WHERE c.place = ? AND c.key = ? ON CONFLICT DO NOTHING`
	updateBody = `UPDATE {table frame} SET body = ? WHERE {of} session = ? AND seq = ? AND idx = ? {indays}`
)

// rows erases the user in the loose rows of a span.
func (w *conferenceErasure) rows(ctx context.Context, statement string, span instance.Span) error {
	from := frames.Position{At: math.MinInt64}
	for more := true; more; {
		var last frames.Position
		err := w.step(ctx, func(tx Tx, write bool) (n counts, err error) {
			page, err := rows(tx, statement, w.c.Place, span, w.days, from, eraseRows)
			for i := 0; i < len(page) && err == nil; i++ {
				err = w.row(tx, &page[i], write, &n)
			}
			if more = len(page) == eraseRows; more {
				last = page[len(page)-1].End()
			}
			return n, err
		})
		if err != nil {
			return err
		}
		from = last
	}
	return nil
}

func (w *conferenceErasure) row(tx Tx, row *frames.ReadRow, write bool, n *counts) error {
	changed := 0
	_, err := row.Rewrite(w.e.AppID, func(name string, attributes map[string]any) bool {
		if w.change([16]byte(row.Session), name, attributes) {
			changed++
			return true
		}
		return false
	})
	if isDamaged(err) {
		n.damaged++
		return nil
	}
	n.records += changed
	if err != nil || changed == 0 || !write {
		return err
	}
	_, err = tx.Exec(updateBody, row.Body, Place(w.c.Place), row.SessionKey, row.Seq, row.Idx, w.days)
	return err
}

// chunks erases the user in the packed records. It runs after rows, because loose rows may have been packed
// meanwhile.
func (w *conferenceErasure) chunks(ctx context.Context) error {
	var keys []int64
	err := w.db.View(ctx, func(tx Tx) (err error) {
		keys, err = All(tx, scanKey, `SELECT key FROM {table chunk} WHERE place = ? AND from_ms BETWEEN ? AND ? {indays} ORDER BY from_ms, key`,
			w.c.Place, w.c.Span.Start, w.c.Span.End, w.days)
		return err
	})
	for i := 0; i < len(keys) && err == nil; i++ {
		err = w.step(ctx, func(tx Tx, write bool) (counts, error) { return w.chunk(tx, keys[i], write) })
	}
	return err
}

func (w *conferenceErasure) chunk(tx Tx, key int64, write bool) (n counts, err error) {
	body, found, err := w.chunkBody(tx, key)
	if err != nil || !found {
		return n, err
	}
	body, n.records, err = chunk.Rewrite(body, w.change)
	if isDamaged(err) {
		return counts{damaged: 1}, nil
	}
	if err != nil || n.records == 0 || !write {
		return n, err
	}
	_, err = tx.Exec(`UPDATE {table chunk} SET body = ? WHERE place = ? AND key = ? {indays}`, body, w.c.Place, key, w.days)
	return n, err
}

func (w *conferenceErasure) chunkBody(tx Tx, key int64) (body []byte, found bool, err error) {
	found, err = One(tx, []any{&body}, `SELECT h.body FROM {table chunk} h WHERE h.place = ? AND h.key = ? {indays h}`, w.c.Place, key, w.days)
	return body, found, err
}

// rename is a row of the table rename.
type rename struct {
	session, seq int64
	idx          int
	id           [16]byte
	names        storage.Name
}

func (w *conferenceErasure) renames(tx Tx, write bool) (n counts, err error) {
	all, err := All(tx, scanRename, `SELECT r.session, s.id, r.seq, r.idx, r.user_id, r.user_alias FROM {table rename} r
		{join} {table session} s ON s.key = r.session WHERE {of r} r.conference = ?`, Place(w.c.Place), w.c.Key)
	e := executor{tx: tx, err: err}
	const where = ` WHERE {of} conference = ? AND session = ? AND seq = ? AND idx = ?`
	for i := range all {
		r := &all[i]
		if !w.ownSessions[r.id] {
			continue // another user: a session is the user's if it has ever had one of the IDs
		}
		n.renames++
		w.found[r.names.UserID], w.found[r.names.UserAlias] = true, true
		if write {
			e.run(`DELETE FROM {table rename}`+where, Place(w.c.Place), w.c.Key, r.session, r.seq, r.idx)
		}
	}
	return n, e.err
}

func scanRename(row Row) (r rename, err error) {
	var id, user, alias []byte
	if err = row.Scan(&r.session, &id, &r.seq, &r.idx, &user, &alias); err == nil {
		r.id, r.names = [16]byte(id), storage.Name{UserID: string(user), UserAlias: string(alias)}
	}
	return r, err
}

// summary erases the user in the document and the digest of the conference's summary.
func (w *conferenceErasure) summary(tx Tx, write bool) (n counts, err error) {
	var column, digest []byte
	found, err := One(tx, []any{&digest, &column}, selectDocument, Place(w.c.Place), w.c.Key)
	if err != nil || !found {
		return n, err
	}
	document, err := w.document(column)
	if isDamaged(err) {
		n.damaged, err = 1, nil
	}
	if err != nil {
		return n, err
	}
	digest, changed := document.IDs.Digest(digest, func(session [16]byte) bool { return w.ownSessions[session] || document.Sessions[session] })
	if !changed && !document.Changed {
		return n, nil
	}
	n.summaries = 1
	if !write {
		return n, nil
	}
	e := executor{tx: tx}
	if document.Changed {
		column, e.err = join.SealDocument(document.Text)
		e.run(`UPDATE {table document} SET body = ? WHERE {of} conference = ?`, column, Place(w.c.Place), w.c.Key)
	}
	e.run(`UPDATE {table conference} SET digest = ? WHERE place = ? AND key = ?`, digest, w.c.Place, w.c.Key)
	return n, e.err
}

// document erases the user in a document. Its error wraps storage.ErrDamaged.
func (w *conferenceErasure) document(column []byte) (document erasure.Document, err error) {
	document.IDs = w.ids
	c := storage.Conference{Summary: &storage.Summary{}}
	if err = join.OpenDocument(&c, column); err != nil || len(c.Summary.Document) == 0 {
		return document, err
	}
	if document, err = w.ids.Document(c.Summary.Document, func(session [16]byte) bool { return w.ownSessions[session] }, w.e.Pseudonym); err != nil {
		err = fmt.Errorf("%w: %w", storage.ErrDamaged, err)
	}
	return document, err
}

// unattached erases the user in annotations that no conference owns.
func (p *pass) unattached(ctx context.Context) error {
	return p.eachUnattached(ctx, p.e.AppID, func(c conferenceRef) error { return p.annotationsAt(ctx, c) })
}

// annotationsAt erases the user in the annotations about one time.
func (p *pass) annotationsAt(ctx context.Context, c conferenceRef) error {
	c.Key = 0
	w := &conferenceErasure{pass: p, lock: Lock{Place: c.Place}, c: c, ownSessions: map[[16]byte]bool{}}
	err := p.db.View(ctx, func(tx Tx) (err error) {
		if w.days, err = tx.Days(c.Place, c.Span); err != nil {
			return err
		}
		sessions, err := unattachedSessions(tx, c)
		for _, s := range sessions {
			if s.UserID == p.e.Pseudonym {
				w.ownSessions[s.id] = true
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	w.ids = p.e.Find(len(w.ownSessions) > 0, func(text string) { w.found[text] = true })
	return w.rows(ctx, OtherRows, c.Span)
}

// entries erases the user in the audit log: in entries of the app, and in those without one.
func (p *pass) entries(ctx context.Context) error {
	ids := p.e.Find(false, nil)
	var changed []storage.AuditEntry
	return p.eachEntry(ctx, func(e storage.AuditEntry) error {
		if (e.AppID == "" || e.AppID == p.e.AppID) && ids.Entry(&e) {
			changed = append(changed, e)
		}
		return nil
	}, func() error {
		if len(changed) == 0 {
			return nil
		}
		err := p.erasing.Locked(ctx, Lock{}, func(tx Tx) error { return updateEntries(tx, changed) })
		p.e.Entries += len(changed)
		changed = nil
		return err
	})
}

func updateEntries(tx Tx, entries []storage.AuditEntry) error {
	e := executor{tx: tx}
	for _, entry := range entries {
		e.run(`UPDATE {table audit} SET target = ?, body = ? WHERE key = ?`, Text(entry.Target), append([]byte{}, entry.Body...), entry.Key)
	}
	return e.err
}
