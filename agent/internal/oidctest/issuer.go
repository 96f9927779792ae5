// Package oidctest is an OpenID provider for tests: real discovery and a real key set over
// TLS, without the code that is tested.
package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// Issuer is an OpenID provider: discovery and key set over TLS, as RFC 8414 and RFC 7517
// have them, without go-oidc's code.
type Issuer struct {
	*httptest.Server
	mu         sync.Mutex
	Keys       map[string]crypto.Signer // by kid; RSA or P-256
	Algorithms []string                 // as announced
	PlainKeys  bool                     // announces a key set without TLS
	Down       bool                     // answers 502
	Fetched    int                      // key sets
}

// Authority returns the certificate to trust it by, as PEM.
func (i *Issuer) Authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
}

// New starts a provider with one key, es-1. It ends with the test.
func New(tb testing.TB) *Issuer {
	tb.Helper()
	i := &Issuer{Keys: make(map[string]crypto.Signer), Algorithms: []string{"RS256", "ES256", "HS256", "none"}}
	i.Server = httptest.NewTLSServer(i)
	tb.Cleanup(i.Close)
	i.Add(tb, "es-1")
	return i
}

// Add makes a key on P-256.
func (i *Issuer) Add(tb testing.TB, id string) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)
	i.Set(func() { i.Keys[id] = key })
}

// Set changes the provider while it serves.
func (i *Issuer) Set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// ServeHTTP implements http.Handler.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.Down {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		keys := i.URL + "/keys"
		if i.PlainKeys {
			keys = "http://id.example.org/keys"
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": keys, "id_token_signing_alg_values_supported": i.Algorithms})
	case "/keys":
		i.Fetched++
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": i.jwks()})
	default:
		http.NotFound(w, r)
	}
}

// jwks is the key set (RFC 7518, 6.2 and 6.3).
func (i *Issuer) jwks() []map[string]string {
	encode := base64.RawURLEncoding.EncodeToString
	keys := []map[string]string{}
	for id, key := range i.Keys {
		switch public := key.Public().(type) {
		case *ecdsa.PublicKey:
			point, err := public.Bytes()
			if err != nil {
				panic(err)
			}
			keys = append(keys, map[string]string{"kty": "EC", "crv": "P-256", "use": "sig", "kid": id, "x": encode(point[1:33]), "y": encode(point[33:])})
		case *rsa.PublicKey:
			keys = append(keys, map[string]string{"kty": "RSA", "use": "sig", "kid": id, "n": encode(public.N.Bytes()), "e": encode(big.NewInt(int64(public.E)).Bytes())})
		}
	}
	return keys
}

// Token is what the provider gives a page, with claims changed.
func (i *Issuer) Token(tb testing.TB, id string, change jwt.MapClaims) string {
	tb.Helper()
	now := time.Now()
	claims := jwt.MapClaims{"iss": i.URL, "aud": "calls", "sub": "alice", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix()}
	maps.Copy(claims, change)
	var method jwt.SigningMethod = jwt.SigningMethodES256
	if _, isRSA := i.Keys[id].(*rsa.PrivateKey); isRSA {
		method = jwt.SigningMethodRS256
	}
	token := jwt.NewWithClaims(method, claims)
	token.Header["kid"] = id
	text, err := token.SignedString(i.Keys[id])
	require.NoError(tb, err)
	return text
}
