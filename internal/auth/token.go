package auth

import (
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

// sessionClaims are the claims of a session token. The subject is the AppID.
type sessionClaims struct {
	jwt.RegisteredClaims
	User   string `json:"user"`
	Alias  string `json:"alias,omitempty"` // where it differs from user
	Origin string `json:"origin,omitempty"`
}

// issue signs a session token.
func (a *Authenticator) issue(id Identity, now time.Time) (string, error) {
	claims := sessionClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: tokenIssuer, Audience: jwt.ClaimStrings{tokenAudience}, Subject: id.AppID,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(id.ExpiresAt),
		},
		User: id.User.Name, Origin: id.Origin,
	}
	if id.User.Alias != id.User.Name {
		claims.Alias = id.User.Alias
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(a.keys.newest().token)
}

// Token checks a session token that came from origin: CodeTokenExpired,
// CodeOriginDenied, or CodeAuthFailed for everything else. The app must still exist and
// still allow the origin.
func (a *Authenticator) Token(token, origin string, now time.Time) (Identity, *protocol.Error) {
	claims, err := a.parse(token, now)
	switch {
	case errors.Is(err, jwt.ErrTokenExpired) && !errors.Is(err, jwt.ErrTokenInvalidIssuer) && !errors.Is(err, jwt.ErrTokenInvalidAudience):
		return Identity{}, refused(protocol.CodeTokenExpired)
	case err != nil:
		return Identity{}, refused(protocol.CodeAuthFailed)
	}
	app, known := a.registry.App(claims.Subject)
	if !known {
		return Identity{}, refused(protocol.CodeAuthFailed)
	}
	if claims.Origin != origin || !app.OriginAllowed(origin) {
		return Identity{}, refused(protocol.CodeOriginDenied)
	}
	if claims.Alias == "" {
		claims.Alias = claims.User
	}
	return Identity{
		AppID: claims.Subject, User: protocol.UserID{Name: claims.User, Alias: claims.Alias},
		Origin: claims.Origin, ExpiresAt: claims.ExpiresAt.Time,
	}, nil
}

// parse checks the signature and the claims that all tokens have. It accepts the one
// algorithm that issue uses and no other.
func (a *Authenticator) parse(token string, now time.Time) (*sessionClaims, error) {
	if len(token) > protocol.MaxTokenBytes {
		return nil, jwt.ErrTokenMalformed
	}
	var claims sessionClaims
	_, err := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(tokenIssuer), jwt.WithAudience(tokenAudience), jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(), jwt.WithTimeFunc(func() time.Time { return now }),
	).ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return a.keys.verificationKeys(), nil })
	return &claims, err
}

// verificationKeys are the keys that session tokens may be signed with.
func (k *Keys) verificationKeys() jwt.VerificationKeySet {
	var set jwt.VerificationKeySet
	for _, keys := range k.all {
		set.Keys = append(set.Keys, keys.token)
	}
	return set
}
