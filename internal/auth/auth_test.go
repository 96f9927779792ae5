package auth

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	"github.com/xdg-go/scram"

	"github.com/qosrtc/qos/internal/auth/authtest"
	"github.com/qosrtc/qos/protocol"
)

var now = time.UnixMilli(1763702160123)

const page = "https://app.example.org"

var alice = protocol.UserID{Name: "Alice", Alias: "u-1"}

type registry map[string]App

func (r registry) App(id string) (App, bool) {
	app, ok := r[id]
	return app, ok
}

func (registry) Revision() uint64 { return 0 }

func testKeys(t *testing.T) *Keys {
	t.Helper()
	keys, err := NewKeys([]byte(strings.Repeat("k", MinKeyBytes)))
	require.NoError(t, err)
	return keys
}

func testAuthenticator(t *testing.T) (*Authenticator, registry) {
	t.Helper()
	keys := testKeys(t)
	apps := registry{
		"123":  NewApp(keys, "123", []string{"old secret", "new secret"}, []string{page}),
		"open": NewApp(keys, "open", []string{"Paßwort ﬁ"}, nil),
		"none": {ID: "none", Salt: keys.Salt("none"), Iterations: Iterations},
	}
	return New(keys, apps), apps
}

// client is the browser's half of one handshake.
type client struct {
	t    *testing.T
	a    *Authenticator
	conv *scram.ClientConversation
	id   string
}

func newClient(t *testing.T, a *Authenticator, id, secret string) *client {
	t.Helper()
	c, err := scram.SHA256.NewClientUnprepped(id, secret, "")
	require.NoError(t, err)
	return &client{t, a, c.NewConversation(), id}
}

// first does the first POST and returns what to send with the second.
func (c *client) first(origin string, at time.Time) *protocol.ScramFinal {
	c.t.Helper()
	clientFirst, err := c.conv.Step("")
	require.NoError(c.t, err)
	reply, refusal := c.a.ScramFirst(&protocol.ScramFirst{AppID: c.id, UserID: alice, Scram: clientFirst}, origin, at)
	require.Nil(c.t, refusal)
	clientFinal, err := c.conv.Step(reply.Scram)
	require.NoError(c.t, err)
	return &protocol.ScramFinal{State: reply.State, Scram: clientFinal}
}

func login(t *testing.T, a *Authenticator, id, secret, origin string) (protocol.TokenReply, Identity, *protocol.Error) {
	t.Helper()
	c := newClient(t, a, id, secret)
	final := c.first(origin, now)
	reply, identity, refusal := a.ScramFinal(final, origin, now.Add(time.Second))
	if refusal == nil {
		_, err := c.conv.Step(reply.Scram)
		require.NoError(t, err, "the server's proof")
	}
	return reply, identity, refusal
}

// spec: AUTH-01, AUTH-02
func TestHandshake(t *testing.T) {
	a, _ := testAuthenticator(t)
	for _, secret := range []string{"old secret", "new secret"} {
		reply, identity, refusal := login(t, a, "123", secret, page)
		require.Nil(t, refusal)
		require.Equal(t, int64(7_200_000), reply.ExpiresInMs)
		require.Equal(t, now.Add(time.Second).UnixMilli(), reply.At)
		require.Equal(t, "123", identity.AppID)
		require.Equal(t, alice, identity.User)
		again, refusal := a.Token(reply.Token, page, now.Add(2*time.Hour-time.Second))
		require.Nil(t, refusal)
		require.Equal(t, identity.AppID, again.AppID)
		require.Equal(t, identity.User, again.User)
		require.Equal(t, page, again.Origin)
		require.True(t, identity.ExpiresAt.Equal(again.ExpiresAt))
	}
}

func TestSecretIsNormalised(t *testing.T) {
	a, _ := testAuthenticator(t)
	// The browser normalises "ﬁ" to "fi" (NFKC), and so did the server.
	_, _, refusal := login(t, a, "open", "Paßwort fi", "")
	require.Nil(t, refusal)
	_, _, refusal = login(t, a, "open", "Paßwort ﬁ", "")
	require.NotNil(t, refusal)
}

// RFC 7677, section 3: the one example there is.
func TestVerifierOfTheRFC(t *testing.T) {
	salt, err := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	require.NoError(t, err)
	v := NewVerifier("pencil", salt, 4096)
	app := App{Salt: salt, Iterations: 4096, Verifiers: []Verifier{v}}
	state := &scramState{clientFirst: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO", nonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"}
	serverFinal, ok := prove(app, state, "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
	require.True(t, ok)
	require.Equal(t, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", serverFinal)
}

// spec: AUTH-01
func TestUnknownAppLooksKnown(t *testing.T) {
	a, _ := testAuthenticator(t)
	refusals := map[string]*protocol.Error{}
	replies := map[string]protocol.ScramReply{}
	for _, id := range []string{"123", "unknown", "none"} {
		reply, refusal := a.ScramFirst(&protocol.ScramFirst{AppID: id, UserID: alice, Scram: "n,,n=" + id + ",r=abc"}, "https://evil.example", now)
		require.Nil(t, refusal)
		again, _ := a.ScramFirst(&protocol.ScramFirst{AppID: id, UserID: alice, Scram: "n,,n=" + id + ",r=abc"}, "https://evil.example", now)
		require.Equal(t, saltOf(reply.Scram), saltOf(again.Scram), "a salt that changes tells that the app is unknown")
		replies[id] = reply
		_, _, refusals[id] = login(t, a, id, "wrong", "https://evil.example")
	}
	require.Equal(t, protocol.CodeAuthFailed, refusals["123"].Code)
	require.Equal(t, refusals["123"], refusals["unknown"])
	require.Equal(t, refusals["123"], refusals["none"])
	require.Len(t, replies["unknown"].Scram, len(replies["123"].Scram))
	require.NotEqual(t, saltOf(replies["unknown"].Scram), saltOf(replies["123"].Scram))
}

func saltOf(serverFirst string) string {
	_, rest, _ := strings.Cut(serverFirst, ",s=")
	return rest
}

// spec: AUTH-03
func TestOriginIsCheckedOnceTheSecretIsProved(t *testing.T) {
	a, _ := testAuthenticator(t)
	for _, origin := range []string{"https://evil.example", "", "null"} {
		_, _, refusal := login(t, a, "123", "new secret", origin)
		require.Equal(t, protocol.CodeOriginDenied, refusal.Code, origin)
		_, _, refusal = login(t, a, "123", "wrong", origin)
		require.Equal(t, protocol.CodeAuthFailed, refusal.Code, origin)
		_, _, refusal = login(t, a, "open", "Paßwort fi", origin)
		require.Nil(t, refusal, origin)
	}
	_, refusal := a.ScramFirst(&protocol.ScramFirst{AppID: "open", UserID: alice, Scram: "n,,n=open,r=abc"}, strings.Repeat("o", MaxOriginBytes+1), now)
	require.Equal(t, protocol.CodeOriginDenied, refusal.Code)
}

func TestScramFirstRefusesWhatIsNoScram(t *testing.T) {
	a, _ := testAuthenticator(t)
	for _, message := range []string{
		"", "n,,", "y,,n=123,r=abc", "p=tls-exporter,,n=123,r=abc", "n,a=other,n=123,r=abc",
		"n,,n=124,r=abc", "n,,m=x,n=123,r=abc", "n,,n==99,r=abc", "n,,r=abc,n=123",
	} {
		reply, refusal := a.ScramFirst(&protocol.ScramFirst{AppID: "123", UserID: alice, Scram: message}, page, now)
		require.NotNil(t, refusal, message)
		require.Equal(t, protocol.CodeFieldValue, refusal.Code, message)
		require.Equal(t, "scram", refusal.Field)
		require.Empty(t, reply)
	}
}

func TestStateIsGoodOnceAndShortly(t *testing.T) {
	a, _ := testAuthenticator(t)
	f := func(name string, want bool, change func(*protocol.ScramFinal) (origin string, at time.Time)) {
		t.Helper()
		final := newClient(t, a, "123", "new secret").first(page, now)
		origin, at := change(final)
		_, _, refusal := a.ScramFinal(final, origin, at)
		require.Equal(t, want, refusal == nil, name)
		if refusal != nil {
			require.Equal(t, refused(protocol.CodeAuthFailed), refusal, name)
		}
	}
	f("as it should be", true, func(*protocol.ScramFinal) (string, time.Time) { return page, now })
	f("after 30 s", true, func(*protocol.ScramFinal) (string, time.Time) { return page, now.Add(30 * time.Second) })
	f("after more", false, func(*protocol.ScramFinal) (string, time.Time) {
		return page, now.Add(30*time.Second + time.Millisecond)
	})
	f("clock behind", true, func(*protocol.ScramFinal) (string, time.Time) { return page, now.Add(-30 * time.Second) })
	f("clock far behind", false, func(*protocol.ScramFinal) (string, time.Time) { return page, now.Add(-31 * time.Second) })
	f("another origin", false, func(*protocol.ScramFinal) (string, time.Time) { return "https://b.example", now })
	f("one bit", false, func(f *protocol.ScramFinal) (string, time.Time) {
		raw, _ := base64.RawURLEncoding.DecodeString(f.State)
		raw[len(raw)/2] ^= 1
		f.State = base64.RawURLEncoding.EncodeToString(raw)
		return page, now
	})
	f("cut", false, func(f *protocol.ScramFinal) (string, time.Time) { f.State = f.State[:8]; return page, now })
	f("no base64", false, func(f *protocol.ScramFinal) (string, time.Time) { f.State = "@"; return page, now })
	f("another purpose", false, func(f *protocol.ScramFinal) (string, time.Time) {
		text, err := a.keys.openText(purposeScram, f.State)
		require.NoError(t, err)
		f.State = a.keys.sealText("another", text)
		return page, now
	})
	f("no proof", false, func(f *protocol.ScramFinal) (string, time.Time) { f.Scram = "c=biws"; return page, now })

	final := newClient(t, a, "123", "new secret").first(page, now)
	_, _, refusal := a.ScramFinal(final, page, now)
	require.Nil(t, refusal)
	_, _, refusal = a.ScramFinal(final, page, now)
	require.NotNil(t, refusal, "a replay")
}

func TestSecondPostMayReachAnotherCollector(t *testing.T) {
	a, apps := testAuthenticator(t)
	final := newClient(t, a, "123", "new secret").first(page, now)
	reply, _, refusal := New(testKeys(t), apps).ScramFinal(final, page, now)
	require.Nil(t, refusal)
	_, refusal = a.Token(reply.Token, page, now)
	require.Nil(t, refusal)
}

func TestUsedStatesAreBounded(t *testing.T) {
	var u usedStates
	require.True(t, u.use("first", now))
	for i := range 2*maxUsed - 1 {
		require.True(t, u.use(strconv.Itoa(i), now))
	}
	require.Zero(t, u.forgotten)
	require.False(t, u.use("first", now), "in the older generation")
	require.True(t, u.use("one more", now))
	require.Equal(t, uint64(maxUsed), u.forgotten)
	require.LessOrEqual(t, len(u.now)+len(u.old), 2*maxUsed)
	require.True(t, u.use("young", now.Add(time.Minute)))
	require.True(t, u.use("younger", now.Add(2*time.Minute)))
	require.Equal(t, uint64(maxUsed), u.forgotten, "what has expired was not forgotten")
	require.Len(t, u.old, 1)
}

// spec: AUTH-02, AUTH-03
func TestTokenRefusals(t *testing.T) {
	a, apps := testAuthenticator(t)
	reply, _, refusal := login(t, a, "123", "new secret", page)
	require.Nil(t, refusal)
	f := func(name string, want protocol.Code, token, origin string, at time.Time) {
		t.Helper()
		_, refusal := a.Token(token, origin, at)
		require.NotNil(t, refusal, name)
		require.Equal(t, want, refusal.Code, name)
	}
	f("two hours on", protocol.CodeTokenExpired, reply.Token, page, now.Add(2*time.Hour+2*time.Second))
	f("another origin", protocol.CodeOriginDenied, reply.Token, "https://b.example", now)
	f("no origin", protocol.CodeOriginDenied, reply.Token, "", now)
	f("empty", protocol.CodeAuthFailed, "", page, now)
	f("rubbish", protocol.CodeAuthFailed, "a.b.c", page, now)
	f("cut", protocol.CodeAuthFailed, reply.Token[:len(reply.Token)-1], page, now)
	f("too long", protocol.CodeAuthFailed, reply.Token+strings.Repeat("A", protocol.MaxTokenBytes), page, now)

	sign := func(method jwt.SigningMethod, key any, change func(*sessionClaims)) string {
		claims := sessionClaims{User: "Alice", Origin: page, RegisteredClaims: jwt.RegisteredClaims{
			Issuer: tokenIssuer, Audience: jwt.ClaimStrings{tokenAudience}, Subject: "123",
			ExpiresAt: jwt.NewNumericDate(now.Add(time.Hour)),
		}}
		change(&claims)
		token, err := jwt.NewWithClaims(method, claims).SignedString(key)
		require.NoError(t, err)
		return token
	}
	same := func(*sessionClaims) {}
	good := sign(jwt.SigningMethodHS256, a.keys.newest().token, same)
	identity, refusal := a.Token(good, page, now)
	require.Nil(t, refusal)
	require.Equal(t, protocol.UserID{Name: "Alice", Alias: "Alice"}, identity.User)
	f("none", protocol.CodeAuthFailed, sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, same), page, now)
	f("HS384", protocol.CodeAuthFailed, sign(jwt.SigningMethodHS384, a.keys.newest().token, same), page, now)
	f("another key", protocol.CodeAuthFailed, sign(jwt.SigningMethodHS256, []byte("other"), same), page, now)
	f("another key, expired", protocol.CodeAuthFailed, sign(jwt.SigningMethodHS256, []byte("other"), same), page, now.Add(3*time.Hour))
	f("issuer", protocol.CodeAuthFailed, sign(jwt.SigningMethodHS256, a.keys.newest().token, func(c *sessionClaims) { c.Issuer = "x" }), page, now)
	f("audience", protocol.CodeAuthFailed, sign(jwt.SigningMethodHS256, a.keys.newest().token, func(c *sessionClaims) { c.Audience = nil }), page, now)
	f("no exp", protocol.CodeAuthFailed, sign(jwt.SigningMethodHS256, a.keys.newest().token, func(c *sessionClaims) { c.ExpiresAt = nil }), page, now)
	f("unknown app", protocol.CodeAuthFailed, sign(jwt.SigningMethodHS256, a.keys.newest().token, func(c *sessionClaims) { c.Subject = "x" }), page, now)

	open, _, refusal := login(t, a, "open", "Paßwort fi", page)
	require.Nil(t, refusal)
	f("bound to its origin even where all are allowed", protocol.CodeOriginDenied, open.Token, "https://b.example", now)
	f("or none came", protocol.CodeOriginDenied, open.Token, "", now)

	app := apps["123"]
	app.Origins = []string{"https://other.example.org"}
	apps["123"] = app
	f("the origin was taken off the list", protocol.CodeOriginDenied, good, page, now)
	delete(apps, "123")
	f("the app is gone", protocol.CodeAuthFailed, good, page, now)
}

// The longest names there can be still give a state and a token that are taken.
func TestLongestNames(t *testing.T) {
	keys := testKeys(t)
	id := strings.Repeat("\x01", protocol.MaxIDBytes)
	origin := "https://" + strings.Repeat("o", MaxOriginBytes-len("https://"))
	a := New(keys, registry{id: NewApp(keys, id, []string{"s"}, nil)})
	user := protocol.UserID{Name: strings.Repeat("\x01", protocol.MaxIDBytes), Alias: strings.Repeat("𝒸", protocol.MaxUserNameChars)}
	first := "n,,n=" + id + ",r="
	first += strings.Repeat("r", protocol.MaxScramBytes-len(first))
	reply, refusal := a.ScramFirst(&protocol.ScramFirst{AppID: id, UserID: user, Scram: first}, origin, now)
	require.Nil(t, refusal)
	require.LessOrEqual(t, len(reply.State), protocol.MaxStateBytes)
	token, err := a.issue(Identity{AppID: id, User: user, Origin: origin, ExpiresAt: now.Add(time.Hour)}, now)
	require.NoError(t, err)
	require.LessOrEqual(t, len(token), protocol.MaxTokenBytes)
	_, refusal = a.Token(token, origin, now)
	require.Nil(t, refusal)
}

func TestNewKeys(t *testing.T) {
	_, err := NewKeys(make([]byte, MinKeyBytes-1))
	require.ErrorContains(t, err, "31 bytes")
	a, b := testKeys(t), testKeys(t)
	require.Equal(t, a.Salt("x"), b.Salt("x"))
	require.NotEqual(t, a.Salt("x"), a.Salt("y"))
	require.NotEqual(t, a.newest().token, a.salt)
}

func TestStateUnmarshalSurvivesAnything(t *testing.T) {
	whole := (&scramState{appID: "a", clientFirst: "c", nonce: "n", at: now}).marshal()
	for i := range whole {
		require.False(t, new(scramState).unmarshal(whole[:i]))
	}
	require.False(t, new(scramState).unmarshal(append(whole, 0)))
	require.False(t, new(scramState).unmarshal(append(make([]byte, 8), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)))
	var s scramState
	require.True(t, s.unmarshal(whole))
	require.Equal(t, "a", s.appID)
	require.True(t, now.Equal(s.at))
}

// spec: AUTH-01
func TestAuthtestLogin(t *testing.T) {
	a, _ := testAuthenticator(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request, refusal := protocol.DecodeAuth(body)
		var answer []byte
		switch m := request.(type) {
		case *protocol.ScramFirst:
			var reply protocol.ScramReply
			if reply, refusal = a.ScramFirst(m, r.Header.Get("Origin"), now); refusal == nil {
				answer = protocol.AppendScramReply(nil, reply)
			}
		case *protocol.ScramFinal:
			var reply protocol.TokenReply
			if reply, _, refusal = a.ScramFinal(m, r.Header.Get("Origin"), now); refusal == nil {
				answer = protocol.AppendTokenReply(nil, reply)
			}
		}
		if refusal != nil {
			w.WriteHeader(refusal.Code.HTTPStatus())
			answer = protocol.AppendError(nil, refusal, 0)
		}
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	token, err := authtest.Login(t.Context(), server.Client(), server.URL+"/", page, "123", "new secret", alice)
	require.NoError(t, err)
	identity, refusal := a.Token(token, page, now)
	require.Nil(t, refusal)
	require.Equal(t, alice, identity.User)
	_, err = authtest.Login(t.Context(), server.Client(), server.URL, page, "123", "wrong", protocol.UserID{Name: "b", Alias: "b"})
	var e *protocol.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, protocol.CodeAuthFailed, e.Code)
}
