// Package explain says in plain words what a token is and what the collector would say to
// it. It reads tokens that are wrong in any way, so it takes nothing for granted.
package explain

import (
	"encoding/base64"
	"fmt"
	"io"
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

// Expected is what the token is to be for. What is empty is not compared.
type Expected struct {
	AppID, UserID, Alias string
	Keys                 []Key
}

// Report is what is to be said of a token.
type Report struct {
	Lines    []string // what it holds
	Refusals []string // why the collector would refuse it
	Advice   []string // what it would take, but should be otherwise
	Checked  bool     // the signature was compared with a key
}

// Write prints the report.
func (r *Report) Write(w io.Writer) error {
	lines := append([]string(nil), r.Lines...)
	for _, a := range r.Advice {
		lines = append(lines, "advice     "+a)
	}
	switch {
	case len(r.Refusals) > 0:
		lines = append(lines, "verdict    the collector would refuse it:")
		for _, refusal := range r.Refusals {
			lines = append(lines, "           - "+refusal)
		}
	case !r.Checked:
		lines = append(lines, "verdict    nothing speaks against it, but no key was given to check the signature with")
	default:
		lines = append(lines, "verdict    the collector would accept it, if this key is registered for the app")
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

func (r *Report) line(name, format string, args ...any) {
	r.Lines = append(r.Lines, fmt.Sprintf("%-10s ", name)+fmt.Sprintf(format, args...))
}

func (r *Report) refuse(format string, args ...any) {
	r.Refusals = append(r.Refusals, fmt.Sprintf(format, args...))
}

// Token explains one.
func Token(token string, want Expected, now time.Time) *Report {
	r := new(Report)
	token = strings.TrimSpace(token)
	r.line("token", "%d bytes", len(token))
	if len(token) > maxTokenBytes {
		r.refuse("it has %d bytes, %d are allowed", len(token), maxTokenBytes)
		return r
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		r.refuse("a JWT has three parts with dots between, this has %d", len(parts))
		return r
	}
	header := r.object("header", parts[0])
	claims := r.object("payload", parts[1])
	if header == nil || claims == nil {
		return r
	}
	r.header(header)
	r.identity(claims, want)
	r.times(claims, now)
	r.signature(parts, header, claims, want.Keys)
	return r
}

// object decodes one part, or says why not.
func (r *Report) object(name, part string) members {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil || strings.ContainsAny(part, "\r\n") {
		r.refuse("the %s is not base64url without padding", name)
		return nil
	}
	m, err := readMembers(raw)
	if err != nil {
		r.refuse("the %s %s", name, err)
		return nil
	}
	return m
}

func (r *Report) header(header members) {
	r.line("header", "alg %s, typ %s, kid %s", header.show("alg"), header.show("typ"), header.show("kid"))
	algorithm, _ := header.text("alg")
	if algorithm != "ES256" && algorithm != "HS256" {
		r.refuse("alg is %s; only ES256 is accepted, and HS256 for keys that are registered so", header.show("alg"))
	}
	if typ, there := header.text("typ"); header["typ"] != nil && (!there || !strings.EqualFold(typ, "JWT")) {
		r.refuse("typ is %s, not JWT", header.show("typ"))
	}
	if header["crit"] != nil {
		r.refuse("the header names critical extensions (crit); there are none")
	}
	for _, ignored := range []string{"jku", "jwk", "x5u", "x5c"} {
		if header[ignored] != nil {
			r.Advice = append(r.Advice, ignored+" in the header is ignored: keys are those that are registered")
		}
	}
}

// identity looks at the claims that must be there.
func (r *Report) identity(claims members, want Expected) {
	for _, name := range []string{"appID", "userID", "keyID"} {
		r.line(name, "%s", claims.show(name))
		if _, there := claims.text(name); !there {
			r.refuse("%s is missing or no text; it is required", name)
		}
	}
	if app, there := claims.text("appID"); there && want.AppID != "" && app != want.AppID {
		r.refuse("appID is %q, the page says %q", app, want.AppID)
	}
	if user, there := claims.text("userID"); there && want.UserID != "" && user != want.UserID && (want.Alias == "" || user != want.Alias) {
		r.refuse("userID is %q, which is neither userID (userName) nor aliasName of the page", user)
	}
	r.line("jti", "%s", claims.show("jti"))
	switch _, there := claims.text("jti"); {
	case claims["jti"] == nil:
		r.Advice = append(r.Advice, "without jti the audit log cannot tell tokens apart, and an app with single use refuses it")
	case !there:
		r.refuse("jti is no text")
	}
}

// signature checks it with the key that the claim names.
func (r *Report) signature(parts []string, header, claims members, keys []Key) {
	if len(keys) == 0 {
		r.line("signature", "not checked: no key was given")
		return
	}
	keyID, _ := claims.text("keyID")
	algorithm, _ := header.text("alg")
	r.Checked = true
	for _, key := range keys {
		if key.ID != keyID {
			continue
		}
		if key.Algorithm != algorithm {
			r.line("signature", "not checked: the key is for %s", key.Algorithm)
			r.refuse("the key %s is for %s alone", keyID, key.Algorithm)
			return
		}
		r.verify(parts, key)
		return
	}
	r.line("signature", "not checked: none of the keys is %q", keyID)
	r.refuse("no key %q is known here", keyID)
}

func (r *Report) verify(parts []string, key Key) {
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err == nil {
		err = method(key).Verify(parts[0]+"."+parts[1], signature, key.Material)
	}
	if err != nil {
		r.line("signature", "wrong")
		r.refuse("the signature is not that of the key %s, or the token was changed", key.ID)
		return
	}
	r.line("signature", "good, by the %s key %s", key.Algorithm, key.ID)
}

func method(key Key) jwt.SigningMethod {
	if key.Algorithm == jwt.SigningMethodHS256.Alg() {
		return jwt.SigningMethodHS256
	}
	return jwt.SigningMethodES256
}
