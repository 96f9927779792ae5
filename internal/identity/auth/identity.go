package auth

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// Identity is what a session token proves.
type Identity struct {
	AppID      string
	User       protocol.UserID
	Origin     string     // of the POST that got the token; empty when it had none
	Credential Credential // what admitted the user then
	TokenID    string     // jti
	IssuedAt   time.Time  // to the millisecond
	ExpiresAt  time.Time  // to the second
}

// CredentialKind tells secrets from keys.
type CredentialKind string

// The kinds of credentials.
const (
	CredentialSecret CredentialKind = "secret" // Credential.ID is that of a Verifier
	CredentialKey    CredentialKind = "key"    // Credential.ID is that of a VerificationKey
)

// Credential names what admitted a user.
type Credential struct {
	Kind CredentialKind
	ID   string
	// Print tells a secret or key from another one that has the same ID later, and nothing
	// else of it. Empty where the ID was claimed and not proved.
	Print string
}

// printBytes is the length of a print, before it is written in hex.
const printBytes = 8

func (v Verifier) credential() Credential {
	return Credential{CredentialSecret, v.ID, hex.EncodeToString(mac(v.StoredKey, "qos 1 verifier id")[:printBytes])}
}

func (k VerificationKey) credential() Credential {
	key := k.Secret
	if k.Public != nil {
		key, _ = k.Public.Bytes() // a point that is on no curve has no print, and verifies nothing
	}
	return Credential{CredentialKey, k.ID, hex.EncodeToString(mac(key, "qos 1 key print "+k.Algorithm)[:printBytes])}
}

// text is the credential as a session token has it.
func (c Credential) text() string { return string(c.Kind) + ":" + c.Print + ":" + c.ID }

// readCredential reads what text wrote.
func readCredential(text string) (c Credential) {
	kind, rest, _ := strings.Cut(text, ":")
	c.Kind = CredentialKind(kind)
	c.Print, c.ID, _ = strings.Cut(rest, ":")
	return c
}

// has reports whether the credential is still registered.
func (a App) has(c Credential) bool {
	switch c.Kind {
	case CredentialSecret:
		return slices.ContainsFunc(a.Verifiers, func(v Verifier) bool { return v.ID == c.ID && v.credential() == c })
	case CredentialKey:
		return slices.ContainsFunc(a.Keys, func(k VerificationKey) bool { return k.ID == c.ID && k.credential() == c })
	}
	return false
}

// revoked reports whether what was issued to user at that time has been revoked since.
func (a App) revoked(user protocol.UserID, issued time.Time) Reason {
	switch {
	case issued.UnixMilli() < a.RevokedBefore.UnixMilli():
		return ReasonAppRevoked
	case issued.UnixMilli() < a.userRevoked(user).UnixMilli():
		return ReasonUserRevoked
	}
	return Granted
}

// userRevoked is the time before which what was issued to user is revoked.
func (a App) userRevoked(user protocol.UserID) time.Time {
	if len(a.RevokedUsers) == 0 {
		return time.Time{}
	}
	last := later(a.RevokedUsers[user.Name], a.RevokedUsers[user.Alias])
	for _, id := range slices.Concat(a.Pseudonyms.All(user.Name), a.Pseudonyms.All(user.Alias)) {
		last = later(last, a.RevokedUsers[id])
	}
	return last
}

// lastRevoked is the same, for whatever reason.
func (a App) lastRevoked(user protocol.UserID) time.Time {
	return later(a.RevokedBefore, a.userRevoked(user))
}

// issueTime is when a token says that it was issued that is granted now. Revocations end
// with the second they were made in, and clocks differ: who proves themselves anew while
// the last one has not ended yet is not meant by it.
func (a App) issueTime(user protocol.UserID, now time.Time) time.Time {
	if last := a.lastRevoked(user); last.Sub(now) <= Leeway {
		return later(now, last)
	}
	return now
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// standing says whether an identity that was once granted still is.
func (a *Authenticator) standing(id Identity, now time.Time) Reason {
	app, reason := a.app(id.AppID)
	if reason != Granted {
		return reason
	}
	if !app.has(id.Credential) {
		return ReasonCredentialGone
	}
	if reason := app.revoked(id.User, id.IssuedAt); reason != Granted {
		return reason
	}
	if !app.OriginAllowed(id.Origin) {
		return ReasonOriginDenied
	}
	if !now.Before(id.ExpiresAt) {
		return ReasonExpired
	}
	return Granted
}

// Recheck says whether an open session may go on after the registry changed: its app and
// credential must still be registered, its origin allowed, and nothing revoked. A
// revocation counts once its time has come: who is sent away earlier comes back with a
// third-party token that is as old as the revocation, and is refused for good. Only
// refusals are reported to the audit.
func (a *Authenticator) Recheck(id Identity, now time.Time) *protocol.Error {
	reason := a.standing(id, now)
	if reason == Granted || (reason == ReasonAppRevoked || reason == ReasonUserRevoked) && a.comes(id, now) {
		return nil
	}
	return a.tell(id.decision(MethodOpen, reason))
}

// comes reports whether the time of the last revocation is about to come.
func (a *Authenticator) comes(id Identity, now time.Time) bool {
	app, _ := a.app(id.AppID)
	ahead := app.lastRevoked(id.User).Sub(now)
	return ahead > 0 && ahead <= RevocationAhead
}

// RevocationAhead is how far ahead a revocation may lie that open sessions wait for. Who
// rechecks them does so until it is over.
const RevocationAhead = time.Second

// decision is the audit's view of an identity.
func (id Identity) decision(method Method, reason Reason) Decision {
	return Decision{
		Method: method, Reason: reason, AppID: id.AppID, User: id.User, Origin: id.Origin,
		Credential: id.Credential, TokenID: id.TokenID,
	}
}
