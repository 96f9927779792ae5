package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth"
)

func newKey(tb testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	require.NoError(tb, err)
	return key
}

func publicPEM(tb testing.TB, public any) string {
	tb.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	require.NoError(tb, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// coordinates are those of a JWK.
func coordinates(tb testing.TB, public *ecdsa.PublicKey) (x, y string) {
	tb.Helper()
	point, err := public.Bytes()
	require.NoError(tb, err)
	half := (len(point) - 1) / 2
	return base64.RawURLEncoding.EncodeToString(point[1 : 1+half]), base64.RawURLEncoding.EncodeToString(point[1+half:])
}

func quoted(tb testing.TB, text string) string {
	tb.Helper()
	b, err := json.Marshal(text)
	require.NoError(tb, err)
	return string(b)
}

// spec: AUTH-05
func TestPEM(t *testing.T) {
	key := newKey(t, elliptic.P256())
	good := publicPEM(t, &key.PublicKey)
	for _, text := range []string{good, "\n" + good + "\n", strings.ReplaceAll(good, "\n", "\r\n")} {
		public, err := ParsePEM(text)
		require.NoError(t, err)
		require.True(t, key.PublicKey.Equal(public))
	}
	f := func(text, want string) {
		t.Helper()
		_, err := ParsePEM(text)
		require.ErrorContains(t, err, want)
	}
	f("", "one PEM block")
	f("PUBLIC KEY", "one PEM block")
	f(good+good, "one PEM block")
	f(good+"more", "one PEM block")
	f(strings.Repeat("x", maxKeyBytes+1), "at most 4096 bytes")
	f(publicPEM(t, &newKey(t, elliptic.P384()).PublicKey), "P-256")
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	f(publicPEM(t, &rsaKey.PublicKey), "P-256")
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	f(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})), "private")
	f(string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})), "private")
	f(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: private})), "one PEM block")
	f(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: private})), "one PEM block")
}

// spec: AUTH-05
func TestJWK(t *testing.T) {
	key := newKey(t, elliptic.P256())
	x, y := coordinates(t, &key.PublicKey)
	for more, id := range map[string]string{
		``:                "",
		`,"kid":"my key"`: "my key",
		`,"use":"sig","alg":"ES256","key_ops":["verify"],"ext":true,"x5u":"https://evil.example"`: "",
	} {
		public, kid, err := ParseJWK(fmt.Appendf(nil, `{"kty":"EC","crv":"P-256","x":"%s","y":"%s"%s}`, x, y, more))
		require.NoError(t, err)
		require.True(t, key.PublicKey.Equal(public))
		require.Equal(t, id, kid)
	}
	f := func(text, want string) {
		t.Helper()
		_, _, err := ParseJWK([]byte(text))
		require.ErrorContains(t, err, want)
	}
	jwk := func(kty, crv, x, y, more string) string {
		return fmt.Sprintf(`{"kty":"%s","crv":"%s","x":"%s","y":"%s"%s}`, kty, crv, x, y, more)
	}
	f(`{}`, "a JWK of the type EC")
	f(`[]`, "a JWK of the type EC")
	f(jwk("RSA", "P-256", x, y, ""), "a JWK of the type EC")
	f(jwk("EC", "P-384", x, y, ""), "a JWK of the type EC")
	f(jwk("EC", "P-256", x, y, `,"d":"AAAA"`), "private")
	f(`{"kty":"oct","k":"AAAA"}`, "private")
	f(jwk("EC", "P-256", x, y, `,"use":"enc"`), "is to verify")
	f(jwk("EC", "P-256", x, y, `,"alg":"HS256"`), "is to verify")
	f(jwk("EC", "P-256", x, y, `,"key_ops":["verify","sign"]`), "is to verify")
	f(jwk("EC", "P-256", x, x, ""), "on the curve")
	f(jwk("EC", "P-256", x, "AAAA", ""), "a JWK of the type EC")
	f(jwk("EC", "P-256", x+"=", y, ""), "a JWK of the type EC")
	zero := base64.RawURLEncoding.EncodeToString(make([]byte, 32))
	f(jwk("EC", "P-256", zero, zero, ""), "on the curve")
	f(`{"x":"`+strings.Repeat("x", maxKeyBytes)+`"}`, "at most 4096 bytes")
}

// The example of RFC 7638 is an RSA key; this is what its section 3 asks of an EC key:
// the members crv, kty, x, y in this order, and nothing else.
func TestThumbprint(t *testing.T) {
	// RFC 9449, section 4.3.1 and 6.1: the key of the examples and its thumbprint.
	public, _, err := ParseJWK([]byte(`{"kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","crv":"P-256"}`))
	require.NoError(t, err)
	got, err := thumbprint(public)
	require.NoError(t, err)
	require.Equal(t, "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I", got)
}

// spec: AUTH-05
func TestKeys(t *testing.T) {
	a, v := newApp(t), newVault(t, 1)
	key := newKey(t, elliptic.P256())
	text := publicPEM(t, &key.PublicKey)
	x, y := coordinates(t, &key.PublicKey)
	add := func(body string) Shown {
		t.Helper()
		shown, err := a.AddKey("shop", []byte(body), v, noon)
		require.NoError(t, err)
		return shown
	}
	named := add(`{"algorithm":"ES256","keyID":"mine","publicKey":` + quoted(t, text) + `}`)
	require.Equal(t, Shown{ID: "mine"}, named, "there is no secret to be returned")
	print1 := add(`{"algorithm":"ES256","publicKey":` + quoted(t, text) + `}`)
	require.Len(t, print1.ID, 43)
	require.Equal(t, "kid", add(fmt.Sprintf(`{"algorithm":"ES256","publicKey":{"kty":"EC","crv":"P-256","x":"%s","y":"%s","kid":"kid"}}`, x, y)).ID)
	made := add(`{"algorithm":"HS256"}`)
	require.Len(t, made.Secret, 43)
	given := add(`{"algorithm":"HS256","keyID":"given","secret":"0123456789abcdef0123456789abcdef"}`)
	require.Equal(t, Shown{ID: "given"}, given, "who gave it has it")

	built := a.Build("shop", v, noon)
	require.Empty(t, built.Unusable)
	require.Len(t, built.Auth.Keys, 5)
	for _, k := range built.Auth.Keys[:3] {
		require.Equal(t, auth.AlgorithmES256, k.Algorithm)
		require.True(t, key.PublicKey.Equal(k.Public))
		require.Nil(t, k.Secret)
	}
	require.Equal(t, auth.VerificationKey{ID: made.ID, Algorithm: auth.AlgorithmHS256, Secret: []byte(made.Secret)}, built.Auth.Keys[3])
	require.Equal(t, "0123456789abcdef0123456789abcdef", string(built.Auth.Keys[4].Secret))

	require.NoError(t, a.ChangeKey("mine", []byte(`{"disabled":true}`)))
	require.Len(t, a.Build("shop", v, noon).Auth.Keys, 4)
	require.NoError(t, a.ChangeKey("mine", []byte(`{}`)))
	require.Len(t, a.Build("shop", v, noon).Auth.Keys, 5)
	require.NoError(t, a.DeleteKey("mine"))
	require.ErrorIs(t, a.DeleteKey("mine"), ErrNoCredential)
	require.ErrorIs(t, a.ChangeKey("mine", []byte(`{}`)), ErrNoCredential)
}

// spec: AUTH-05
func TestKeysRefused(t *testing.T) {
	a, v := newApp(t), newVault(t, 1)
	text := publicPEM(t, &newKey(t, elliptic.P256()).PublicKey)
	_, err := a.AddKey("shop", []byte(`{"algorithm":"HS256","keyID":"given"}`), v, noon)
	require.NoError(t, err)
	f := func(body, want string) {
		t.Helper()
		_, err := a.AddKey("shop", []byte(body), v, noon)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hunter2")
	}
	f(`{}`, `algorithm must be one of ES256, HS256 (got "")`)
	f(`{"algorithm":"none"}`, `algorithm must be one of ES256, HS256 (got "none")`)
	f(`{"algorithm":"RS256"}`, "algorithm must be one of")
	f(`{"algorithm":"ES256"}`, "publicKey must be a string with a public key in PEM, or a JWK (got nothing)")
	f(`{"algorithm":"ES256","publicKey":7}`, "publicKey must be a string with a public key in PEM, or a JWK (got the number 7)")
	f(`{"algorithm":"ES256","publicKey":"x","secret":"hunter2"}`, "secret must be left out: an ES256 key has none")
	f(`{"algorithm":"HS256","publicKey":`+quoted(t, text)+`}`, "publicKey must be left out: an HS256 key has a secret")
	f(`{"algorithm":"HS256","secret":"hunter2"}`, "secret must have 32 to 1024 bytes")
	f(`{"algorithm":"HS256","secret":""}`, "secret must have 32 to 1024 bytes")
	f(`{"algorithm":"HS256","keyID":"given"}`, `keyID must be another one: the app has a key of this id`)
	f(`{"algorithm":"HS256","keyID":"a b"}`, "keyID must have 1 to 128 of the characters")
	f(`{"algorithm":"HS256","keyID":""}`, "keyID must have 1 to 128")
	for len(a.Keys) < MaxKeys {
		_, err := a.AddKey("shop", []byte(`{"algorithm":"HS256"}`), v, noon)
		require.NoError(t, err)
	}
	f(`{"algorithm":"HS256"}`, "keys must have at most 32 entries")
}

// A roll of the master keys: all is sealed anew with the newest; without the old one, what
// was left is unusable, and everything else goes on.
//
// spec: AUTH-05
func TestReseal(t *testing.T) {
	a, old, rolled, fresh := newApp(t), newVault(t, 1), newVault(t, 2, 1), newVault(t, 2)
	_, err := a.AddKey("shop", []byte(`{"algorithm":"HS256","keyID":"k"}`), old, noon)
	require.NoError(t, err)
	_, err = a.Replace("shop", []byte(`{"webhooks":[{"id":"w","url":"https://a.example"}]}`), old, noon, false)
	require.NoError(t, err)
	require.False(t, a.Reseal("shop", old))
	require.Equal(t, []string{"k"}, a.Build("shop", fresh, noon).Unusable)
	require.Equal(t, []string{"k"}, a.Build("other", old, noon).Unusable, "a key cannot be moved")
	require.False(t, a.Clone().Reseal("shop", fresh), "what cannot be opened stays")

	before := a.Build("shop", rolled, noon).Auth.Keys
	require.True(t, a.Reseal("shop", rolled))
	require.False(t, a.Reseal("shop", rolled))
	require.Equal(t, before, a.Build("shop", fresh, noon).Auth.Keys)
	_, _, err = fresh.Open(webhookPurpose("shop", "w"), a.Webhooks[0].Sealed)
	require.NoError(t, err)
}

// FuzzPublicKeys: whatever is taken for a key is a point on P-256 that survives the store.
func FuzzPublicKeys(f *testing.F) {
	key := newKey(f, elliptic.P256())
	x, y := coordinates(f, &key.PublicKey)
	f.Add([]byte(publicPEM(f, &key.PublicKey)))
	f.Add([]byte(publicPEM(f, &newKey(f, elliptic.P384()).PublicKey)))
	f.Add(fmt.Appendf(nil, `{"kty":"EC","crv":"P-256","x":"%s","y":"%s","kid":"k"}`, x, y))
	f.Add([]byte(`{"kty":"EC","crv":"P-256","x":"AA","y":"AA","d":1}`))
	f.Add([]byte("-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----"))
	f.Fuzz(func(t *testing.T, text []byte) {
		public, id, err := ParseKeyText(string(text))
		if err != nil {
			require.Nil(t, public)
			return
		}
		require.Equal(t, elliptic.P256(), public.Curve)
		key := Key{KeyView: KeyView{Algorithm: auth.AlgorithmES256}}
		if err := key.SetPublic(public, id); err != nil {
			require.False(t, ValidIdentifier(id))
			return
		}
		built, err := key.build("shop", nil)
		require.NoError(t, err)
		require.True(t, public.Equal(built.Public))
		require.NotEmpty(t, built.ID)
	})
}
