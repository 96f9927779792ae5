// Package explain prints the content of a token, and why the collector would refuse it. It reads
// tokens that are wrong in any way.
package explain

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// What the collector allows (docs/protocol.md).
const (
	maxTokenBytes = 16 << 10
	leeway        = time.Minute // between its clock and the agent's
)

// Key is one that is registered for the app.
type Key struct {
	ID        string
	Algorithm string // ES256 or HS256
	Material  any    // *ecdsa.PublicKey or []byte
}

// Expected is the login that the token is for. What is empty is not compared.
type Expected struct {
	AppID, UserID, Alias string
	Key                  Key
}

// Report is the content of a token and its faults.
type Report struct {
	Lines    []string // the content
	Refusals []string // why the collector would refuse it
	Advice   []string // faults that the collector accepts
	Checked  bool     // the signature was compared with a key
}

// String returns the report as it is printed.
func (r *Report) String() string {
	var text strings.Builder
	for _, line := range r.Lines {
		text.WriteString(line + "\n")
	}
	for _, advice := range r.Advice {
		text.WriteString("advice     " + advice + "\n")
	}
	verdict := "the collector would accept it, if this key is registered for the app"
	switch {
	case len(r.Refusals) > 0:
		verdict = "the collector would refuse it:\n           - " + strings.Join(r.Refusals, "\n           - ")
	case !r.Checked:
		verdict = "nothing speaks against it, but no key was given to check the signature with"
	}
	return text.String() + "verdict    " + verdict + "\n"
}

func (r *Report) line(name, format string, args ...any) {
	r.Lines = append(r.Lines, fmt.Sprintf("%-10s ", name)+fmt.Sprintf(format, args...))
}

// refuse adds a reason if it applies.
func (r *Report) refuse(applies bool, format string, args ...any) {
	if applies {
		r.Refusals = append(r.Refusals, fmt.Sprintf(format, args...))
	}
}

// advise adds an advice if it applies.
func (r *Report) advise(applies bool, format string, args ...any) {
	if applies {
		r.Advice = append(r.Advice, fmt.Sprintf(format, args...))
	}
}

// Token explains one.
func Token(token string, want Expected, now time.Time) *Report {
	r := new(Report)
	token = strings.TrimSpace(token)
	parts := strings.Split(token, ".")
	r.line("token", "%d bytes", len(token))
	if len(token) > maxTokenBytes || len(parts) != 3 {
		r.refuse(len(token) > maxTokenBytes, "it has %d bytes, %d are allowed", len(token), maxTokenBytes)
		r.refuse(len(parts) != 3, "a JWT has three parts with dots between, this has %d", len(parts))
		return r
	}
	header, wrongHeader := readMembers(parts[0])
	claims, wrongClaims := readMembers(parts[1])
	r.refuse(wrongHeader != nil, "the header %v", wrongHeader)
	r.refuse(wrongClaims != nil, "the payload %v", wrongClaims)
	if len(r.Refusals) > 0 {
		return r
	}
	r.header(header)
	r.identity(claims, want)
	r.times(claims, now)
	r.signature(parts, header, claims, want.Key)
	return r
}

func (r *Report) header(header members) {
	r.line("header", "alg %s, typ %s, kid %s", header.show("alg"), header.show("typ"), header.show("kid"))
	algorithm, _ := header.text("alg")
	r.refuse(algorithm != "ES256" && algorithm != "HS256", "alg is %s; only ES256 is accepted, and HS256 for keys that are registered so", header.show("alg"))
	typ, _ := header.text("typ")
	r.refuse(header["typ"] != nil && !strings.EqualFold(typ, "JWT"), "typ is %s, not JWT", header.show("typ"))
	r.refuse(header["crit"] != nil, "the header names critical extensions (crit); there are none")
	for _, ignored := range []string{"jku", "jwk", "x5u", "x5c"} {
		r.advise(header[ignored] != nil, "%s in the header is ignored: keys are those that are registered", ignored)
	}
}

// identity compares the claims that name app, user and key.
func (r *Report) identity(claims members, want Expected) {
	for _, name := range []string{"appID", "userID", "keyID"} {
		r.line(name, "%s", claims.show(name))
		_, ok := claims.text(name)
		r.refuse(!ok, "%s is missing or no text; it is required", name)
	}
	app, ok := claims.text("appID")
	r.refuse(ok && want.AppID != "" && app != want.AppID, "appID is %q, the page says %q", app, want.AppID)
	user, ok := claims.text("userID")
	r.refuse(ok && want.UserID != "" && user != want.UserID && (want.Alias == "" || user != want.Alias),
		"userID is %q, which is neither userID (userName) nor aliasName of the page", user)
	r.line("jti", "%s", claims.show("jti"))
	_, ok = claims.text("jti")
	r.refuse(claims["jti"] != nil && !ok, "jti is no text")
	r.advise(claims["jti"] == nil, "without jti the audit log cannot tell tokens apart, and an app with single use refuses it")
}

// signature checks it with the key.
func (r *Report) signature(parts []string, header, claims members, key Key) {
	keyID, _ := claims.text("keyID")
	algorithm, _ := header.text("alg")
	r.Checked = key.ID != ""
	err := verify(parts, key)
	switch {
	case !r.Checked:
		r.line("signature", "not checked: no key was given")
	case key.ID != keyID:
		r.line("signature", "not checked: the key is not %q", keyID)
		r.refuse(true, "no key %q is known here", keyID)
	case key.Algorithm != algorithm:
		r.line("signature", "not checked: the key is for %s", key.Algorithm)
		r.refuse(true, "the key %s is for %s alone", keyID, key.Algorithm)
	case err != nil:
		r.line("signature", "wrong")
		r.refuse(true, "the signature is not that of the key %s, or the token was changed", key.ID)
	default:
		r.line("signature", "good, by the %s key %s", key.Algorithm, key.ID)
	}
}

func verify(parts []string, key Key) error {
	signature, err := decode(parts[2])
	method := jwt.GetSigningMethod(key.Algorithm)
	if err != nil || method == nil {
		return errors.Join(err, jwt.ErrTokenUnverifiable)
	}
	return method.Verify(parts[0]+"."+parts[1], signature, key.Material)
}

// decode reads one part. The decoder alone would skip line ends.
func decode(part string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil || strings.ContainsAny(part, "\r\n") {
		return nil, errors.New("is not base64url without padding")
	}
	return raw, nil
}
