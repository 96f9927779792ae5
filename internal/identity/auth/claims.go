package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/protocol"
)

// base64url are the characters of a token. The decoder would skip line ends.
const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// oneForm reports whether a token is written in the one way that is taken, as far as its
// header shows: three parts of base64url, a header that is one object with no member twice
// and nothing critical, and that calls itself a JWT if it calls itself anything.
func oneForm(token string) bool {
	header, _, ok := strings.Cut(token, ".")
	if !ok || strings.ContainsFunc(token, notBase64url) {
		return false
	}
	raw, err := jwt.NewParser(jwt.WithStrictDecoding()).DecodeSegment(header)
	if err != nil {
		return false
	}
	m, err := readMembers(raw)
	if err != nil {
		return false
	}
	typ, err := m.text("typ")
	_, critical := m["crit"]
	return err == nil && !critical && (typ == "" || strings.EqualFold(typ, "JWT"))
}

func notBase64url(r rune) bool { return r != '.' && !strings.ContainsRune(base64url, r) }

// members are those of one JSON object.
type members map[string]json.RawMessage

func readMembers(raw []byte) (members, error) { return jsonobject.Members(raw) }

// text reads a string of at most MaxIDBytes; empty where there is none.
func (m members) text(name string) (text string, err error) {
	raw, ok := m[name]
	if !ok {
		return "", nil
	}
	if raw[0] != '"' {
		return "", fmt.Errorf("%s is no string", name)
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if text == "" || len(text) > maxClaimBytes {
		return "", fmt.Errorf("%s is empty or too long", name)
	}
	return text, nil
}

// maxClaimBytes is the longest claim that is a text: the longest userName.
const maxClaimBytes = protocol.MaxUserNameChars * utf8.UTFMax

// lastDate is the end of the year 9999, in seconds.
const lastDate = 253402300799

// date reads a NumericDate: seconds since the epoch, with fractions; nil where there is
// none.
func (m members) date(name string) (*jwt.NumericDate, error) {
	raw, ok := m[name]
	if !ok {
		return nil, nil // as the library has it where a claim is absent
	}
	var seconds float64
	if raw[0] < '0' || raw[0] > '9' {
		return nil, fmt.Errorf("%s is no time", name)
	}
	if err := json.Unmarshal(raw, &seconds); err != nil || seconds > lastDate {
		return nil, fmt.Errorf("%s is no time", name)
	}
	return &jwt.NumericDate{Time: time.UnixMilli(int64(math.Floor(seconds * 1000)))}, nil
}

// jwtClaims are the claims of a third-party token (interface document, section 5.2). All
// others are ignored.
type jwtClaims struct {
	appID, userID, keyID, jti      string
	issuedAt, notBefore, expiresAt *jwt.NumericDate
}

// UnmarshalJSON reads the claims, each of its own type.
func (c *jwtClaims) UnmarshalJSON(raw []byte) error {
	m, err := readMembers(raw)
	if err != nil {
		return err
	}
	var errs [7]error
	c.appID, errs[0] = m.text("appID")
	c.userID, errs[1] = m.text("userID")
	c.keyID, errs[2] = m.text("keyID")
	c.jti, errs[3] = m.text("jti")
	c.issuedAt, errs[4] = m.date("iat")
	c.notBefore, errs[5] = m.date("nbf")
	c.expiresAt, errs[6] = m.date("exp")
	return errors.Join(errs[:]...)
}

// user is the user whom the claims name. It is the zero value without a name, or with one that is longer than
// an ID may be.
func (c *jwtClaims) user() protocol.UserID {
	if len(c.userID) > protocol.MaxIDBytes {
		return protocol.UserID{}
	}
	return protocol.UserID{Name: c.userID, Alias: c.userID}
}

// issued is the claim iat; what has none may have been issued at any time.
func (c *jwtClaims) issued() time.Time {
	if c.issuedAt == nil {
		return time.Time{}
	}
	return c.issuedAt.Time
}

var _ jwt.Claims = (*jwtClaims)(nil)

// GetExpirationTime implements jwt.Claims.
func (c *jwtClaims) GetExpirationTime() (*jwt.NumericDate, error) { return c.expiresAt, nil }

// GetIssuedAt implements jwt.Claims.
func (c *jwtClaims) GetIssuedAt() (*jwt.NumericDate, error) { return c.issuedAt, nil }

// GetNotBefore implements jwt.Claims.
func (c *jwtClaims) GetNotBefore() (*jwt.NumericDate, error) { return c.notBefore, nil }

// GetIssuer implements jwt.Claims; it is not looked at.
func (*jwtClaims) GetIssuer() (string, error) { return "", nil }

// GetSubject implements jwt.Claims; it is not looked at.
func (*jwtClaims) GetSubject() (string, error) { return "", nil }

// GetAudience implements jwt.Claims; it is not looked at.
func (*jwtClaims) GetAudience() (jwt.ClaimStrings, error) { return nil, nil }
