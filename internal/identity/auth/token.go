package auth

import (
	"cmp"
	"encoding/base64"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/qosrtc/qos/protocol"
)

// A token names who made it and what for, so that it cannot be taken for another kind
// that the same key may sign one day (RFC 8725, 3.8 to 3.12).
const (
	tokenIssuer   = "qos"
	tokenAudience = "qos session"
)

// sessionClaims are the claims of a session token. The subject is the AppID. The time of
// issue has its milliseconds in a claim of their own: revocation must tell a token that
// was made just before it from one made just after.
type sessionClaims struct {
	jwt.RegisteredClaims
	User       string `json:"user"`
	Alias      string `json:"alias,omitempty"` // where it differs from user
	Origin     string `json:"origin,omitempty"`
	Credential string `json:"cred"` // Credential.text
	IssuedMs   int64  `json:"iatMs"`
}

// newTokenID makes a jti.
func newTokenID() string { return base64.RawURLEncoding.EncodeToString(randomBytes(12)) }

// issue signs a session token with the newest key.
func (a *Authenticator) issue(id Identity) (string, error) {
	claims := sessionClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: tokenIssuer, Audience: jwt.ClaimStrings{tokenAudience}, Subject: id.AppID, ID: id.TokenID,
			IssuedAt: jwt.NewNumericDate(id.IssuedAt), ExpiresAt: jwt.NewNumericDate(id.ExpiresAt),
		},
		User: id.User.Name, Origin: id.Origin,
		Credential: id.Credential.text(), IssuedMs: id.IssuedAt.UnixMilli(),
	}
	if id.User.Alias != id.User.Name {
		claims.Alias = id.User.Alias
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(a.keys.newest().token)
}

// identity reads what the claims say.
func (c *sessionClaims) identity() Identity {
	if c.Alias == "" {
		c.Alias = c.User
	}
	return Identity{
		AppID: c.Subject, User: protocol.UserID{Name: c.User, Alias: c.Alias}, Origin: c.Origin,
		Credential: readCredential(c.Credential), TokenID: c.ID,
		IssuedAt: time.UnixMilli(c.IssuedMs), ExpiresAt: c.ExpiresAt.Time,
	}
}

// Token checks a session token that came from origin, and that session is one of its
// identity's: CodeTokenExpired, CodeOriginDenied, or CodeAuthFailed for everything else.
// What admitted the user must still be registered, and the origin still be allowed. The
// checks are asked last.
func (a *Authenticator) Token(token, session, origin string, now time.Time, checks ...Check) (Identity, *protocol.Error) {
	id, reason := a.token(token, origin, now)
	if reason == Granted && !a.keys.CheckSession(session, id) {
		reason = ReasonSessionWrong
	}
	return a.decide(id, reason, origin, checks)
}

// Bearer is Token for a request that belongs to no session.
func (a *Authenticator) Bearer(token, origin string, now time.Time, checks ...Check) (Identity, *protocol.Error) {
	id, reason := a.token(token, origin, now)
	return a.decide(id, reason, origin, checks)
}

// decide reports what was decided about a session token.
func (a *Authenticator) decide(id Identity, reason Reason, origin string, checks []Check) (Identity, *protocol.Error) {
	d := id.decision(MethodToken, reason)
	d.Origin = origin
	other := d.ask(checks, id)
	if refusal := a.tell(d); refusal != nil {
		return Identity{}, cmp.Or(other, refusal)
	}
	return id, nil
}

func (a *Authenticator) token(token, origin string, now time.Time) (Identity, Reason) {
	claims, reason := a.parse(token, now)
	if reason != Granted {
		return Identity{}, reason
	}
	id := claims.identity()
	reason = a.standing(id, now)
	switch {
	case reason != Granted:
		return id, reason
	case id.Origin != origin:
		return id, ReasonOriginChanged
	}
	return id, Granted
}

// parse checks the signature and the claims that all tokens have. It accepts the one
// algorithm that issue uses and no other.
func (a *Authenticator) parse(token string, now time.Time) (*sessionClaims, Reason) {
	if len(token) > protocol.MaxTokenBytes {
		return nil, ReasonMalformed
	}
	var claims sessionClaims
	_, err := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(tokenIssuer), jwt.WithAudience(tokenAudience), jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(), jwt.WithTimeFunc(func() time.Time { return now }),
	).ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return a.keys.verificationKeys(), nil })
	switch {
	case err == nil:
		return &claims, Granted
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return nil, ReasonSignature
	case errors.Is(err, jwt.ErrTokenInvalidIssuer), errors.Is(err, jwt.ErrTokenInvalidAudience), errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return nil, ReasonIssuer
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, ReasonExpired
	}
	return nil, ReasonMalformed
}

// verificationKeys are the keys that session tokens may be signed with.
func (k *Keys) verificationKeys() jwt.VerificationKeySet {
	var set jwt.VerificationKeySet
	for _, keys := range k.all {
		set.Keys = append(set.Keys, keys.token)
	}
	return set
}
