package openid

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var t0 = time.UnixMilli(1_763_702_160_000).UTC()

// forger is a provider that answers as a test wants: a real one cannot be made to lie. It has none of
// the libraries' code.
type forger struct {
	*httptest.Server
	t *testing.T

	closed chan struct{} // has an element for each connection that has ended

	mu       sync.Mutex
	keys     map[string]*ecdsa.PrivateKey
	metadata map[string]any                                     // changes of the discovery document
	claims   jwt.MapClaims                                      // changes of the ID token; nil deletes
	sign     func(*jwt.Token) (string, error)                   // nil: with key es-1
	answer   map[string]any                                     // changes of the token endpoint's answer
	info     map[string]any                                     // of the UserInfo endpoint
	handle   map[string]func(http.ResponseWriter) (served bool) // by path, before all else
	requests map[string]int                                     // by path
	form     url.Values                                         // of the last request to the token endpoint
	basic    string                                             // user of it
	nonce    string
}

func newForger(t *testing.T) *forger {
	t.Helper()
	f := &forger{
		t: t, keys: map[string]*ecdsa.PrivateKey{}, metadata: map[string]any{}, claims: jwt.MapClaims{}, answer: map[string]any{},
		handle: map[string]func(http.ResponseWriter) bool{}, requests: map[string]int{},
		closed: make(chan struct{}, 1000),
	}
	f.Server = httptest.NewUnstartedServer(f)
	f.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			f.closed <- struct{}{}
		}
	}
	f.Start()
	t.Cleanup(f.Close)
	f.addKey("es-1")
	return f
}

func (f *forger) addKey(id string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(f.t, err)
	f.set(func() { f.keys[id] = key })
}

func (f *forger) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *forger) count(path string) (n int) {
	f.set(func() { n = f.requests[path] })
	return n
}

// ServeHTTP implements http.Handler.
func (f *forger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests[r.URL.Path]++
	handle := f.handle[r.URL.Path]
	f.mu.Unlock()
	if handle != nil && handle(w) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(with(map[string]any{
			"issuer": f.URL, "authorization_endpoint": f.URL + "/authorize", "token_endpoint": f.URL + "/token", "jwks_uri": f.URL + "/keys",
			"userinfo_endpoint": f.URL + "/userinfo", "end_session_endpoint": f.URL + "/end?a=b",
			"id_token_signing_alg_values_supported": []string{"ES256", "HS256", "none"},
		}, f.metadata))
	case "/keys":
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": f.jwks()})
	case "/token":
		_ = r.ParseForm()
		f.form = r.PostForm
		f.basic, _, _ = r.BasicAuth()
		_ = json.NewEncoder(w).Encode(with(map[string]any{"access_token": theAccess, "token_type": "Bearer", "id_token": f.token()}, f.answer))
	case "/userinfo":
		_ = json.NewEncoder(w).Encode(f.info)
	default:
		http.NotFound(w, r)
	}
}

// with returns a document with changes; nil deletes a member.
func with(document, changes map[string]any) map[string]any {
	maps.Copy(document, changes)
	maps.DeleteFunc(document, func(_ string, value any) bool { return value == nil })
	return document
}

func (f *forger) jwks() []map[string]string {
	keys := []map[string]string{}
	for id, key := range f.keys {
		point, err := key.PublicKey.Bytes()
		if err != nil {
			panic(err)
		}
		encode := base64.RawURLEncoding.EncodeToString
		keys = append(keys, map[string]string{"kty": "EC", "crv": "P-256", "use": "sig", "kid": id, "x": encode(point[1:33]), "y": encode(point[33:])})
	}
	return keys
}

func (f *forger) token() string {
	claims := jwt.MapClaims(with(map[string]any{
		"iss": f.URL, "aud": "qos", "sub": "ada", "nonce": f.nonce, "iat": t0.Unix(), "exp": t0.Add(time.Hour).Unix(), "name": "Ada",
	}, f.claims))
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = "es-1"
	text, err := "", error(nil)
	if f.sign != nil {
		text, err = f.sign(token)
	} else {
		text, err = token.SignedString(f.keys["es-1"])
	}
	if err != nil {
		panic(err)
	}
	return text
}

// signed signs with another method and key.
func signed(method jwt.SigningMethod, key any) func(*jwt.Token) (string, error) {
	return func(token *jwt.Token) (string, error) {
		token.Method, token.Header["alg"] = method, method.Alg()
		return token.SignedString(key)
	}
}

// visitor is a client of the forger with a clock.
type visitor struct {
	*Client
	now time.Time
}

func (f *forger) client(change ...func(*Settings)) *visitor {
	f.t.Helper()
	set := Settings{Issuer: f.URL, ClientID: "qos", ClientSecret: theSecret, RedirectURL: "http://localhost/back", Scopes: []string{"openid"}}
	for _, change := range change {
		change(&set)
	}
	v := &visitor{now: t0}
	v.Client = New(set, &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{}}, func() time.Time { return v.now })
	f.t.Cleanup(v.Close)
	return v
}

// Secrets of a sign-in, which no error repeats.
const (
	theCode   = "c0de-4711"
	theSecret = "s3cret-4711"
	theAccess = "acc3ss-4711"
)

var secrets = Secrets{State: "st4te-4711", Nonce: "n0nce-4711", Verifier: "v3rifier-4711-has-at-least-43-characters-of-text"}

// signIn begins a sign-in and finishes it with an answer that has a code.
func (f *forger) signIn(v *visitor, wanted ...string) (Claims, error) {
	f.t.Helper()
	return f.signInWith(v, Answer{Code: theCode}, wanted...)
}

func (f *forger) signInWith(v *visitor, a Answer, wanted ...string) (Claims, error) {
	f.t.Helper()
	begun, err := v.Begin(context.Background(), secrets)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(begun)
	require.NoError(f.t, err)
	f.set(func() { f.nonce = u.Query().Get("nonce") })
	return v.Finish(context.Background(), secrets, a, wanted...)
}

// fails requires a failure of a kind and with a text, which repeats no secret.
func (f *forger) fails(err error, kind Kind, text string) {
	f.t.Helper()
	failure := new(Failure)
	require.ErrorAs(f.t, err, &failure)
	require.Equal(f.t, kind, failure.Kind, failure)
	require.ErrorContains(f.t, err, text)
	for _, secret := range []string{theCode, theSecret, theAccess, secrets.State, secrets.Nonce, secrets.Verifier, "eyJ"} {
		require.NotContains(f.t, err.Error(), secret)
	}
}
