package openid

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// A sign-in has PKCE, state and nonce, and sends the secret once.
//
// spec: DASH-03
func TestSignIn(t *testing.T) {
	f := newForger(t)
	v := f.client()
	begun, err := v.Begin(t.Context(), secrets)
	require.NoError(t, err)
	u, err := url.Parse(begun)
	require.NoError(t, err)
	q := u.Query()
	require.Equal(t, "S256", q.Get("code_challenge_method"))
	require.NotEmpty(t, q.Get("code_challenge"))
	require.NotContains(t, begun, secrets.Verifier)
	require.Equal(t, secrets.State, q.Get("state"))
	require.Equal(t, secrets.Nonce, q.Get("nonce"))
	require.Equal(t, "code", q.Get("response_type"))
	require.Equal(t, "openid", q.Get("scope"))

	claims, err := f.signIn(v)
	require.NoError(t, err)
	require.Equal(t, "ada", claims.Text("sub"))
	require.Equal(t, "Ada", claims.Text("name"))
	require.Equal(t, secrets.Verifier, f.form.Get("code_verifier"))
	require.Equal(t, theCode, f.form.Get("code"))
	require.Equal(t, "qos", f.basic)
	require.Empty(t, f.form.Get("client_secret"))
	require.Equal(t, 1, f.count("/token"))
	require.Equal(t, 1, f.count("/.well-known/openid-configuration"))
	require.Zero(t, f.count("/userinfo"), "the ID token has all that is wanted")
	require.Equal(t, f.URL+"/end?a=b&client_id=qos&post_logout_redirect_uri=https%3A%2F%2Fdash.example%2Fsignin", v.SignOutURL("https://dash.example/signin"))
}

// The client proves itself as the provider announces, in one request: a code is good for one.
func TestHowTheClientProvesItself(t *testing.T) {
	f := newForger(t)
	f.set(func() {
		f.metadata["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt", "client_secret_post"}
	})
	_, err := f.signIn(f.client())
	require.NoError(t, err)
	require.Equal(t, theSecret, f.form.Get("client_secret"))
	require.Empty(t, f.basic)

	_, err = f.signIn(f.client(func(s *Settings) { s.ClientSecret = "" }))
	require.NoError(t, err)
	require.Equal(t, "qos", f.form.Get("client_id"), "a public client")
	require.Empty(t, f.form.Get("client_secret"))

	f.set(func() { f.metadata["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt"} })
	_, err = f.signIn(f.client())
	f.fails(err, Setup, "takes no client secret")
	require.Equal(t, 2, f.count("/token"))
}

// A token that the provider did not issue for this sign-in signs in nobody.
//
// spec: DASH-03
func TestWrongTokens(t *testing.T) {
	f := newForger(t)
	_, err := f.signIn(f.client())
	require.NoError(t, err)
	public := func() []byte { // as the key set has it: the HS256 key of a confused verifier
		key, err := f.keys["es-1"].PublicKey.Bytes()
		require.NoError(t, err)
		return key
	}
	f.addKey("of another provider")
	f.set(func() { f.keys["hidden"] = f.keys["of another provider"]; delete(f.keys, "of another provider") })
	hidden := f.keys["hidden"]
	f.set(func() { delete(f.keys, "hidden") })
	for name, wrong := range map[string]struct {
		claims jwt.MapClaims
		sign   func(*jwt.Token) (string, error)
		kind   Kind
		text   string
	}{
		"nonce":                {claims: jwt.MapClaims{"nonce": "of another sign-in"}, kind: Invalid, text: "nonce is that of another sign-in"},
		"no nonce":             {claims: jwt.MapClaims{"nonce": nil}, kind: Invalid, text: "nonce"},
		"issuer":               {claims: jwt.MapClaims{"iss": "https://evil.example"}, kind: Invalid, text: "different provider"},
		"issuer with a slash":  {claims: jwt.MapClaims{"iss": f.URL + "/"}, kind: Invalid, text: "different provider"},
		"no issuer":            {claims: jwt.MapClaims{"iss": nil}, kind: Invalid, text: "different provider"},
		"audience":             {claims: jwt.MapClaims{"aud": "another client"}, kind: Invalid, text: "expected audience"},
		"no audience":          {claims: jwt.MapClaims{"aud": nil}, kind: Invalid, text: "expected audience"},
		"two audiences":        {claims: jwt.MapClaims{"aud": []string{"qos", "other"}}, kind: Invalid, text: "must have azp"},
		"azp":                  {claims: jwt.MapClaims{"azp": "other"}, kind: Invalid, text: "azp"},
		"azp of two":           {claims: jwt.MapClaims{"aud": []string{"qos", "other"}, "azp": "other"}, kind: Invalid, text: "azp"},
		"no subject":           {claims: jwt.MapClaims{"sub": nil}, kind: Invalid, text: "sub must have 1 to 255 bytes (got 0)"},
		"a long subject":       {claims: jwt.MapClaims{"sub": strings.Repeat("x", 256)}, kind: Invalid, text: "got 256"},
		"a number as subject":  {claims: jwt.MapClaims{"sub": 7}, kind: Invalid, text: "unmarshal"},
		"alg none":             {sign: signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType), kind: Invalid, text: "malformed jwt"},
		"HS256 by the secret":  {sign: signed(jwt.SigningMethodHS256, []byte(theSecret)), kind: Invalid, text: "malformed jwt"},
		"HS256 by the key":     {sign: signed(jwt.SigningMethodHS256, public()), kind: Invalid, text: "malformed jwt"},
		"another's signature":  {sign: signed(jwt.SigningMethodES256, hidden), kind: Invalid, text: "verify"},
		"no token":             {sign: func(*jwt.Token) (string, error) { return "", nil }, kind: Invalid, text: "1 to 65536 bytes (got 0)"},
		"a text":               {sign: func(*jwt.Token) (string, error) { return "a text", nil }, kind: Invalid, text: "malformed jwt"},
		"a long token":         {claims: jwt.MapClaims{"x": strings.Repeat("x", maxTokenBytes)}, kind: Invalid, text: "1 to 65536 bytes"},
		"expired long ago":     {claims: jwt.MapClaims{"exp": t0.Add(-10 * time.Minute).Unix()}, kind: Clock, text: "expired at"},
		"issued 10 min ago":    {claims: jwt.MapClaims{"iat": t0.Add(-10 * time.Minute).Unix()}, kind: Clock, text: "was issued at 2025-11-21T05:06:00Z"},
		"issued in 10 min":     {claims: jwt.MapClaims{"iat": t0.Add(10 * time.Minute).Unix()}, kind: Clock, text: "was issued at"},
		"in force in 10 min":   {claims: jwt.MapClaims{"nbf": t0.Add(10 * time.Minute).Unix()}, kind: Clock, text: "in force only later"},
		"no exp":               {claims: jwt.MapClaims{"exp": nil}, kind: Invalid, text: "exp must be a number"},
		"no iat":               {claims: jwt.MapClaims{"iat": nil}, kind: Invalid, text: "iat must be a number"},
		"a text as exp":        {claims: jwt.MapClaims{"exp": "never"}, kind: Invalid, text: "unmarshal"},
		"exp before nbf":       {claims: jwt.MapClaims{"exp": t0.Unix(), "nbf": t0.Add(time.Minute).Unix()}, kind: Invalid, text: "expires before"},
		"exp beyond all times": {claims: jwt.MapClaims{"exp": 1e300}, kind: Clock, text: ""},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.set(func() { f.claims, f.sign = wrong.claims, wrong.sign })
			_, err := f.signIn(f.client())
			f.fails(err, wrong.kind, wrong.text)
		})
	}
	f.t = t
	for name, right := range map[string]jwt.MapClaims{
		"azp":                   {"azp": "qos"},
		"two audiences":         {"aud": []string{"qos", "other"}, "azp": "qos"},
		"a clock 4 min behind":  {"iat": t0.Add(-4 * time.Minute).Unix(), "exp": t0.Add(-3 * time.Minute).Unix()},
		"a clock 4 min ahead":   {"iat": t0.Add(4 * time.Minute).Unix(), "nbf": t0.Add(4 * time.Minute).Unix()},
		"a subject of 255":      {"sub": strings.Repeat("x", 255)},
		"a fraction of seconds": {"iat": float64(t0.Unix()) + 0.5},
	} {
		f.set(func() { f.claims, f.sign = right, nil })
		_, err := f.signIn(f.client())
		require.NoError(t, err, name)
	}
}

// An answer of another provider, an error and an answer without a code end before any request.
//
// spec: DASH-03
func TestWrongAnswers(t *testing.T) {
	f := newForger(t)
	v := f.client()
	for name, wrong := range map[string]struct {
		answer Answer
		kind   Kind
		text   string
	}{
		"mix-up":           {Answer{Code: theCode, Issuer: "https://evil.example"}, Invalid, "of another provider"},
		"mix-up, an error": {Answer{Error: "access_denied", Issuer: "https://evil.example"}, Invalid, "of another provider"},
		"denied":           {Answer{Error: "access_denied"}, Denied, "access_denied"},
		"outage":           {Answer{Error: "temporarily_unavailable"}, Away, "temporarily_unavailable"},
		"refused":          {Answer{Error: "invalid_scope"}, Setup, "invalid_scope"},
		"unknown":          {Answer{Error: "\x1b[31m<script>", Code: theCode}, Invalid, "does not define"},
		"no code":          {Answer{}, Invalid, "1 to 4096 bytes (got 0)"},
		"a long code":      {Answer{Code: strings.Repeat("x", maxCodeBytes+1)}, Invalid, "(got 4097)"},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			_, err := f.signInWith(v, wrong.answer)
			f.fails(err, wrong.kind, wrong.text)
			require.NotContains(t, err.Error(), "script")
		})
	}
	f.t = t
	require.Zero(t, f.count("/token"))
	_, err := f.signInWith(v, Answer{Code: theCode, Issuer: f.URL})
	require.NoError(t, err)

	f.set(func() { f.metadata["authorization_response_iss_parameter_supported"] = true })
	v = f.client()
	_, err = f.signIn(v)
	f.fails(err, Invalid, "does not name its provider")
	_, err = f.signInWith(v, Answer{Code: theCode, Issuer: f.URL})
	require.NoError(t, err)
}

// The provider's metadata are read when they are needed, and again after a failure. They are held
// against what the collector can use.
//
// spec: DASH-03
func TestMetadata(t *testing.T) {
	const path = "/.well-known/openid-configuration"
	f := newForger(t)
	for name, wrong := range map[string]struct {
		metadata map[string]any
		kind     Kind
		text     string
	}{
		"another issuer":   {map[string]any{"issuer": "https://evil.example"}, Setup, `names itself "https://evil.example"`},
		"no token":         {map[string]any{"token_endpoint": nil}, Setup, "token_endpoint must be an https URL"},
		"plain keys":       {map[string]any{"jwks_uri": "http://id.example/keys"}, Setup, "jwks_uri must be an https URL"},
		"a script":         {map[string]any{"authorization_endpoint": "javascript:alert(1)"}, Setup, "authorization_endpoint must be an https URL"},
		"symmetric only":   {map[string]any{"id_token_signing_alg_values_supported": []string{"HS256", "none"}}, Setup, "no asymmetric algorithm"},
		"numbers for URLs": {map[string]any{"token_endpoint": 7}, Away, "failed to decode"},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.set(func() { f.metadata = wrong.metadata })
			_, err := f.client().Begin(t.Context(), secrets)
			f.fails(err, wrong.kind, wrong.text)
		})
	}
	f.t = t
	f.set(func() { f.metadata = map[string]any{} })
	down := func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusBadGateway); return true }
	f.set(func() { f.handle[path] = down })
	v, before := f.client(), f.count(path)
	for range 5 {
		_, err := v.Begin(t.Context(), secrets)
		f.fails(err, Away, "502")
	}
	require.Equal(t, 1, f.count(path)-before, "one attempt a second")
	f.set(func() { delete(f.handle, path) })
	v.now = v.now.Add(retryEvery)
	_, err := v.Begin(t.Context(), secrets)
	require.NoError(t, err)

	f.set(func() { f.handle[path] = down })
	v.now = v.now.Add(2 * refreshEvery)
	before = f.count(path)
	for range 5 {
		_, err = v.Begin(t.Context(), secrets)
		require.NoError(t, err, "old metadata are used while there are no new ones")
	}
	require.Equal(t, 1, f.count(path)-before)
	f.set(func() { delete(f.handle, path); f.metadata["authorization_endpoint"] = f.URL + "/moved" })
	v.now = v.now.Add(retryEvery)
	begun, err := v.Begin(t.Context(), secrets)
	require.NoError(t, err)
	require.Contains(t, begun, "/moved?")
}

// Visitors at the same time cause one request for metadata. One who leaves does not fail the others.
func TestMetadataAreReadOnce(t *testing.T) {
	const path = "/.well-known/openid-configuration"
	f := newForger(t)
	arrived, proceed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f.set(func() {
		f.handle[path] = func(http.ResponseWriter) bool {
			once.Do(func() { close(arrived) })
			<-proceed
			return false
		}
	})
	v := f.client()
	leaving, leave := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	left := make(chan error, 1)
	wg.Go(func() {
		_, err := v.Begin(leaving, secrets)
		left <- err
	})
	<-arrived
	errs := make(chan error, 10)
	for range cap(errs) {
		wg.Go(func() {
			_, err := v.Begin(t.Context(), secrets)
			errs <- err
		})
	}
	leave()
	f.fails(<-left, Away, "canceled")
	close(proceed)
	wg.Wait()
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	require.Equal(t, 2, f.count(path), "that of the visitor who left, and one")
}

// A provider that fails, redirects, floods or hangs ends the sign-in in its time, with a reason.
//
// spec: DASH-03
func TestFailuresOfTheProvider(t *testing.T) {
	f := newForger(t)
	status := func(code int, body string) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", f.URL+"/elsewhere")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	for name, one := range map[string]struct {
		path   string
		handle func(http.ResponseWriter) bool
		kind   Kind
		text   string
	}{
		"code replayed":      {"/token", status(400, `{"error":"invalid_grant","error_description":"c0de-4711"}`), Stale, `400 "invalid_grant"`},
		"client unknown":     {"/token", status(401, `{"error":"invalid_client"}`), Setup, "invalid_client"},
		"token endpoint 502": {"/token", status(502, "a page"), Away, `502 "Bad Gateway"`},
		"throttled":          {"/token", status(429, ""), Away, "429"},
		"no JSON":            {"/token", status(200, "<html>c0de-4711"), Invalid, "no token"},
		"redirect":           {"/token", status(307, ""), Setup, "redirect"},
		"keys 500":           {"/keys", status(500, "a page"), Away, "500"},
		"keys redirect":      {"/keys", status(302, ""), Away, "redirect"},
		"no keys":            {"/keys", status(200, "{}"), Invalid, "verify"},
		"keys without end":   {"/keys", status(200, `{"keys":[],"x":"`+strings.Repeat("x", maxAnswerBytes)+`"}`), Away, "decode"},
		"userinfo 401":       {"/userinfo", status(401, "a page"), Invalid, "401"},
		"userinfo redirect":  {"/userinfo", status(302, ""), Away, "redirect"},
		"userinfo null":      {"/userinfo", status(200, "null"), Invalid, "another subject"},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.set(func() { clear(f.handle); f.handle[one.path] = one.handle })
			_, err := f.signIn(f.client(), "roles")
			f.fails(err, one.kind, one.text)
			require.NotContains(t, err.Error(), strings.Repeat("x", 300))
			require.Zero(t, f.count("/elsewhere"))
		})
	}
}

// A sign-in whose provider hangs ends with its context, and with the client.
func TestAProviderThatHangs(t *testing.T) {
	f := newForger(t)
	for _, path := range []string{"/.well-known/openid-configuration", "/token", "/keys", "/userinfo"} {
		arrived, proceed := make(chan struct{}, 10), make(chan struct{})
		f.set(func() {
			clear(f.handle)
			f.handle[path] = func(http.ResponseWriter) bool {
				arrived <- struct{}{}
				<-proceed
				return false
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		v, failed := f.client(), make(chan error, 1)
		f.set(func() { f.nonce = secrets.Nonce })
		go func() {
			_, err := v.Finish(ctx, secrets, Answer{Code: theCode}, "roles")
			failed <- err
		}()
		<-arrived
		cancel()
		f.fails(<-failed, Away, "")

		v = f.client()
		v.http.Timeout = 0
		go func() {
			_, err := v.Finish(t.Context(), secrets, Answer{Code: theCode}, "roles")
			failed <- err
		}()
		<-arrived
		v.Close()
		f.fails(<-failed, Away, "")
		close(proceed)
	}
}

// A client that is closed keeps no connection.
func TestCloseEndsConnections(t *testing.T) {
	f := newForger(t)
	v := f.client()
	_, err := f.signIn(v)
	require.NoError(t, err)
	require.Empty(t, f.closed)
	v.Close()
	<-f.closed
}

// Keys that the provider changes between two sign-ins are read again; those in use are not.
//
// spec: DASH-03
func TestKeysRotate(t *testing.T) {
	f := newForger(t)
	v := f.client()
	for range 3 {
		_, err := f.signIn(v)
		require.NoError(t, err)
	}
	require.Equal(t, 1, f.count("/keys"))
	f.addKey("es-2")
	f.set(func() {
		delete(f.keys, "es-1")
		f.sign = func(token *jwt.Token) (string, error) {
			token.Header["kid"] = "es-2"
			return token.SignedString(f.keys["es-2"])
		}
	})
	_, err := f.signIn(v)
	require.NoError(t, err)
	require.Equal(t, 2, f.count("/keys"))

	f.addKey("es-2") // another key under the same name
	// A sign-in right after the one before may still get the keys that that one fetched.
	require.Eventually(t, func() bool { _, err := f.signIn(v); return err == nil }, time.Minute, time.Millisecond)
	require.Equal(t, 3, f.count("/keys"))

	v.now = v.now.Add(refreshEvery)
	f.set(func() { f.claims = jwt.MapClaims{"iat": v.now.Unix(), "exp": v.now.Add(time.Hour).Unix()} })
	_, err = f.signIn(v)
	require.NoError(t, err)
	require.Equal(t, 3, f.count("/keys"), "new metadata keep the keys of the same URL")
}

// The UserInfo endpoint adds claims, of the same subject only, and replaces none.
//
// spec: DASH-03
func TestUserInfo(t *testing.T) {
	f := newForger(t)
	f.set(func() { f.info = map[string]any{"sub": "ada", "roles": []string{"qos-support"}, "name": "Mallory"} })
	v := f.client()
	claims, err := f.signIn(v, "name", "roles")
	require.NoError(t, err)
	require.Equal(t, []string{"qos-support"}, claims.Texts("roles"))
	require.Equal(t, "Ada", claims.Text("name"))

	for _, sub := range []any{"eve", "", nil, "ada "} {
		f.set(func() { f.info["sub"] = sub })
		_, err = f.signIn(v, "roles")
		f.fails(err, Invalid, "about another subject")
	}
	f.set(func() {
		f.info["sub"] = "ada"
		f.claims = jwt.MapClaims{"at_hash": "of another token"}
	})
	_, err = f.signIn(v, "roles")
	f.fails(err, Invalid, "at_hash")
	f.set(func() { f.claims, f.metadata = nil, map[string]any{"userinfo_endpoint": nil} })
	claims, err = f.signIn(f.client(), "roles")
	require.NoError(t, err)
	require.Empty(t, claims.Texts("roles"))
}

// spec: DASH-03
func TestClaims(t *testing.T) {
	var c Claims
	require.NoError(t, c.UnmarshalJSON([]byte(`{
		"role":"a", "roles":["a",7,"b",null,["c"]], "realm_access":{"roles":["deep"]}, "https://a.example/roles":["named"],
		"realm_access.x":"exact", "number":7, "null":null, "email":"ada@a.example"
	}`)))
	require.Equal(t, []string{"a"}, c.Texts("role"))
	require.Equal(t, []string{"a", "b"}, c.Texts("roles"))
	require.Equal(t, []string{"deep"}, c.Texts("realm_access.roles"))
	require.Equal(t, []string{"named"}, c.Texts("https://a.example/roles"))
	require.Equal(t, []string{"exact"}, c.Texts("realm_access.x"))
	for _, none := range []string{"number", "null", "absent", "role.x", "realm_access", "", "email"} {
		require.Empty(t, c.Texts(none), none)
	}
	for verified, want := range map[any]string{true: "ada@a.example", "true": "ada@a.example", false: "", "false": "", nil: ""} {
		c["email_verified"] = verified
		require.Equal(t, want, c.Text("email"), "users may write any address: %v", verified)
	}
	for _, bad := range []string{"null", "[]", "7", ""} {
		require.Error(t, c.UnmarshalJSON([]byte(bad)), bad)
	}
}
