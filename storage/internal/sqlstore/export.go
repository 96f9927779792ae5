package sqlstore

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// ExportUser implements storage.Users.
func (u *Users) ExportUser(ctx context.Context, user storage.User, yield func(storage.Exported) bool) error {
	err := user.Check()
	if err == nil {
		x := &export{Users: u, app: user.AppID, givenIDs: idSet(user.IDs), yield: yield, key: erasure.NewKey()}
		if err = x.run(ctx); err == nil {
			err = x.damage.Err()
		}
		if errors.Is(err, errStopped) {
			return nil
		}
	}
	if err != nil {
		return u.db.Wrap("export user", err)
	}
	return nil
}

// errStopped is returned after yield returned false.
var errStopped = errors.New("the caller stopped")

func idSet(ids []string) map[string]bool {
	out := map[string]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// export is one call of ExportUser.
type export struct {
	*Users
	app              string
	givenIDs, allIDs map[string]bool // the given IDs, and all IDs of the user's sessions
	ownKeys          map[int64]bool  // keys of the user's sessions
	key              []byte
	yield            func(storage.Exported) bool
	damage           frames.Damage
}

func (x *export) put(e storage.Exported) error {
	if !x.yield(e) {
		return errStopped
	}
	return nil
}

func (x *export) run(ctx context.Context) (err error) {
	x.allIDs = maps.Clone(x.givenIDs)
	named := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return x.givenIDs[name] })
	}
	x.ownKeys, err = x.findSessions(ctx, x.app, named, func(names ...string) {
		for _, name := range names {
			if name != "" {
				x.allIDs[name] = true
			}
		}
	})
	if err != nil {
		return err
	}
	if err := x.put(storage.Exported{Type: storage.ExportedUser, IDs: slices.Sorted(maps.Keys(x.allIDs))}); err != nil {
		return err
	}
	err = x.eachSession(ctx, x.app, func(s *sessionRow) error {
		if !x.ownKeys[s.key] {
			return nil
		}
		details, err := erasure.ReadDetails(s.Details)
		attributes := map[string]any{}
		for name, value := range details {
			attributes[name] = value
		}
		return errors.Join(err, x.put(storage.Exported{
			Type: storage.ExportedSession, Session: uuid.UUID(s.id).String(), AtMs: erasure.Began(s.id), IDs: []string{s.UserID, s.UserAlias}, Attributes: attributes,
		}))
	})
	if err == nil {
		err = x.eachConference(ctx, x.app, time.Now().Add(24*time.Hour), erasure.Place{}, func(c conferenceRef) error { return x.conference(ctx, c) }, func(erasure.Place) error { return nil })
	}
	if err == nil {
		err = x.unattached(ctx)
	}
	if err == nil {
		err = x.precalls(ctx)
	}
	if err == nil {
		err = x.entries(ctx)
	}
	return err
}

// conferenceExport is the export of one conference, or of annotations without a conference.
type conferenceExport struct {
	*export
	*erasure.Exporter
	c           conferenceRef
	days        Days
	ownSessions map[[16]byte]bool
}

func (x *export) conference(ctx context.Context, c conferenceRef) error {
	o, err := x.begin(ctx, &c)
	if err != nil {
		return err
	}
	read := frames.Read{
		ConferenceID: c.conferenceID, Span: o.c.Span, From: frames.FromAll,
		Activity: func(ctx context.Context, from frames.Position, limit int) (page frames.Page, err error) {
			err = x.db.View(ctx, func(tx Tx) (err error) { page, err = activity(tx, o.c.Located, o.days, from, limit); return err })
			return page, err
		},
		Other: func(ctx context.Context, from frames.Position, limit int) (page frames.Page, err error) {
			err = x.db.Read(ctx, func(tx Tx) (err error) {
				page.Rows, err = rows(tx, OtherRows, c.Place, o.c.Own, o.days, from, limit)
				return err
			})
			return page, err
		},
		Open: func(ctx context.Context, key int64) (frames.Packed, error) {
			return Lists{x.db}.openChunk(ctx, c.Place, key, o.days)
		},
	}
	var stop error
	err = read.Records(ctx, func(session string, r storage.Record) bool {
		stop = o.record(session, &r)
		return stop == nil
	})
	if isDamaged(err) {
		x.damage.Add(err)
		err = nil
	}
	if err = errors.Join(err, stop); err != nil {
		return err
	}
	return o.summary(ctx)
}

// begin reads the participants of a conference.
func (x *export) begin(ctx context.Context, c *conferenceRef) (*conferenceExport, error) {
	o := &conferenceExport{export: x, ownSessions: map[[16]byte]bool{}}
	var others [][2]string
	err := x.db.View(ctx, func(tx Tx) (err error) {
		if c.Own, err = OwnTimes(tx, c.Place, c.Row); err != nil {
			return err
		}
		if o.days, err = tx.Days(c.Place, c.Span); err != nil {
			return err
		}
		found, err := All(tx, scanSession, `SELECT s.key, s.id, s.user_id, s.user_alias, s.details FROM {table participant} p
			{join} {table session} s ON s.key = p.session WHERE {of p} p.conference = ?`, Place(c.Place), c.Key)
		for _, s := range found {
			if x.ownKeys[s.key] {
				o.ownSessions[s.id] = true
			} else {
				others = append(others, [2]string{s.UserID, s.UserAlias})
			}
		}
		return err
	})
	o.c, o.Exporter = *c, x.exporter(len(o.ownSessions) > 0)
	for _, names := range others {
		o.Other(names[0], names[1])
	}
	return o, err
}

// exporter returns an exporter for a conference. Only if the user takes part, it replaces the user's other names.
func (x *export) exporter(takesPart bool) *erasure.Exporter {
	if takesPart {
		return erasure.NewExporter(x.key, x.allIDs)
	}
	return erasure.NewExporter(x.key, x.givenIDs)
}

func (o *conferenceExport) record(session string, r *storage.Record) error {
	e := storage.Exported{ConferenceID: o.c.conferenceID, StartMs: o.c.Span.Start, AtMs: r.At.UnixMilli(), Name: r.Name}
	if id, err := uuid.Parse(session); err == nil && o.ownSessions[id] {
		e.Type, e.Session, e.Attributes = storage.ExportedRecord, session, o.Record(r.Attributes)
		return o.put(e)
	}
	if e.Attributes = o.Mention(r.Attributes); len(e.Attributes) == 0 {
		return nil
	}
	e.Type = storage.ExportedMention
	return o.put(e)
}

func (o *conferenceExport) summary(ctx context.Context) error {
	c, err := Lists{o.db}.Conference(ctx, storage.Ref{AppID: o.app, ConferenceID: o.c.conferenceID, At: frames.FromMs(o.c.Span.Start)})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil
	case isDamaged(err):
		o.damage.Add(err)
		return nil
	case err != nil:
		return err
	case c.Summary == nil || len(c.Summary.Document) == 0:
		return nil
	}
	document, err := o.Summary(c.Summary.Document, func(session string) bool {
		id, err := uuid.Parse(session)
		return err == nil && o.ownSessions[id]
	})
	if err != nil || document == nil {
		return nil // a document that is no JSON has no participants
	}
	return o.put(storage.Exported{Type: storage.ExportedSummary, ConferenceID: o.c.conferenceID, StartMs: o.c.Span.Start, Document: document})
}

// eachUnattached calls do for each time of unattached annotations of an app, once for each session.
func (u *Users) eachUnattached(ctx context.Context, app string, do func(conferenceRef) error) error {
	after := erasure.Place{Start: math.MinInt64}
	for {
		var found []conferenceRef
		err := u.db.Read(ctx, func(tx Tx) (err error) {
			found, err = All(tx, func(row Row) (c conferenceRef, err error) {
				var id []byte
				err = row.Scan(&c.Key, &c.Place, &c.Span.Start, &id)
				c.Span.End, c.conferenceID = c.Span.Start, string(id)
				return c, err
			}, `SELECT u.key, u.place, u.conference_at, p.conference_id FROM {table unattached} u {join} {table place} p ON p.key = u.place
				WHERE u.app_id = ? AND (u.conference_at, u.key) > (?, ?) ORDER BY u.conference_at, u.key LIMIT ?`, Text(app), after.Start, after.Key, eraseConferences)
			return err
		})
		for i := 0; i < len(found) && err == nil; i++ {
			after = erasure.Place{Start: found[i].Span.Start, Key: found[i].Key}
			err = do(found[i])
		}
		if err != nil || len(found) == 0 {
			return err
		}
	}
}

// unattachedSessions returns the sessions with unattached annotations about one time.
func unattachedSessions(tx Tx, c conferenceRef) ([]sessionRow, error) {
	return All(tx, scanSession, `SELECT s.key, s.id, s.user_id, s.user_alias, s.details FROM {table unattached} u
		{join} {table session} s ON s.key = u.session WHERE u.place = ? AND u.conference_at = ?`, c.Place, c.Span.Start)
}

func (x *export) unattached(ctx context.Context) error {
	var last instance.Span
	var place int64
	return x.eachUnattached(ctx, x.app, func(c conferenceRef) error {
		if c.Span == last && c.Place == place {
			return nil // another session, same annotations
		}
		last, place = c.Span, c.Place
		o := &conferenceExport{export: x, Exporter: x.exporter(false), c: c, ownSessions: map[[16]byte]bool{}}
		err := x.db.View(ctx, func(tx Tx) (err error) {
			if o.days, err = tx.Days(c.Place, c.Span); err != nil {
				return err
			}
			sessions, err := unattachedSessions(tx, c)
			for _, s := range sessions {
				o.ownSessions[s.id] = x.ownKeys[s.key]
			}
			return err
		})
		if err != nil {
			return err
		}
		return o.annotations(ctx)
	})
}

func (o *conferenceExport) annotations(ctx context.Context) error {
	from := frames.Position{At: math.MinInt64}
	for more := true; more; {
		var page []frames.ReadRow
		err := o.db.View(ctx, func(tx Tx) (err error) {
			page, err = rows(tx, OtherRows, o.c.Place, o.c.Span, o.days, from, eraseRows)
			return err
		})
		if err != nil {
			return err
		}
		if more = len(page) == eraseRows; more {
			from = page[len(page)-1].End()
		}
		frames.Records(o.c.conferenceID, page, &o.damage, func(session string, r storage.Record) bool {
			err = o.record(session, &r)
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// entries exports the entries of the audit log that name the user, without their actors.
func (x *export) entries(ctx context.Context) error {
	own := map[string]string{}
	for id := range x.givenIDs {
		own[id] = id + "\x00"
	}
	ids := erasure.NewIDs(own)
	return x.eachEntry(ctx, func(e storage.AuditEntry) error {
		if e.AppID != "" && e.AppID != x.app || !ids.Entry(&e) {
			return nil
		}
		return x.put(storage.Exported{Type: storage.ExportedAudit, AtMs: e.At.UnixMilli(), Name: e.Action})
	}, func() error { return nil })
}

// eachEntry calls do for each entry of the audit log, and page after each page of them.
func (u *Users) eachEntry(ctx context.Context, do func(storage.AuditEntry) error, page func() error) error {
	for after := int64(0); ; {
		var found []storage.AuditEntry
		err := u.db.Read(ctx, func(tx Tx) (err error) {
			found, err = All(tx, scanAudit, selectAudit+` WHERE key > ? ORDER BY key LIMIT ?`, after, eraseEntries)
			return err
		})
		for i := 0; i < len(found) && err == nil; i++ {
			after = found[i].Key
			err = do(found[i])
		}
		if err != nil || len(found) == 0 {
			return err
		}
		if err := page(); err != nil {
			return err
		}
	}
}
