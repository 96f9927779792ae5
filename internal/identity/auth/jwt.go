package auth

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/qosrtc/qos/protocol"
)

// Leeway is how far the clock of an origin server may be off.
const Leeway = time.Minute

// MaxSingleUseLifetime is how far away the end of a token may be that is good once: for
// so long its jti is remembered.
const MaxSingleUseLifetime = time.Hour

// JWT answers the POST of a token that an origin server signed (docs/protocol.md, section
// 3.2). All refusals but that of the origin, which comes when the token was proved, are
// the same to the client.
//
// The rules are those of RFC 8725. The algorithm is that of the registered key (3.1, 3.2);
// a key is looked for among those of the app that the request names, by the claim keyID
// alone: kid, jku, x5u, jwk and x5c are not looked at (3.10), crit is refused. The key's
// curve or length was checked when it was registered (3.5). A token has one form: strict
// base64url, UTF-8, no member twice, claims of their own type (2.4, 2.6, 3.8). ES256
// signatures are malleable (r, n-s is as good as r, s), so nothing is ever distinguished by
// its signature: single use goes by jti. The checks are asked last.
func (a *Authenticator) JWT(req *protocol.JWTRequest, origin string, now time.Time, checks ...Check) (protocol.TokenReply, Identity, *protocol.Error) {
	d := Decision{Method: MethodJWT, AppID: req.AppID, User: req.UserID, Origin: origin}
	d.Reason = a.jwt(req, &d, now)
	return a.answer(d, now, checks)
}

// jwt fills in the decision.
func (a *Authenticator) jwt(req *protocol.JWTRequest, d *Decision, now time.Time) Reason {
	if len(req.JWT) > protocol.MaxJWTBytes || len(d.Origin) > MaxOriginBytes || !oneForm(req.JWT) {
		return ReasonMalformed
	}
	app, reason := a.app(req.AppID)
	claims, key, signed := a.verify(req.JWT, app, reason == ReasonAppUnknown, now)
	d.JTI = claims.jti
	if claims.keyID != "" {
		d.Credential = Credential{Kind: CredentialKey, ID: claims.keyID}
	}
	if reason != Granted {
		return reason
	}
	if signed != Granted {
		return signed
	}
	if d.User == (protocol.UserID{}) { // named by the token alone, which is proved by now
		d.User = claims.user()
	}
	if reason := claims.allow(req.AppID, d.User, app, now); reason != Granted {
		return reason
	}
	if !app.OriginAllowed(d.Origin) {
		return ReasonOriginDenied
	}
	if app.SingleUse {
		d.once = jtiName(claims.jti)
		if !a.jtis.use(app.ID, d.once, now) {
			return ReasonJTIReplayed
		}
	}
	d.Credential = key.credential()
	d.issued = app.issueTime(d.User, now)
	return Granted
}

// jtiName is what is remembered of a token: as long for a long jti as for a short one.
func jtiName(jti string) string {
	sum := sha256.Sum256([]byte(jti))
	return string(sum[:])
}

// verify checks the signature and the times, and returns the key. A signature whose key is
// not known, or is for another algorithm, is checked all the same, with a decoy.
func (a *Authenticator) verify(token string, app App, invented bool, now time.Time) (claims *jwtClaims, key VerificationKey, reason Reason) {
	claims, reason = new(jwtClaims), Granted
	_, err := jwt.NewParser(
		jwt.WithValidMethods([]string{AlgorithmES256, AlgorithmHS256}), jwt.WithStrictDecoding(),
		jwt.WithLeeway(Leeway), jwt.WithIssuedAt(), jwt.WithTimeFunc(func() time.Time { return now }),
	).ParseWithClaims(token, claims, func(token *jwt.Token) (any, error) {
		key, reason = a.signer(app, claims.keyID, token.Method.Alg())
		if invented {
			return nil, a.invented.verify(token, key)
		}
		return key.material(), nil
	})
	if reason == Granted {
		reason = reasonOf(err)
	}
	return claims, key, reason
}

// reasonOf names what the library found.
func reasonOf(err error) Reason {
	switch {
	case err == nil:
		return Granted
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return ReasonSignature
	case errors.Is(err, jwt.ErrTokenExpired):
		return ReasonExpiredJWT
	case errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return ReasonNotYet
	}
	return ReasonMalformed
}

// signer finds the key of a token among those of the app, or a decoy and the reason.
func (a *Authenticator) signer(app App, keyID, algorithm string) (VerificationKey, Reason) {
	found := ReasonKeyUnknown
	for _, key := range app.Keys {
		switch {
		case key.ID != keyID || keyID == "":
		case key.Algorithm != algorithm || !key.fit():
			found = ReasonAlgorithm
		default:
			return key, Granted
		}
	}
	return a.decoys[algorithm], found
}

// allow checks what a signed token says against what is asked for. All of the app's
// revocations hold for it too: what has no iat may be of any age.
func (c *jwtClaims) allow(appID string, user protocol.UserID, app App, now time.Time) Reason {
	if c.appID != appID {
		return ReasonClaimApp
	}
	if c.userID == "" || c.userID != user.Name && c.userID != user.Alias {
		return ReasonClaimUser
	}
	if reason := app.revoked(user, c.issued()); reason != Granted {
		return reason
	}
	if !app.SingleUse {
		return Granted
	}
	switch {
	case c.jti == "":
		return ReasonJTIMissing
	case c.expiresAt == nil || c.expiresAt.After(now.Add(MaxSingleUseLifetime+Leeway)):
		return ReasonLifetime
	}
	return Granted
}
