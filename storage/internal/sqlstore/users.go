package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/erasure"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
)

// Erasing is the functions of an engine that erasures need.
type Erasing struct {
	// Locked runs statements in one transaction, which is rolled back if write returns an error. Meanwhile no other
	// process writes to, packs or deletes the rows of lock. It may run write again.
	Locked func(ctx context.Context, lock Lock, write func(Tx) error) error
	// Rewrite removes deleted and replaced data from the files of the store, as far as the engine can.
	Rewrite func(ctx context.Context) error
	// Reload makes the writer read the erasures before its next write.
	Reload func(ctx context.Context) error
	// Changed sends a CatchUp to all followers, because digests have changed.
	Changed func()
}

// Lock is the keys of the rows that a transaction locks: a conferenceID and a conference of it, or a session and all
// conferenceIDs in which it takes part. 0 is none.
type Lock struct{ Place, Conference, Session int64 }

// Users implements storage.Users.
type Users struct {
	db       DB
	erasing  Erasing
	settings *Settings
}

var _ storage.Users = (*Users)(nil)

// NewUsers returns the Users of a store.
func NewUsers(db DB, erasing Erasing) *Users {
	return &Users{db, erasing, NewSettings(db, storage.MaxErasures)}
}

// EraseUser implements storage.Users.
func (u *Users) EraseUser(ctx context.Context, user storage.User) (storage.Erasure, error) {
	if err := user.Check(); err != nil {
		return storage.Erasure{}, u.db.Wrap("erase user", err)
	}
	now := time.Now()
	e := erasure.New(user, now)
	s, err := e.Setting(now)
	if err == nil {
		_, err = u.settings.PutSetting(ctx, s)
	}
	if err == nil {
		err = u.erasing.Reload(ctx)
	}
	if err != nil {
		return storage.Erasure{}, err
	}
	return e.Erasure, nil
}

// Erasure implements storage.Users.
func (u *Users) Erasure(ctx context.Context, appID, id string) (storage.Erasure, error) {
	s, err := u.settings.Setting(ctx, erasure.Kind, id)
	if errors.Is(err, storage.ErrNoSetting) {
		return storage.Erasure{}, u.db.Wrap("read erasure", storage.ErrNoErasure)
	}
	if err != nil {
		return storage.Erasure{}, err
	}
	e, err := erasure.Decode(&s)
	if err == nil && e.AppID != appID {
		err = storage.ErrNoErasure
	}
	if err != nil {
		return storage.Erasure{}, u.db.Wrap("read erasure", err)
	}
	return e.Erasure, nil
}

// Erasures returns all erasures of a store, and the revision of the settings when they were read.
func Erasures(tx Tx) (all []*erasure.Erasure, revision int64, err error) {
	if _, err := One(tx, []any{&revision}, SettingsRevision); err != nil {
		return nil, 0, err
	}
	found, err := All(tx, scanSetting, selectSettings+` ORDER BY id`, Text(erasure.Kind))
	for i := 0; i < len(found) && err == nil; i++ {
		var e *erasure.Erasure
		e, err = erasure.Decode(&found[i])
		all = append(all, e)
	}
	return all, revision, err
}

// RunErasures implements storage.Users.
func (u *Users) RunErasures(ctx context.Context) (done int, err error) {
	var all []*erasure.Erasure
	err = u.db.Read(ctx, func(tx Tx) (err error) {
		all, _, err = Erasures(tx)
		return err
	})
	var rewrite []*erasure.Erasure
	for i := 0; i < len(all) && err == nil; i++ {
		e := all[i]
		if e.State == storage.ErasureDone {
			err = u.forget(ctx, e)
			continue
		}
		if err = (&pass{Users: u, e: e, discovered: map[[16]byte]bool{}}).run(ctx); err == nil {
			rewrite = append(rewrite, e)
		} else if errors.Is(err, storage.ErrConflict) { // another process runs it
			err = nil
		}
	}
	if err == nil && len(rewrite) > 0 {
		if err = u.erasing.Rewrite(ctx); err == nil {
			done, err = u.end(ctx, rewrite)
		}
	}
	if err != nil {
		return done, u.db.Wrap("erase users", err)
	}
	return done, nil
}

// forget deletes an erasure that has expired.
func (u *Users) forget(ctx context.Context, e *erasure.Erasure) error {
	if time.Now().Before(e.ExpiresAt) {
		return nil
	}
	err := u.settings.DeleteSetting(ctx, erasure.Kind, e.ID, e.Revision)
	if err != nil && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNoSetting) {
		return err
	}
	return u.erasing.Reload(ctx)
}

// end sets the state of erasures to done.
func (u *Users) end(ctx context.Context, all []*erasure.Erasure) (done int, err error) {
	for _, e := range all {
		e.State, e.EndedAt = storage.ErasureDone, time.Now().UTC().Truncate(time.Millisecond)
		switch err := u.save(ctx, e); {
		case errors.Is(err, storage.ErrConflict): // another process ended it
		case err != nil:
			return done, err
		default:
			done++
		}
	}
	return done, nil
}

// save stores the progress of an erasure.
func (u *Users) save(ctx context.Context, e *erasure.Erasure) error {
	s, err := e.Setting(time.Now())
	if err != nil {
		return fmt.Errorf("erasure %s: %w", e.ID, err)
	}
	if e.Revision, err = u.settings.PutSetting(ctx, s); err != nil {
		return err
	}
	return u.erasing.Reload(ctx)
}

// TakesPart reports whether a session with this user takes part in a conference around a time.
func TakesPart(tx Tx, place frames.PlaceID, at int64, user string) (found bool, err error) {
	key, known, err := tx.Place(place.App, place.Conference)
	if err != nil || !known {
		return false, err
	}
	_, err = One(tx, []any{&found}, `SELECT EXISTS (SELECT 1 FROM {table conference} c {join} {table participant} p ON {place p c} p.conference = c.key
		{join} {table session} s ON s.key = p.session WHERE c.place = ? AND c.start_ms <= ? AND c.end_ms >= ? AND s.user_id = ?)`,
		key, at+instance.Gap, at-instance.Gap, Text(user))
	return found, err
}

// LateSummary returns a summary with the erasures applied that concern it.
func LateSummary(late *erasure.Late, app string, s *join.Summary) (*join.Summary, error) {
	if !late.Concern(app, s.Span.Start) {
		return s, nil
	}
	out := *s
	c := storage.Conference{Summary: &storage.Summary{}}
	if err := join.OpenDocument(&c, s.Document); err != nil {
		return nil, err
	}
	document, digest, changed, err := late.Summary(app, s.Span.Start, c.Summary.Document, s.Digest)
	out.Digest = digest
	if err != nil || !changed {
		return &out, nil // a document that is no JSON has no members
	}
	out.Document, err = join.SealDocument(document)
	return &out, err
}
