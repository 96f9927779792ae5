package auth

import (
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// heard is what an authenticator reported to its audit.
type heard struct{ all []Decision }

func listen(a *Authenticator) *heard {
	h := new(heard)
	a.audit = func(d Decision) { h.all = append(h.all, d) }
	return h
}

func (h *heard) last(t *testing.T) Decision {
	t.Helper()
	require.NotEmpty(t, h.all)
	return h.all[len(h.all)-1]
}

// sessionToken signs claims that are good but for what change does.
func sessionToken(t *testing.T, credential string, method jwt.SigningMethod, key any, change func(*sessionClaims)) string {
	t.Helper()
	claims := sessionClaims{
		User: "Alice", Origin: page, Credential: credential, IssuedMs: now.UnixMilli(),
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: tokenIssuer, Audience: jwt.ClaimStrings{tokenAudience}, Subject: "123",
			ExpiresAt: jwt.NewNumericDate(now.Add(time.Hour)),
		},
	}
	change(&claims)
	token, err := jwt.NewWithClaims(method, claims).SignedString(key)
	require.NoError(t, err)
	return token
}

// spec: AUTH-02
func TestTokenRefusals(t *testing.T) {
	a, apps := testAuthenticator(t)
	app := apps["123"]
	credential := app.Verifiers[0].credential().text()
	key := a.keys.newest().token
	same := func(*sessionClaims) {}
	good := sessionToken(t, credential, jwt.SigningMethodHS256, key, same)
	session := a.keys.MintSession(Identity{AppID: "123", User: protocol.UserID{Name: "Alice", Alias: "Alice"}, Origin: page}, now)
	heard := listen(a)
	identity, refusal := a.Token(good, session, page, now)
	require.Nil(t, refusal)
	require.Equal(t, protocol.UserID{Name: "Alice", Alias: "Alice"}, identity.User)
	require.Equal(t, Granted, heard.last(t).Reason)

	f := func(name string, want Reason, token string, at time.Time) {
		t.Helper()
		_, refusal := a.Token(token, session, page, at)
		require.NotNil(t, refusal, name)
		require.Equal(t, refused(want.Code()), refusal, name)
		require.Equal(t, want, heard.last(t).Reason, name)
	}
	hs256 := func(change func(*sessionClaims)) string {
		return sessionToken(t, credential, jwt.SigningMethodHS256, key, change)
	}
	f("expired", ReasonExpired, good, now.Add(2*time.Hour))
	f("empty", ReasonMalformed, "", now)
	f("rubbish", ReasonMalformed, "a.b.c", now)
	f("cut", ReasonMalformed, good[:len(good)-2], now)
	f("another signature", ReasonSignature, good[:len(good)-8]+"AAAAAAA"+good[len(good)-1:], now)
	f("too long", ReasonMalformed, good+strings.Repeat("A", protocol.MaxTokenBytes), now)
	f("none", ReasonSignature, sessionToken(t, credential, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, same), now)
	f("HS384", ReasonSignature, sessionToken(t, credential, jwt.SigningMethodHS384, key, same), now)
	f("another key", ReasonSignature, sessionToken(t, credential, jwt.SigningMethodHS256, []byte("other"), same), now)
	f("another key, expired", ReasonSignature, sessionToken(t, credential, jwt.SigningMethodHS256, []byte("other"), same), now.Add(3*time.Hour))
	f("issuer", ReasonIssuer, hs256(func(c *sessionClaims) { c.Issuer = "x" }), now)
	f("issuer, expired", ReasonIssuer, hs256(func(c *sessionClaims) { c.Issuer = "x" }), now.Add(3*time.Hour))
	f("audience", ReasonIssuer, hs256(func(c *sessionClaims) { c.Audience = nil }), now)
	f("no exp", ReasonIssuer, hs256(func(c *sessionClaims) { c.ExpiresAt = nil }), now)
	f("unknown app", ReasonAppUnknown, hs256(func(c *sessionClaims) { c.Subject = "x" }), now)
	f("a secret that was never there", ReasonCredentialGone, hs256(func(c *sessionClaims) { c.Credential = strings.TrimSuffix(credential, app.Verifiers[0].ID) + "s9" }), now)
	f("a key by a secret's name", ReasonCredentialGone, hs256(func(c *sessionClaims) { c.Credential = strings.Replace(credential, "secret", "key", 1) }), now)
	f("another secret of the same name", ReasonCredentialGone, hs256(func(c *sessionClaims) { c.Credential = "secret:0011223344556677:" + app.Verifiers[0].ID }), now)
	f("no print", ReasonCredentialGone, hs256(func(c *sessionClaims) { c.Credential = "secret::" + app.Verifiers[0].ID }), now)
	f("no credential", ReasonCredentialGone, hs256(func(c *sessionClaims) { c.Credential = "" }), now)
}

// spec: AUTH-02, AUTH-03
func TestTokenIsBoundToItsOrigin(t *testing.T) {
	a, apps := testAuthenticator(t)
	f := func(name string, want Reason, reply protocol.TokenReply, origin string) {
		t.Helper()
		heard := listen(a)
		_, refusal := a.Token(reply.Token, reply.Session, origin, now)
		require.Equal(t, want.Code(), refusal.Code, name)
		require.Equal(t, want, heard.last(t).Reason, name)
		require.Equal(t, origin, heard.last(t).Origin, name)
	}
	reply, _, refusal := login(t, a, "123", "new secret", page)
	require.Nil(t, refusal)
	f("another", ReasonOriginChanged, reply, "https://b.example")
	f("none", ReasonOriginChanged, reply, "")
	open, _, refusal := login(t, a, "open", "Paßwort fi", page)
	require.Nil(t, refusal)
	f("even where all are allowed", ReasonOriginChanged, open, "https://b.example")
	f("or none came", ReasonOriginChanged, open, "")
	app := apps["123"]
	app.Origins = []string{"https://other.example.org"}
	apps["123"] = app
	f("taken off the list", ReasonOriginDenied, reply, page)
}

// What is revoked closes open sessions and refuses tokens; what was issued afterwards is
// good.
//
// spec: AUTH-02
func TestRevocation(t *testing.T) {
	f := func(name string, want Reason, change func(*App)) {
		t.Helper()
		a, apps := testAuthenticator(t)
		reply, identity, refusal := login(t, a, "123", "new secret", page)
		require.Nil(t, refusal)
		heard := listen(a)
		require.Nil(t, a.Recheck(identity, now))
		require.Empty(t, heard.all, "what goes on is no news")
		app := apps["123"]
		change(&app)
		apps["123"] = app
		if want == Granted {
			require.Nil(t, a.Recheck(identity, now), name)
			return
		}
		require.Equal(t, refused(want.Code()), a.Recheck(identity, now.Add(time.Minute)), name)
		d := heard.last(t)
		require.Equal(t, MethodOpen, d.Method)
		require.Equal(t, want, d.Reason, name)
		require.Equal(t, identity.TokenID, d.TokenID)
		_, refusal = a.Token(reply.Token, reply.Session, page, now)
		require.Equal(t, refused(want.Code()), refusal, name)
		require.Equal(t, want, heard.last(t).Reason, name)
	}
	issued := now.Add(time.Second) // by login
	later, same := issued.Add(time.Millisecond), issued
	f("nothing", Granted, func(*App) {})
	f("the other secret", Granted, func(app *App) { app.Verifiers = app.Verifiers[1:] })
	f("another secret under its name", ReasonCredentialGone, func(app *App) {
		changed := app.Verifiers[1]
		changed.StoredKey = randomBytes(32)
		app.Verifiers = []Verifier{app.Verifiers[0], changed}
	})
	f("its secret", ReasonCredentialGone, func(app *App) { app.Verifiers = app.Verifiers[:1] })
	f("the app is off", ReasonAppDisabled, func(app *App) { app.Disabled = true })
	f("all before", ReasonAppRevoked, func(app *App) { app.RevokedBefore = later })
	f("all before it", Granted, func(app *App) { app.RevokedBefore = same })
	f("the user", ReasonUserRevoked, func(app *App) { app.RevokedUsers = map[string]time.Time{alice.Name: later} })
	f("the user's alias", ReasonUserRevoked, func(app *App) { app.RevokedUsers = map[string]time.Time{alice.Alias: later} })
	f("another user", Granted, func(app *App) { app.RevokedUsers = map[string]time.Time{"Bob": later} })
	f("the origin", ReasonOriginDenied, func(app *App) { app.Origins = []string{"https://b.example"} })

	f("the user has another name now", Granted, func(app *App) { app.RevokedUsers = map[string]time.Time{"": later} })

	a, apps := testAuthenticator(t)
	_, identity, refusal := login(t, a, "123", "new secret", page)
	require.Nil(t, refusal)
	require.Equal(t, protocol.CodeTokenExpired, a.Recheck(identity, identity.ExpiresAt).Code)
	delete(apps, "123")
	require.Equal(t, protocol.CodeAuthFailed, a.Recheck(identity, now).Code)
}

// A revocation ends with a whole second. Until it has, no old token is taken, open
// sessions live, and who proves themselves anew gets a token that outlives it.
//
// spec: AUTH-02
func TestRevocationThatIsAboutToCome(t *testing.T) {
	for name, change := range map[string]func(*App, time.Time){
		"all":   func(app *App, at time.Time) { app.RevokedBefore = at },
		"name":  func(app *App, at time.Time) { app.RevokedUsers = map[string]time.Time{alice.Name: at} },
		"alias": func(app *App, at time.Time) { app.RevokedUsers = map[string]time.Time{alice.Alias: at} },
	} {
		a, apps := testAuthenticator(t)
		before, identity, refusal := login(t, a, "123", "new secret", page) // issued a second from now
		require.Nil(t, refusal, name)
		at := now.Add(1900 * time.Millisecond)
		app := apps["123"]
		change(&app, at)
		apps["123"] = app
		early := now.Add(time.Second)
		_, refusal = a.Token(before.Token, before.Session, page, early)
		require.Equal(t, protocol.CodeAuthFailed, refusal.Code, name)
		require.Nil(t, a.Recheck(identity, early), name)
		require.NotNil(t, a.Recheck(identity, at), name)

		after, again, refusal := login(t, a, "123", "new secret", page)
		require.Nil(t, refusal, name)
		_, refusal = a.Token(after.Token, before.Session, page, early)
		require.Nil(t, refusal, name)
		require.Nil(t, a.Recheck(again, at.Add(time.Minute)), name)

		change(&app, now.Add(time.Hour)) // a moment that somebody configured
		apps["123"] = app
		_, again, refusal = login(t, a, "123", "new secret", page)
		require.Nil(t, refusal, name)
		require.NotNil(t, a.Recheck(again, now), name)
	}
}

// What a check refuses is not granted: the audit says so, and names no token, for nobody
// got one.
//
// spec: AUTH-03
func TestChecksAreAskedLast(t *testing.T) {
	a, apps := testAuthenticator(t)
	apps["third"] = App{ID: "third", Keys: newOriginServer(t).keys()}
	full := &protocol.Error{Code: protocol.CodeThrottled, Message: "too many", RetryAfter: time.Second}
	asked := 0
	never := func(id Identity) *protocol.Error {
		asked++
		require.Equal(t, alice, id.User)
		return full
	}
	reply, _, refusal := login(t, a, "123", "new secret", page)
	require.Nil(t, refusal)
	heard := listen(a)
	line := func(method Method, want Reason) {
		t.Helper()
		d := heard.last(t)
		require.Equal(t, method, d.Method)
		require.Equal(t, want, d.Reason)
		require.Equal(t, method == MethodToken, d.TokenID != "")
		heard.all = nil
	}
	final := newClient(t, a, "123", "new secret").first(page, now)
	none, _, refusal := a.ScramFinal(final, page, now, never)
	require.Equal(t, full, refusal)
	require.Empty(t, none)
	line(MethodScram, "throttled")
	_, refusal = a.Token(reply.Token, reply.Session, page, now, never)
	require.Equal(t, full, refusal)
	line(MethodToken, "throttled")
	require.Equal(t, 2, asked)

	_, _, refusal = a.ScramFinal(final, page, now, never)
	require.Equal(t, refused(protocol.CodeTokenExpired), refusal)
	line(MethodScram, ReasonStateReplayed)
	_, refusal = a.Token("x", reply.Session, page, now, never)
	require.Equal(t, refused(protocol.CodeAuthFailed), refusal)
	_, _, refusal = a.JWT(&protocol.JWTRequest{AppID: "third", UserID: alice, JWT: "x"}, page, now, never)
	require.Equal(t, refused(protocol.CodeAuthFailed), refusal)
	require.Equal(t, 2, asked, "only about who would be let in")
}
