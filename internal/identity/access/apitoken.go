package access

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Bounds of API tokens.
const (
	// MaxAPITokenDays is the longest time for which an API token is valid.
	MaxAPITokenDays = 366
	// DefaultAPITokenDays is the time for which an API token is valid where the request has none.
	DefaultAPITokenDays = 90
	// SeeTokenEvery is how often an API token records that it is used.
	SeeTokenEvery = time.Hour
)

// APITokenPrefix begins the text of each API token, so that secret scanners find it:
// qos_[A-Z2-7]{38}[0-9a-f]{8}. The last 8 characters are the CRC-32 (IEEE) of those before.
const APITokenPrefix = "qos_"

// Parts of the text, in characters.
const (
	apiTokenID     = 12 // 60 bits of the SHA-256 of the name
	apiTokenSecret = 26 // 130 random bits
	apiTokenSum    = 8
	apiTokenLength = len(APITokenPrefix) + apiTokenID + apiTokenSecret + apiTokenSum
)

var (
	apiTokenName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)
	apiTokenForm = regexp.MustCompile(`^` + APITokenPrefix + `[A-Z2-7]{` + strconv.Itoa(apiTokenID+apiTokenSecret) + `}[0-9a-f]{` + strconv.Itoa(apiTokenSum) + `}$`)
)

// APIToken is a document of the store. Its setting has the id APITokenID(Name).
type APIToken struct {
	Name  string `json:"name"`
	Roles []Role `json:"roles"` // support, engineering
	Scope Scope  `json:"scope"`
	// Digest is the SHA-256 of the text.
	Digest []byte `json:"digest"`
	// Maker is the user who made the token, and MakerSince the time when that user was made: a later user
	// of the same name is another one.
	Maker      string    `json:"maker"`
	MakerSince time.Time `json:"makerSince"`
	CreatedAt  time.Time `json:"createdAt"`
	ExpiresAt  time.Time `json:"expiresAt"`
	// UsedAt is the time of a request, at most SeeTokenEvery before the last one; zero: none.
	UsedAt time.Time `json:"usedAt,omitzero"`
}

// NewAPITokenText returns the text of a new token of a name.
func NewAPITokenText(name string) string {
	text := APITokenPrefix + APITokenID(name) + rand.Text()[:apiTokenSecret]
	return text + apiTokenChecksum(text)
}

func apiTokenChecksum(text string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text)))
}

// APITokenID returns the id of the setting of a token. It depends on the name only, so the store keeps
// names unique.
func APITokenID(name string) string {
	sum := sha256.Sum256([]byte("qos token name\x00" + name))
	return base32.StdEncoding.EncodeToString(sum[:])[:apiTokenID]
}

// ParseAPIToken returns the id and the digest of the text of a token, and false where it is none.
func ParseAPIToken(text string) (id string, digest []byte, ok bool) {
	if len(text) != apiTokenLength || !apiTokenForm.MatchString(text) {
		return "", nil, false
	}
	body, sum := text[:apiTokenLength-apiTokenSum], text[apiTokenLength-apiTokenSum:]
	if !same(apiTokenChecksum(body), sum) {
		return "", nil, false
	}
	return text[len(APITokenPrefix):][:apiTokenID], DigestAPIToken(text), true
}

// DigestAPIToken returns the digest of a text, as the store has it.
func DigestAPIToken(text string) []byte {
	sum := sha256.Sum256([]byte("qos token\x00" + text))
	return sum[:]
}

// Check returns the fault of a token.
func (t *APIToken) Check() error {
	if !apiTokenName.MatchString(t.Name) {
		return &Fault{Field: "name", Limit: "have 1 to 40 of a-z, 0-9 and ._- and begin with a letter or digit", Got: fmt.Sprintf("%d bytes", len(t.Name))}
	}
	if err := checkRoles(t.Roles); err != nil {
		return err
	}
	if slices.Contains(t.Roles, Admin) {
		return &Fault{Field: "roles", Limit: "be support or engineering: a token manages nothing", Got: string(Admin)}
	}
	if len(t.Digest) != sha256.Size {
		return &Fault{Field: "digest", Limit: fmt.Sprintf("have %d bytes", sha256.Size), Got: strconv.Itoa(len(t.Digest))}
	}
	return t.Scope.check()
}

// Valid reports whether a request with a digest has this token, at a time before it expires. It compares
// in constant time.
func (t *APIToken) Valid(digest []byte, now time.Time) bool {
	return subtle.ConstantTimeCompare(t.Digest, digest) == 1 && now.Before(t.ExpiresAt)
}

// MadeBy reports whether a user made the token and may make it still. A token ends with the rights of its maker.
func (t *APIToken) MadeBy(u *User) bool {
	return !u.Disabled && u.CreatedAt.Equal(t.MakerSince) && t.CheckMaker(&Visitor{Roles: u.Roles, Scope: u.Scope}) == nil
}

// CheckMaker returns the fault of a token that a visitor would make: roles or apps that they cannot give.
func (t *APIToken) CheckMaker(v *Visitor) error {
	switch {
	case !Settings.Allows(v):
		return &Fault{Field: "maker", Limit: "have the role " + string(Admin), Got: "other roles"}
	case slices.ContainsFunc(t.Roles, func(r Role) bool { return !v.Gives(r) }):
		return &Fault{Field: "roles", Limit: "be yours, without all apps in scope", Got: "another role"}
	case !v.Scope.Covers(t.Scope):
		return &Fault{Field: "scope", Limit: "be within yours", Got: "another app"}
	}
	return nil
}

// Visitor returns who sends a request with the token.
func (t *APIToken) Visitor() *Visitor {
	return &Visitor{Name: "token:" + t.Name, Login: "token " + LoginName(t.Digest), Method: "token", Token: true, Roles: t.Roles, Scope: t.Scope}
}

// Encode returns the document.
func (t *APIToken) Encode() ([]byte, error) { return json.Marshal(t) }

// DecodeAPIToken reads a document. It refuses members that it does not know: a newer program may have
// written one that takes a right away.
func DecodeAPIToken(body []byte) (t APIToken, err error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&t); err != nil {
		return APIToken{}, err
	}
	return t, t.Check()
}
