package explain_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/explain"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// made is a good token, and who reads it.
func made(tb testing.TB) (string, explain.Expected) {
	tb.Helper()
	key, err := agent.GenerateKey()
	require.NoError(tb, err)
	claims := agent.NewClaims("123", "alice", now, 8*time.Minute, 8*time.Minute)
	token, err := key.Sign(&claims)
	require.NoError(tb, err)
	return token, explain.Expected{AppID: "123", UserID: "alice", Key: explain.Key{ID: key.ID(), Algorithm: "ES256", Material: key.Public()}}
}

func text(t *testing.T, r *explain.Report) string {
	t.Helper()
	return r.String()
}

// spec: AUTH-04, AUTH-08
func TestAGoodToken(t *testing.T) {
	token, want := made(t)
	r := explain.Token(token+"\n", want, now)
	require.Empty(t, r.Refusals)
	require.Empty(t, r.Advice)
	require.True(t, accepts(r))
	for _, line := range []string{
		`appID      "123"`, `userID     "alice"`, "exp        2026-11-21T12:08:00Z  (in 8m0s)", "nbf        2026-11-21T11:52:00Z  (8m0s ago)",
		"iat        2026-11-21T12:00:00Z  (now)", "signature  good, by the ES256 key " + want.Key.ID, "the collector would accept it",
	} {
		require.Contains(t, text(t, r), line)
	}
	bare := explain.Token(token, explain.Expected{}, now)
	require.False(t, accepts(bare))
	require.Contains(t, text(t, bare), "no key was given")
	alias := explain.Token(token, explain.Expected{UserID: "Alice Real", Alias: "alice"}, now)
	require.Empty(t, alias.Refusals)
}

// TestTimesAndIdentity: each thing that the collector would refuse is named.
//
// spec: AUTH-04, AUTH-08
func TestTimesAndIdentity(t *testing.T) {
	token, want := made(t)
	refused := func(change func(*explain.Expected) time.Duration, why string) {
		t.Helper()
		w := want
		offset := change(&w)
		r := explain.Token(token, w, now.Add(offset))
		require.Len(t, r.Refusals, 1)
		require.Contains(t, r.Refusals[0], why)
		require.False(t, accepts(r))
	}
	taken := func(offset time.Duration) {
		t.Helper()
		require.True(t, accepts(explain.Token(token, want, now.Add(offset))))
	}
	taken(9*time.Minute - time.Second)
	refused(func(*explain.Expected) time.Duration { return 9 * time.Minute }, "exp: it ended 1m0s ago")
	taken(-time.Minute)
	refused(func(*explain.Expected) time.Duration { return -61 * time.Second }, "iat lies in the future")
	early := explain.Token(token, want, now.Add(-9*time.Minute-time.Second))
	require.Contains(t, strings.Join(early.Refusals, ";"), "nbf: it is not good before 1m1s from now")
	refused(func(w *explain.Expected) time.Duration { w.AppID = "124"; return 0 }, `appID is "123", the page says "124"`)
	refused(func(w *explain.Expected) time.Duration { w.UserID = "bob"; return 0 }, `userID is "alice"`)
	refused(func(w *explain.Expected) time.Duration { w.Key.ID = "other"; return 0 }, "no key")
}

func TestSignatures(t *testing.T) {
	token, want := made(t)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	foreign := want
	foreign.Key = explain.Key{ID: want.Key.ID, Algorithm: "ES256", Material: &other.PublicKey}
	require.Contains(t, explain.Token(token, foreign, now).Refusals[0], "the signature is not that of the key")
	cut := explain.Token(token[:len(token)-4], want, now)
	require.Contains(t, cut.Refusals[0], "the signature is not that of the key")
	shared := want
	shared.Key = explain.Key{ID: want.Key.ID, Algorithm: "HS256", Material: []byte("x")}
	require.Contains(t, explain.Token(token, shared, now).Refusals[0], "for HS256 alone")

	secret := []byte(strings.Repeat("s", 32))
	key, err := agent.NewSecretKey("hs", secret)
	require.NoError(t, err)
	claims := agent.NewClaims("123", "alice", now, 8*time.Minute, 8*time.Minute)
	token, err = key.Sign(&claims)
	require.NoError(t, err)
	require.True(t, accepts(explain.Token(token, explain.Expected{Key: explain.Key{ID: "hs", Algorithm: "HS256", Material: secret}}, now)))
}

// token puts any header and payload together.
func token(header, payload string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(header)) + "." + encode([]byte(payload)) + "." + encode([]byte("signature"))
}

// spec: AUTH-05
func TestTokensThatCannotBe(t *testing.T) {
	const claims = `"appID":"1","userID":"u","keyID":"k"`
	for _, bad := range []struct{ token, why string }{
		{"", "three parts"},
		{"a.b", "three parts"},
		{strings.Repeat("a", 16<<10+1), "16384 are allowed"},
		{"=.e30.x", "the header is not base64url"},
		{token(`[]`, `{}`), "the header is no JSON object"},
		{token(`{}{}`, `{}`), "the header is no JSON object, or has more after it"},
		{token(`{"alg":"ES256","alg":"none"}`, `{}`), "the header names a member twice"},
		{token(`{"alg":"ES256"}`, `{"appID":"1","appID":"2"}`), "the payload names a member twice"},
		{token(`{"alg":"ES256"}`, "{\"appID\":\"\xff\"}"), "the payload is no JSON object"},
		{token(`{"alg":"none"}`, `{`+claims+`}`), `alg is "none"`},
		{token(`{}`, `{`+claims+`}`), "alg is none"},
		{token(`{"alg":"ES256","typ":"at+jwt"}`, `{`+claims+`}`), `typ is "at+jwt"`},
		{token(`{"alg":"ES256","typ":7}`, `{`+claims+`}`), "typ is 7"},
		{token(`{"alg":"ES256","crit":["b64"]}`, `{`+claims+`}`), "crit"},
		{token(`{"alg":"ES256"}`, `{"appID":1,"userID":"u","keyID":"k"}`), "appID is missing or no text"},
		{token(`{"alg":"ES256"}`, `{"appID":"1","keyID":"k"}`), "userID is missing"},
		{token(`{"alg":"ES256"}`, `{"appID":"1","userID":"u"}`), "keyID is missing"},
		{token(`{"alg":"ES256"}`, `{`+claims+`,"exp":"soon"}`), "exp is no time"},
		{token(`{"alg":"ES256"}`, `{`+claims+`,"nbf":-1}`), "nbf is no time"},
		{token(`{"alg":"ES256"}`, `{`+claims+`,"iat":1e300}`), "iat is no time"},
		{token(`{"alg":"ES256"}`, `{`+claims+`,"jti":7}`), "jti is no text"},
	} {
		r := explain.Token(bad.token, explain.Expected{}, now)
		require.Contains(t, strings.Join(r.Refusals, ";"), bad.why)
		require.Contains(t, text(t, r), "would refuse it")
	}
}

func TestAdvice(t *testing.T) {
	r := explain.Token(token(`{"alg":"ES256","jku":"https://evil.example"}`, `{"appID":"1","userID":"u","keyID":"k"}`), explain.Expected{}, now)
	require.Empty(t, r.Refusals)
	all := strings.Join(r.Advice, ";")
	for _, want := range []string{"jku in the header is ignored", "without jti", "without exp", "without iat"} {
		require.Contains(t, all, want)
	}
	long := explain.Token(token(`{"alg":"ES256"}`, `{"appID":"1","userID":"u","keyID":"k","iat":1795262400,"exp":1795348800}`), explain.Expected{}, now)
	require.Contains(t, strings.Join(long.Advice, ";"), "it is good for 24h0m0s")
}

// TestNothingReachesTheTerminal: what a token holds is printed without control characters.
func TestNothingReachesTheTerminal(t *testing.T) {
	r := explain.Token(token(`{"alg":"ES256","kid":["`+"\u009b"+`31m"]}`, `{"appID":"\u001b[31m","userID":"u","keyID":"k"}`), explain.Expected{}, now)
	require.NotContains(t, text(t, r), "\x1b")
	require.NotContains(t, text(t, r), "\u009b")
}

// FuzzToken: the explanation says of a token that it is good only if golang-jwt, asked to
// take ES256 alone, takes it too.
func FuzzToken(f *testing.F) {
	good, want := made(f)
	f.Add(good)
	f.Add(token(`{"alg":"none"}`, `{}`))
	f.Add("..")
	f.Fuzz(func(t *testing.T, text string) {
		r := explain.Token(text, want, now)
		if !accepts(r) {
			return
		}
		_, err := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithStrictDecoding(), jwt.WithLeeway(time.Minute),
			jwt.WithTimeFunc(func() time.Time { return now })).
			Parse(strings.TrimSpace(text), func(*jwt.Token) (any, error) { return want.Key.Material, nil })
		require.NoError(t, err)
	})
}

// accepts reports whether nothing speaks against the token.
func accepts(r *explain.Report) bool { return r.Checked && len(r.Refusals) == 0 }
