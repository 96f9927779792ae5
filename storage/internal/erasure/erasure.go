package erasure

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qosrtc/qos/storage"
)

// Kind is the kind of the settings that are erasures.
const Kind = "erasure"

// Lifetime is how long an erasure is applied to late data. The receiver accepts records of the last 24
// hours; a page that stays open sends the names of its users for longer.
const Lifetime = 30 * 24 * time.Hour

// maxLinked bounds the other names of a user in an erasure.
const maxLinked = 256

const (
	keyBytes = 32
	sumBytes = 16
	idBytes  = 16
)

// Erasure is one erasure in its stored form: the identifiers are digests.
type Erasure struct {
	storage.Erasure
	Key    []byte `json:"key,omitempty"`
	IDs    names  `json:"ids,omitzero"`    // the given ones
	Linked names  `json:"linked,omitzero"` // other names of the user's sessions
	After  Place  `json:"after"`           // the last conference that is done

	Revision int64 `json:"-"` // of the setting
}

// Place is a position in a listing of conferences, from the oldest.
type Place struct{ Start, Key int64 }

// New returns a new erasure of u that starts at a time.
func New(u storage.User, at time.Time) *Erasure {
	at = at.UTC().Truncate(time.Millisecond)
	e := &Erasure{
		Erasure: storage.Erasure{
			ID: hex.EncodeToString(random(idBytes)), AppID: u.AppID, At: at, State: storage.ErasureSessions, ExpiresAt: at.Add(Lifetime),
			Pseudonym: "erased-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random(10))),
		},
		Key: random(keyBytes),
	}
	for _, id := range u.IDs {
		e.IDs.add(e.Key, id)
	}
	return e
}

func random(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.Read(out) // never fails
	return out
}

// Link adds other names of the user.
func (e *Erasure) Link(names ...string) {
	for _, name := range names {
		if name != "" && name != e.Pseudonym && len(e.Linked.IDs.Sums) < maxLinked && !e.isGiven(name) && !e.isLinked(name) {
			e.Linked.add(e.Key, name)
		}
	}
}

// Decode decodes a setting.
func Decode(s *storage.Setting) (*Erasure, error) {
	e := &Erasure{Revision: s.Revision}
	if err := json.Unmarshal(s.Body, e); err != nil {
		return nil, fmt.Errorf("erasure %s cannot be read: %w", s.ID, err)
	}
	return e, nil
}

// Setting returns the erasure as a setting, which replaces the one at e.Revision.
func (e *Erasure) Setting(now time.Time) (storage.Setting, error) {
	body, err := json.Marshal(e)
	return storage.Setting{Kind: Kind, ID: e.ID, Revision: e.Revision, ChangedAt: now, Body: body}, err
}

// isGiven reports whether a text is one of the given identifiers.
func (e *Erasure) isGiven(text string) bool { return e.IDs.IDs.has(e.Key, text) }

func (e *Erasure) isLinked(text string) bool { return e.Linked.IDs.has(e.Key, text) }

// Names reports whether one of these names is a given identifier.
func (e *Erasure) Names(names ...string) bool { return slices.ContainsFunc(names, e.isGiven) }

// Find returns the given identifiers, and the user's other names if linked is set. found, unless it is nil, is
// called with each identifier that was replaced.
func (e *Erasure) Find(linked bool, found func(text string)) *IDs {
	sets := []*names{&e.IDs}
	if linked {
		sets = append(sets, &e.Linked)
	}
	ids := &IDs{found: found}
	ids.id = func(text string) (string, bool) {
		return e.Pseudonym, slices.ContainsFunc(sets, func(n *names) bool { return n.IDs.has(e.Key, text) })
	}
	ids.form = func(form string) (string, bool) {
		return e.Pseudonym, slices.ContainsFunc(sets, func(n *names) bool { return n.Forms.has(e.Key, form) })
	}
	for _, n := range sets {
		for _, d := range n.Forms.Sums {
			ids.addLength(d.Length)
		}
	}
	return ids
}

// Began returns the time in the ID of a session, in ms since the epoch; 0 if it has none.
func Began(session [16]byte) int64 {
	if session[6]>>4 != 7 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(session[:8]) >> 16)
}
