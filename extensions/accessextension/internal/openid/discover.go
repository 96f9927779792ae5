package openid

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// provider is what a provider's metadata say.
type provider struct {
	oauth    oauth2.Config
	remote   *oidc.Provider
	keys     *oidc.RemoteKeySet
	keysURL  string
	verifies oidc.Config // how ID tokens are verified
	signOut  *url.URL    // nil: none
	issuer   string
	names    bool // the provider names itself in each answer (RFC 9207)
	read     time.Time
}

// metadata are the members of the discovery document beside those that go-oidc reads.
type metadata struct {
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Keys          string   `json:"jwks_uri"`
	UserInfo      string   `json:"userinfo_endpoint"`
	SignOut       string   `json:"end_session_endpoint"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	Names         bool     `json:"authorization_response_iss_parameter_supported"`
}

// asymmetric are the algorithms that prove who signed. "none" and those with a shared secret are not
// among them, whatever the provider announces (RFC 8725, section 3.1).
var asymmetric = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// discover reads the provider's metadata.
func (c *Client) discover(ctx context.Context) (*provider, error) {
	remote, err := oidc.NewProvider(oidc.ClientContext(ctx, c.http), c.set.Issuer)
	if err != nil {
		return nil, discoveryFailure(err)
	}
	var m metadata
	if err := remote.Claims(&m); err != nil {
		return nil, failure(Setup, "discovery", "the metadata cannot be read: %w", err)
	}
	for name, text := range map[string]string{"authorization_endpoint": m.Authorization, "token_endpoint": m.Token, "jwks_uri": m.Keys} {
		if parsed(text) == nil {
			return nil, failure(Setup, "discovery", "%s must be an https URL (got %s)", name, quoted(text))
		}
	}
	style, err := c.style(m.Methods)
	if err != nil {
		return nil, err
	}
	algorithms := slices.DeleteFunc(m.Algorithms, func(a string) bool { return !slices.Contains(asymmetric, a) })
	if len(algorithms) == 0 {
		return nil, failure(Setup, "discovery", "the provider announces no asymmetric algorithm for ID tokens")
	}
	endpoint := remote.Endpoint()
	endpoint.AuthStyle = style
	return &provider{
		oauth: oauth2.Config{
			ClientID: c.set.ClientID, ClientSecret: c.set.ClientSecret, Endpoint: endpoint, RedirectURL: c.set.RedirectURL, Scopes: c.set.Scopes,
		},
		remote: remote, keys: c.keysOf(m.Keys), keysURL: m.Keys, signOut: parsed(m.SignOut), issuer: c.set.Issuer, names: m.Names, read: c.now(),
		// The times are checked with a bound for both directions (check.go).
		verifies: oidc.Config{ClientID: c.set.ClientID, SupportedSigningAlgs: algorithms, SkipExpiryCheck: true},
	}, nil
}

// style returns how the client proves itself at the token endpoint. Without an announcement it is HTTP
// Basic (OpenID Connect Discovery 1.0, section 3). The library would otherwise try both, and use the code up.
func (c *Client) style(methods []string) (oauth2.AuthStyle, error) {
	switch {
	case c.set.ClientSecret == "":
		return oauth2.AuthStyleInParams, nil
	case len(methods) == 0, slices.Contains(methods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader, nil
	case slices.Contains(methods, "client_secret_post"):
		return oauth2.AuthStyleInParams, nil
	}
	return 0, failure(Setup, "discovery", "the provider takes no client secret at its token endpoint (neither client_secret_basic nor client_secret_post)")
}

// keysOf returns the key set of a URL. The one in use is kept, so that its keys are not read again.
func (c *Client) keysOf(address string) *oidc.RemoteKeySet {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != nil && c.found.keysURL == address {
		return c.found.keys
	}
	return oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), c.http), address)
}

func discoveryFailure(err error) *Failure {
	wrong, outside := new(oidc.IssuerMismatchError), new(url.Error)
	switch {
	case errors.As(err, &wrong):
		return failure(Setup, "discovery", "the provider names itself %s: issuer must be the same text", quoted(wrong.Discovered))
	case errors.Is(err, errPlain), errors.Is(err, errRedirect):
		return failure(Setup, "discovery", "%w", err)
	case errors.As(err, &outside):
		return failure(Away, "discovery", "%w", err)
	}
	return failure(Away, "discovery", "%s", quoted(err.Error())) // it may contain the whole answer
}

// keySet is the keys of a provider, for one token.
type keySet struct {
	remote *oidc.RemoteKeySet
	failed error // why keys could not be fetched: the verifier's error does not say so
}

// VerifySignature implements oidc.KeySet.
func (k *keySet) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.remote.VerifySignature(ctx, jwt)
	if errors.Unwrap(err) != nil { // only an error of fetching wraps one
		k.failed = err
	}
	return payload, err
}
