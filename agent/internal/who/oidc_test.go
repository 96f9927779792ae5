package who_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/config"
	"github.com/qosrtc/qos/agent/internal/oidctest"
	"github.com/qosrtc/qos/agent/internal/who"
)

// source is a login source that asks the provider; it has been reached when this returns.
func source(tb testing.TB, i *oidctest.Issuer, change func(*config.OIDC)) *who.OIDC {
	tb.Helper()
	c := config.Default().OIDC
	c.Issuer, c.Audience, c.CAFile = i.URL, "calls", file(tb, string(i.Authority()))
	change(&c)
	o, err := who.NewOIDC(c)
	require.NoError(tb, err)
	tb.Cleanup(o.Close)
	o.Run(tb.Context(), func(err error) { tb.Log(err) })
	require.NoError(tb, o.Ready())
	return o
}

func plain(*config.OIDC) {}

// spec: AUTH-08
func TestBearer(t *testing.T) {
	i := oidctest.New(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	i.Set(func() { i.Keys["rs-1"] = rsaKey })
	o := source(t, i, plain)
	for _, id := range []string{"es-1", "rs-1"} {
		user, err := o.Who(request(t, "Authorization", "Bearer "+i.Token(t, id, nil)))
		require.NoError(t, err)
		require.Equal(t, agent.User{Name: "alice"}, user)
	}
	user, err := o.Who(request(t, "Authorization", "bearer  "+i.Token(t, "es-1", jwt.MapClaims{"aud": []string{"other", "calls"}})))
	require.NoError(t, err)
	require.Equal(t, "alice", user.Name)
	require.Equal(t, 1, i.Fetched, "the keys are kept")
}

func TestBearerClaims(t *testing.T) {
	i := oidctest.New(t)
	o := source(t, i, func(c *config.OIDC) { c.User, c.Alias = "ids.call", "nickname" })
	user, err := o.Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-1", jwt.MapClaims{"ids": map[string]any{"call": 12345678901234567}, "nickname": "u7"})))
	require.NoError(t, err)
	require.Equal(t, agent.User{Name: "12345678901234567", Alias: "u7"}, user)
	_, err = o.Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-1", nil)))
	require.ErrorIs(t, err, agent.ErrNotLoggedIn)
}

// TestBearersThatAreRefused: forged, of others, for others, and out of time.
//
// spec: AUTH-05, AUTH-08
func TestBearersThatAreRefused(t *testing.T) {
	i, other := oidctest.New(t), oidctest.New(t)
	o := source(t, i, plain)
	good := i.Token(t, "es-1", nil)
	parts := strings.Split(good, ".")
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"iss": i.URL, "aud": "calls", "sub": "alice", "exp": time.Now().Add(time.Hour).Unix()}).
		SignedString(jwt.UnsafeAllowNoneSignatureType)
	require.NoError(t, err)
	shared := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": i.URL, "aud": "calls", "sub": "alice", "exp": time.Now().Add(time.Hour).Unix()})
	point, err := i.Keys["es-1"].(*ecdsa.PrivateKey).PublicKey.Bytes()
	require.NoError(t, err)
	confused, err := shared.SignedString(point)
	require.NoError(t, err)
	for name, bearer := range map[string]string{
		"none":       none,
		"HS256":      confused,
		"foreign":    other.Token(t, "es-1", jwt.MapClaims{"iss": i.URL}),
		"changed":    parts[0] + "." + strings.Split(i.Token(t, "es-1", jwt.MapClaims{"sub": "bob"}), ".")[1] + "." + parts[2],
		"issuer":     i.Token(t, "es-1", jwt.MapClaims{"iss": "https://other.example"}),
		"audience":   i.Token(t, "es-1", jwt.MapClaims{"aud": "mail"}),
		"expired":    i.Token(t, "es-1", jwt.MapClaims{"exp": time.Now().Add(-time.Minute).Unix()}),
		"endless":    i.Token(t, "es-1", jwt.MapClaims{"exp": nil}),
		"not yet":    i.Token(t, "es-1", jwt.MapClaims{"nbf": time.Now().Add(time.Hour).Unix()}),
		"nobody":     i.Token(t, "es-1", jwt.MapClaims{"sub": ""}),
		"no JWT":     "abc",
		"too long":   strings.Repeat("x", 17<<10),
		"nothing":    "",
		"two tokens": good + " " + good,
	} {
		_, err := o.Who(request(t, "Authorization", "Bearer "+bearer))
		require.ErrorIs(t, err, agent.ErrNotLoggedIn, name)
		require.NotContains(t, err.Error(), "alice", name)
		require.NotContains(t, err.Error(), "mail", name)
	}
	for _, headers := range [][]string{{}, {"Authorization", "Basic " + good}, {"Authorization", "Bearer " + good, "Authorization", "Bearer " + good}} {
		_, err := o.Who(request(t, headers...))
		require.ErrorIs(t, err, agent.ErrNotLoggedIn)
	}
}

// TestProviderRollsItsKeys: a new key is fetched when it is first seen, and made-up keys
// make no storm of fetches.
//
// spec: AUTH-08
func TestProviderRollsItsKeys(t *testing.T) {
	begun := time.Now()
	i, forger := oidctest.New(t), oidctest.New(t)
	o := source(t, i, plain)
	_, err := o.Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-1", nil)))
	require.NoError(t, err)
	i.Add(t, "es-2")
	// go-oidc may still be putting the keys of its first fetch away, and then answers by them.
	require.Eventually(t, func() bool {
		_, err := o.Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-2", nil)))
		return err == nil
	}, 20*time.Second, 50*time.Millisecond)
	for range 50 {
		_, err = o.Who(request(t, "Authorization", "Bearer "+forger.Token(t, "es-1", jwt.MapClaims{"iss": i.URL})))
		require.Error(t, err)
	}
	most := 5 + int(time.Since(begun)/(5*time.Second)) // a burst, then one each 5 s
	i.Set(func() { require.LessOrEqual(t, i.Fetched, most) })
	_, err = o.Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-2", nil)))
	require.NoError(t, err, "known keys go on")
}

// TestProviderThatIsDown: tokens cannot be checked, which is no fault of the user; what is
// known already goes on.
func TestProviderThatIsDown(t *testing.T) {
	i := oidctest.New(t)
	o := source(t, i, plain)
	_, err := o.Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-1", nil)))
	require.NoError(t, err)
	i.Add(t, "es-2")
	i.Set(func() { i.Down = true })
	_, err = o.Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-1", nil)))
	require.NoError(t, err)
	require.Eventually(t, func() bool { // as above
		_, err = o.Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-2", nil)))
		return !errors.Is(err, agent.ErrNotLoggedIn)
	}, 20*time.Second, 50*time.Millisecond)
	require.ErrorContains(t, err, "fetch the OpenID provider's keys")
}

func TestProviderComesLate(t *testing.T) {
	t.Parallel()
	i := oidctest.New(t)
	i.Set(func() { i.Down = true })
	c := config.Default().OIDC
	c.Issuer, c.Audience, c.CAFile = i.URL, "calls", file(t, string(i.Authority()))
	o, err := who.NewOIDC(c)
	require.NoError(t, err)
	t.Cleanup(o.Close)
	require.Error(t, o.Ready())
	_, err = o.Who(request(t, "Authorization", "Bearer x"))
	require.ErrorContains(t, err, "has not been reached yet")
	require.NotErrorIs(t, err, agent.ErrNotLoggedIn)
	failures := 0
	o.Run(t.Context(), func(error) {
		failures++
		i.Set(func() { i.Down = false })
	})
	require.Equal(t, 1, failures)
	require.NoError(t, o.Ready())
	_, err = o.Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-1", nil)))
	require.NoError(t, err)
}

// TestProvidersThatAreRefused: none of these is ever ready.
//
// spec: AUTH-05, AUTH-08
func TestProvidersThatAreRefused(t *testing.T) {
	refused := func(i *oidctest.Issuer, change func(*config.OIDC), want string) {
		t.Helper()
		c := config.Default().OIDC
		c.Issuer, c.Audience, c.CAFile = i.URL, "calls", file(t, string(i.Authority()))
		change(&c)
		o, err := who.NewOIDC(c)
		require.NoError(t, err)
		t.Cleanup(o.Close)
		ctx, cancel := context.WithCancel(t.Context())
		var reported error
		o.Run(ctx, func(err error) { reported = err; cancel() })
		require.ErrorContains(t, reported, want)
		require.Error(t, o.Ready())
	}
	i := oidctest.New(t)
	refused(i, func(c *config.OIDC) { c.Issuer += "/tenant" }, "404")
	refused(i, func(c *config.OIDC) { c.CAFile = "" }, "certificate")
	refused(i, func(c *config.OIDC) { c.Algorithms = config.List{"HS256", "none"} }, "no signature algorithm that is known")
	i.Set(func() { i.Algorithms = []string{"HS256"} })
	refused(i, plain, "no signature algorithm that is known")
	c := config.Default().OIDC
	c.CAFile = "/nowhere"
	_, err := who.NewOIDC(c)
	require.ErrorContains(t, err, "oidc.ca_file")
}

func TestKeysWithoutTLSAreNotFetched(t *testing.T) {
	i := oidctest.New(t)
	i.Set(func() { i.PlainKeys = true })
	_, err := source(t, i, plain).Who(request(t, "Authorization", "Bearer "+i.Token(t, "es-1", nil)))
	require.ErrorContains(t, err, "URL without TLS")
}

// FuzzBearer: of all bearer tokens only the provider's own makes a user.
func FuzzBearer(f *testing.F) {
	f.Add("")
	f.Add("Bearer ")
	f.Add("Bearer a.b.c")
	f.Add("Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.")
	o := source(f, oidctest.New(f), plain)
	f.Fuzz(func(t *testing.T, authorization string) {
		user, err := o.Who(request(t, "Authorization", authorization))
		require.Error(t, err)
		require.Empty(t, user)
	})
}
