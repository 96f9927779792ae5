package pseudonym

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
)

const (
	// KeyBytes is the length of the shortest key.
	KeyBytes = 32
	// MaxKeys bounds the keys of one application.
	MaxKeys = 8

	prefix = "u_"
	digits = 26 // of 5 bits: 130 bits
)

// Length is the length of each pseudonym, in bytes.
const Length = len(prefix) + digits

// encoding is base32 (RFC 4648) in lower case: a change of case does not merge two pseudonyms.
var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Keys computes the pseudonyms of one application. It never changes. A nil Keys has no keys.
type Keys struct {
	derived [][]byte // newest first
}

// New returns the keys of an application, derived from secrets, the newest first. Applications with the same
// secret have different keys, so that their users cannot be linked.
func New(appID string, secrets ...[]byte) *Keys {
	k := &Keys{}
	for _, secret := range secrets {
		k.derived = append(k.derived, mac(secret, "qos 1 users of "+appID))
	}
	return k
}

// ID returns the pseudonym of a user ID by the newest key: equal for equal ID and key, in every session and on every
// collector. It can neither be computed nor guessed and checked without the key. It is empty for an empty ID.
func (k *Keys) ID(userID string) string {
	if userID == "" {
		return ""
	}
	return pseudonym(k.derived[0], userID)
}

// All returns the pseudonyms of a user ID by every key, the newest first.
func (k *Keys) All(userID string) (all []string) {
	if k == nil || userID == "" {
		return nil
	}
	for _, key := range k.derived {
		all = append(all, pseudonym(key, userID))
	}
	return all
}

// Equal reports whether both compute the same pseudonyms.
func (k *Keys) Equal(other *Keys) bool {
	if k == nil || other == nil {
		return k == other
	}
	return slices.EqualFunc(k.derived, other.derived, slices.Equal[[]byte])
}

// Is reports whether a text has the form of a pseudonym.
func Is(text string) bool {
	rest, ok := strings.CutPrefix(text, prefix)
	return ok && len(rest) == digits && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

func pseudonym(key []byte, userID string) string {
	return prefix + encoding.EncodeToString(mac(key, userID))[:digits]
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
