package turnrest

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the scheme's own
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what a credential is for.
type Kind string

// The kinds of credentials.
const (
	Test Kind = "test" // pre-call tests: relays to relays of the same user
	Call Kind = "call" // calls: relays to peers that are public
)

// MinSecretBytes is the length of the shortest secret.
const MinSecretBytes = 32

const (
	maxAppBytes = 256 // of an app ID in a username; a longer one is hashed
	hashBytes   = 12  // of a SHA-256: 16 characters
	parts       = 4
)

// errUsername says that a username is not of the form that Credentials makes.
var errUsername = errors.New("the username is not expiry:kind:app:user")

// Claims are what a username says.
type Claims struct {
	// Expires has whole seconds.
	Expires time.Time
	Subject
}

// Subject is whom the use of a credential counts against. It is the same for each credential that one
// secret makes for a user of an app, and comparable.
type Subject struct {
	Kind Kind
	App  string // as it is in the username
	User string // keyed hash
}

// Expired reports whether a credential is not valid any more.
func (c Claims) Expired(now time.Time) bool { return !now.Before(c.Expires) }

// Credentials returns the username and credential for a user of an app, and when they expire: after ttl,
// rounded up to a second.
func Credentials(secret []byte, kind Kind, appID, userID string, ttl time.Duration, now time.Time) (username, credential string, expires time.Time) {
	expires = now.Add(ttl + time.Second - time.Nanosecond).Truncate(time.Second)
	username = strings.Join([]string{strconv.FormatInt(expires.Unix(), 10), string(kind), appPart(secret, appID), userPart(secret, appID, userID)}, ":")
	return username, Password(secret, username), expires
}

// Password returns the credential of a username.
func Password(secret []byte, username string) string {
	mac := hmac.New(sha1.New, secret)
	mac.Write([]byte(username))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Parse reads a username. It says nothing about the credential: anybody can write one.
func Parse(username string) (Claims, error) {
	part := strings.Split(username, ":")
	if len(part) != parts || part[2] == "" || part[3] == "" {
		return Claims{}, errUsername
	}
	seconds, err := strconv.ParseUint(part[0], 10, 40)
	if err != nil || !slices.Contains([]Kind{Test, Call}, Kind(part[1])) {
		return Claims{}, errUsername
	}
	return Claims{time.Unix(int64(seconds), 0), Subject{Kind(part[1]), part[2], part[3]}}, nil
}

func appPart(secret []byte, appID string) string {
	if escaped := url.QueryEscape(appID); len(escaped) <= maxAppBytes {
		return escaped
	}
	return "=" + hash(secret, "app", appID) // no escape begins with it
}

func userPart(secret []byte, appID, userID string) string { return hash(secret, "user", appID, userID) }

// hash is a keyed hash of strings, each with its length so that no two lists have the same bytes.
func hash(secret []byte, strs ...string) string {
	mac := hmac.New(sha256.New, secret)
	for _, s := range strs {
		mac.Write([]byte(strconv.Itoa(len(s)) + ":" + s))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:hashBytes])
}
