package erasure

import (
	"slices"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// Late applies erasures to data that is written after them. It is not safe for concurrent use.
type Late struct {
	Revision int64 // revision of the settings from which it was read
	apps     map[string][]*Erasure
}

// NewLate returns a Late with all erasures of a store.
func NewLate(revision int64, all []*Erasure) *Late {
	l := &Late{Revision: revision, apps: map[string][]*Erasure{}}
	for _, e := range all {
		l.apps[e.AppID] = append(l.apps[e.AppID], e)
	}
	return l
}

// Stored reads the stored data that Batch needs.
type Stored struct {
	// Session returns the stored row of the batch's session. A row without names is not stored yet.
	Session func() (frames.SessionRow, error)
	// TakesPart reports whether a session with this user takes part in the conference of a PlaceID and time.
	TakesPart func(place frames.PlaceID, at int64, user string) (bool, error)
}

// Concerns reports whether Batch may change b.
func (l *Late) Concerns(b *frames.Prepared) bool {
	if l == nil {
		return false
	}
	began := Began(b.Session.ID)
	return slices.ContainsFunc(l.apps[b.Session.App], func(e *Erasure) bool {
		at := e.At.UnixMilli()
		return began < at || slices.ContainsFunc(b.Frames, func(r frames.Row) bool { return r.ConferenceAt < at })
	})
}

// Batch returns a copy of b with the erasures applied: of a session of an erased user that began before the erasure
// only the measurements remain, and in records of others about a time before it the pseudonym replaces the user. It
// does not change b.
func (l *Late) Batch(b *frames.Prepared, stored Stored) (*frames.Prepared, error) {
	out := *b
	out.Frames = slices.Clone(b.Frames)
	for _, e := range l.apps[b.Session.App] {
		if err := e.late(&out, stored); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

func (e *Erasure) late(b *frames.Prepared, stored Stored) error {
	at := e.At.UnixMilli()
	if Began(b.Session.ID) < at {
		have, err := stored.Session()
		if err != nil {
			return err
		}
		if e.Names(b.Row.UserID, b.Row.UserAlias) || have.UserID == e.Pseudonym {
			return e.lateOwn(b, have)
		}
		if b.Row.Details, _, err = e.Find(false, nil).Details(b.Row.Details); err != nil {
			return err
		}
	}
	for i := range b.Frames {
		if row := &b.Frames[i]; row.ConferenceAt < at {
			if err := e.lateMention(b.Session.App, row, stored); err != nil {
				return err
			}
		}
	}
	return nil
}

// lateOwn erases a batch of a session of the user that began before the erasure: the session has the user's names, or
// its stored row was erased. A stored row that is not erased yet is kept, since its names and search terms are erased
// together.
func (e *Erasure) lateOwn(b *frames.Prepared, have frames.SessionRow) (err error) {
	ids := e.Find(true, nil)
	switch {
	case have.UserID != "" && have.UserID != e.Pseudonym && e.State == storage.ErasureSessions:
		b.Row = have
	default:
		if b.Row, err = ids.OwnSession(b.Row, e.Pseudonym); err != nil {
			return err
		}
	}
	for i := range b.Frames {
		if _, err := b.Frames[i].Rewrite(b.Session.App, func(_ string, a map[string]any) bool { return ids.Own(a) }); err != nil {
			return err
		}
	}
	return nil
}

// lateMention replaces the user's identifiers in a row, the other names only if the user takes part in its conference.
func (e *Erasure) lateMention(app string, row *frames.Row, stored Stored) error {
	linked := false
	if len(e.Linked.IDs.Sums) > 0 {
		var err error
		if linked, err = stored.TakesPart(row.Place, row.PlaceTime(), e.Pseudonym); err != nil {
			return err
		}
	}
	ids := e.Find(linked, nil)
	_, err := row.Rewrite(app, func(_ string, a map[string]any) bool { return ids.Mention(a) })
	return err
}

// Concern reports whether erasures apply to a conference of an app that began at a time, in ms since the epoch.
func (l *Late) Concern(app string, startMs int64) bool {
	return l != nil && slices.ContainsFunc(l.apps[app], func(e *Erasure) bool { return startMs < e.At.UnixMilli() })
}

// Summary applies the erasures to the document and the digest of the summary of a conference that began at a time. The
// document determines which members of the digest are the user's: if it cannot be read, the digest is removed.
func (l *Late) Summary(app string, startMs int64, document, digest []byte) (_, _ []byte, changed bool, err error) {
	for _, e := range l.apps[app] {
		if startMs >= e.At.UnixMilli() {
			continue
		}
		erased, err := e.Find(false, nil).Document(document, func([16]byte) bool { return false }, e.Pseudonym)
		if err != nil {
			return document, nil, changed, err
		}
		document, changed = erased.Text, changed || erased.Changed
		digest, _ = erased.IDs.Digest(digest, func(session [16]byte) bool { return erased.Sessions[session] })
	}
	return document, digest, changed, nil
}
