package erasure

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
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

// Lifetime is how long an erasure is applied to what arrives late. The receiver takes records of the last 24
// hours; a page that stays open names its users for longer.
const Lifetime = 30 * 24 * time.Hour

// maxLinked bounds the other names of a user that an erasure remembers.
const maxLinked = 256

const (
	keyBytes = 32
	sumBytes = 16
	idBytes  = 16
)

// Erasure is one erasure as the store keeps it: the identifiers are digests.
type Erasure struct {
	storage.Erasure
	Key    []byte  `json:"key,omitempty"`
	IDs    []keyed `json:"ids,omitempty"`    // that were given
	Linked []keyed `json:"linked,omitempty"` // other names of the user's sessions
	After  Place   `json:"after"`            // conferences up to here are done

	Revision int64           `json:"-"` // of the setting
	known    map[string]bool // results of is, by text
	linked   map[string]bool // the same, of Linked
}

// Place is a position in a listing of conferences, from the oldest.
type Place struct{ Start, Key int64 }

// keyed is a keyed digest of an identifier.
type keyed struct {
	Length int    `json:"n"`
	Sum    []byte `json:"sum"`
}

// New returns an erasure that begins at a time.
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
		e.IDs = append(e.IDs, e.digest(id))
	}
	return e
}

func random(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.Read(out) // never fails
	return out
}

func (e *Erasure) digest(id string) keyed {
	h := hmac.New(sha256.New, e.Key)
	h.Write([]byte(id))
	return keyed{len(id), h.Sum(nil)[:sumBytes]}
}

// Link adds other names of the user.
func (e *Erasure) Link(names ...string) {
	for _, name := range names {
		if name == "" || name == e.Pseudonym || len(e.Linked) >= maxLinked || e.is(name) || e.isLinked(name) {
			continue
		}
		e.Linked = append(e.Linked, e.digest(name))
		e.linked = nil
	}
}

// Decode reads a setting.
func Decode(s *storage.Setting) (*Erasure, error) {
	e := &Erasure{Revision: s.Revision}
	if err := json.Unmarshal(s.Body, e); err != nil {
		return nil, fmt.Errorf("erasure %s cannot be read: %w", s.ID, err)
	}
	return e, nil
}

// Setting returns the erasure as a setting, in place of its revision.
func (e *Erasure) Setting(now time.Time) (storage.Setting, error) {
	body, err := json.Marshal(e)
	return storage.Setting{Kind: Kind, ID: e.ID, Revision: e.Revision, ChangedAt: now, Body: body}, err
}

// maxKnown bounds the texts whose result is remembered.
const maxKnown = 4096

// is reports whether a text is one of the identifiers that were given.
func (e *Erasure) is(text string) bool { return e.among(&e.known, e.IDs, text) }

func (e *Erasure) isLinked(text string) bool { return e.among(&e.linked, e.Linked, text) }

func (e *Erasure) among(known *map[string]bool, digests []keyed, text string) bool {
	if text == "" || !slices.ContainsFunc(digests, func(d keyed) bool { return d.Length == len(text) }) {
		return false
	}
	if is, ok := (*known)[text]; ok {
		return is
	}
	sum := e.digest(text).Sum
	is := slices.ContainsFunc(digests, func(d keyed) bool { return hmac.Equal(d.Sum, sum) })
	if *known == nil || len(*known) >= maxKnown {
		*known = map[string]bool{}
	}
	(*known)[strings.Clone(text)] = is
	return is
}

// Names reports whether a user with these names is the erased one.
func (e *Erasure) Names(names ...string) bool { return slices.ContainsFunc(names, e.is) }

// Find returns the identifiers of the erasure, and the user's other names where linked is set. It calls found,
// unless it is nil, with each that was replaced.
func (e *Erasure) Find(linked bool, found func(text string)) *IDs {
	ids := &IDs{found: found, find: func(text string) (string, bool) {
		return e.Pseudonym, e.is(text) || linked && e.isLinked(text)
	}}
	for _, d := range e.IDs {
		ids.addLength(d.Length)
	}
	if linked {
		for _, d := range e.Linked {
			ids.addLength(d.Length)
		}
	}
	return ids
}

// Began returns the time in the ID of a session, in ms since the epoch; 0 where it has none.
func Began(session [16]byte) int64 {
	if session[6]>>4 != 7 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(session[:8]) >> 16)
}
