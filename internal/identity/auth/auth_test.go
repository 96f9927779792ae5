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

	"github.com/stretchr/testify/require"
	"github.com/xdg-go/scram"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
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
		"123":  newApp(keys, "123", []string{"old secret", "new secret"}, []string{page}),
		"open": newApp(keys, "open", []string{"Paßwort ﬁ"}, nil),
		"none": {ID: "none", Salt: keys.Salt("none"), Iterations: Iterations},
	}
	return New(keys, apps, nil), apps
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
		again, refusal := a.Token(reply.Token, reply.Session, page, now.Add(2*time.Hour-time.Second))
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
	serverFinal, proved := prove(app, app.Verifiers, state, "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
	require.NotNil(t, proved)
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

// A wrong proof costs the same work whatever the app has, also none: as many verifiers are
// tried, and none is left out once one has fitted. BenchmarkScram shows the times.
//
// spec: AUTH-01
func TestWrongProofsCostTheSame(t *testing.T) {
	a, apps := testAuthenticator(t)
	off := apps["123"]
	off.Disabled = true
	apps["off"] = off
	for _, id := range []string{"123", "open", "none", "off", "unknown"} {
		app, _ := a.app(id)
		require.Len(t, a.candidates(app), MaxSecrets, id)
	}
	app := apps["123"]
	all := a.candidates(app)
	require.Equal(t, app.Verifiers, all[:2])
	require.Len(t, app.Verifiers, 2, "the registry's own list is as it was")
	for i := range MaxSecrets + 1 {
		app.Verifiers = append(app.Verifiers, Verifier{ID: strconv.Itoa(i)})
	}
	require.Len(t, a.candidates(app), MaxSecrets+3)
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

// A client that was slow, or whose answer was lost, may begin again by itself.
//
// spec: AUTH-01, SRV-04
func TestStateIsGoodOnceAndShortly(t *testing.T) {
	a, _ := testAuthenticator(t)
	f := func(name string, want protocol.Code, change func(*protocol.ScramFinal) (origin string, at time.Time)) {
		t.Helper()
		final := newClient(t, a, "123", "new secret").first(page, now)
		origin, at := change(final)
		_, _, refusal := a.ScramFinal(final, origin, at)
		if want == "" {
			require.Nil(t, refusal, name)
			return
		}
		require.Equal(t, refused(want), refusal, name)
	}
	f("as it should be", "", func(*protocol.ScramFinal) (string, time.Time) { return page, now })
	f("after 30 s", "", func(*protocol.ScramFinal) (string, time.Time) { return page, now.Add(30 * time.Second) })
	f("after more", protocol.CodeTokenExpired, func(*protocol.ScramFinal) (string, time.Time) {
		return page, now.Add(30*time.Second + time.Millisecond)
	})
	f("clock behind", "", func(*protocol.ScramFinal) (string, time.Time) { return page, now.Add(-30 * time.Second) })
	f("clock far behind", protocol.CodeTokenExpired, func(*protocol.ScramFinal) (string, time.Time) { return page, now.Add(-31 * time.Second) })
	f("another origin", protocol.CodeAuthFailed, func(*protocol.ScramFinal) (string, time.Time) { return "https://b.example", now })
	f("one bit", protocol.CodeAuthFailed, func(f *protocol.ScramFinal) (string, time.Time) {
		raw, _ := base64.RawURLEncoding.DecodeString(f.State)
		raw[len(raw)/2] ^= 1
		f.State = base64.RawURLEncoding.EncodeToString(raw)
		return page, now
	})
	f("cut", protocol.CodeAuthFailed, func(f *protocol.ScramFinal) (string, time.Time) { f.State = f.State[:8]; return page, now })
	f("no base64", protocol.CodeAuthFailed, func(f *protocol.ScramFinal) (string, time.Time) { f.State = "@"; return page, now })
	f("another purpose", protocol.CodeAuthFailed, func(f *protocol.ScramFinal) (string, time.Time) {
		text, err := a.keys.openText(purposeScram, f.State)
		require.NoError(t, err)
		f.State = a.keys.sealText("another", text)
		return page, now
	})
	f("no proof", protocol.CodeAuthFailed, func(f *protocol.ScramFinal) (string, time.Time) { f.Scram = "c=biws"; return page, now })

	final := newClient(t, a, "123", "new secret").first(page, now)
	_, _, refusal := a.ScramFinal(final, page, now)
	require.Nil(t, refusal)
	_, _, refusal = a.ScramFinal(final, page, now)
	require.Equal(t, refused(protocol.CodeTokenExpired), refusal, "a replay: the answer may have been lost")
	for i := range 2*maxUsedStates + 1 { // what strangers can do without a secret
		require.True(t, a.states.use(strconv.Itoa(i), now))
	}
	heard := listen(a)
	_, _, refusal = a.ScramFinal(final, page, now)
	require.NotNil(t, refusal, "a replay under a flood")
	require.Equal(t, ReasonStateReplayed, heard.last(t).Reason)
}

func TestSecondPostMayReachAnotherCollector(t *testing.T) {
	a, apps := testAuthenticator(t)
	final := newClient(t, a, "123", "new secret").first(page, now)
	reply, _, refusal := New(testKeys(t), apps, nil).ScramFinal(final, page, now)
	require.Nil(t, refusal)
	_, refusal = a.Token(reply.Token, reply.Session, page, now)
	require.Nil(t, refusal)
}

// The longest names there can be still give a state and a token that are taken.
func TestLongestNames(t *testing.T) {
	keys := testKeys(t)
	id := strings.Repeat("\x01", protocol.MaxIDBytes)
	origin := "https://" + strings.Repeat("o", MaxOriginBytes-len("https://"))
	app := newApp(keys, id, []string{"s"}, nil)
	app.Keys = []VerificationKey{{ID: strings.Repeat("k", protocol.MaxIDBytes)}}
	a := New(keys, registry{id: app}, nil)
	user := protocol.UserID{Name: strings.Repeat("\x01", protocol.MaxIDBytes), Alias: strings.Repeat("𝒸", protocol.MaxUserNameChars)}
	first := "n,,n=" + id + ",r="
	first += strings.Repeat("r", protocol.MaxScramBytes-len(first))
	reply, refusal := a.ScramFirst(&protocol.ScramFirst{AppID: id, UserID: user, Scram: first}, origin, now)
	require.Nil(t, refusal)
	require.LessOrEqual(t, len(reply.State), protocol.MaxStateBytes)
	identity := Identity{
		AppID: id, User: user, Origin: origin, Credential: app.Keys[0].credential(),
		TokenID: newTokenID(), IssuedAt: now, ExpiresAt: now.Add(time.Hour),
	}
	token, err := a.issue(identity)
	require.NoError(t, err)
	require.LessOrEqual(t, len(token), protocol.MaxTokenBytes)
	_, refusal = a.Token(token, keys.MintSession(identity, now), origin, now)
	require.Nil(t, refusal)
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
			answer = protocol.AppendError(nil, refusal, false, 0)
		}
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	grant, err := authtest.Login(t.Context(), server.Client(), server.URL+"/", page, "123", "new secret", alice)
	require.NoError(t, err)
	identity, refusal := a.Token(grant.Token, grant.Session, page, now)
	require.Nil(t, refusal)
	require.Equal(t, alice, identity.User)
	_, err = authtest.Login(t.Context(), server.Client(), server.URL, page, "123", "wrong", protocol.UserID{Name: "b", Alias: "b"})
	var e *protocol.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, protocol.CodeAuthFailed, e.Code)
}

// newApp returns an app that admits each of the secrets.
func newApp(keys *Keys, id string, secrets, origins []string) App {
	app := App{ID: id, Salt: keys.Salt(id), Iterations: Iterations, Origins: origins}
	for _, secret := range secrets {
		app.Verifiers = append(app.Verifiers, NewVerifier(secret, app.Salt, app.Iterations))
	}
	return app
}
