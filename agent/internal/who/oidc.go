package who

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/config"
)

const (
	maxBearerBytes = 16 << 10
	firstRetry     = time.Second
	lastRetry      = 30 * time.Second
)

// errNotDiscovered is what a page gets before the provider has been reached.
var errNotDiscovered = errors.New("the OpenID provider has not been reached yet")

// OIDC verifies the bearer token that the page brings. Nothing ambient goes with it, so
// other sites' pages cannot ask in the user's name.
type OIDC struct {
	config   config.OIDC
	client   *http.Client
	provider atomic.Pointer[provider]
}

// provider is a provider that has been reached.
type provider struct {
	keys     *oidc.RemoteKeySet
	verifies oidc.Config // how bearer tokens are verified
}

// NewOIDC prepares the connections; Run reaches the provider.
func NewOIDC(c config.OIDC) (*OIDC, error) {
	transport, err := newTransport(c.CAFile, 2)
	if err != nil {
		return nil, fmt.Errorf("oidc.%w", err)
	}
	guard := &guard{next: transport}
	return &OIDC{config: c, client: &http.Client{Transport: guard, CheckRedirect: stay, Timeout: c.Timeout}}, nil
}

// Close ends the idle connections.
func (o *OIDC) Close() { o.client.CloseIdleConnections() }

// Ready returns an error until the provider has been reached.
func (o *OIDC) Ready() error {
	if o.provider.Load() == nil {
		return errNotDiscovered
	}
	return nil
}

// Run discovers the provider, again and again until it answers or ctx ends. failed hears of
// each attempt that failed.
func (o *OIDC) Run(ctx context.Context, failed func(error)) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		found, err := o.discover(ctx)
		if err == nil {
			o.provider.Store(found)
			return
		}
		if ctx.Err() != nil {
			return
		}
		failed(err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (o *OIDC) discover(ctx context.Context) (*provider, error) {
	ctx = oidc.ClientContext(ctx, o.client)
	remote, err := oidc.NewProvider(ctx, o.config.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discover the OpenID provider: %w", err)
	}
	var announced struct {
		Keys       string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	if err := remote.Claims(&announced); err != nil {
		return nil, fmt.Errorf("read the OpenID provider's document: %w", err)
	}
	algorithms := []string(o.config.Algorithms)
	if len(algorithms) == 0 {
		algorithms = announced.Algorithms
	}
	algorithms = slices.DeleteFunc(slices.Clone(algorithms), func(a string) bool { return !slices.Contains(asymmetric, a) })
	if len(algorithms) == 0 {
		return nil, errors.New("the OpenID provider announces no signature algorithm that is known; see oidc.algorithms")
	}
	return &provider{
		keys:     oidc.NewRemoteKeySet(ctx, announced.Keys),
		verifies: oidc.Config{ClientID: o.config.Audience, SupportedSigningAlgs: algorithms},
	}, nil
}

// asymmetric are the algorithms that prove who signed. "none" and those with a shared secret
// are not among them, whatever is announced (RFC 8725, 3.1).
var asymmetric = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512,
	oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// Who is an agent.Who.
func (o *OIDC) Who(r *http.Request) (agent.User, error) {
	provider := o.provider.Load()
	if provider == nil {
		return agent.User{}, errNotDiscovered
	}
	bearer, err := bearerToken(r)
	if err != nil {
		return agent.User{}, err
	}
	keys := &keySet{remote: provider.keys}
	token, err := oidc.NewVerifier(o.config.Issuer, keys, &provider.verifies).Verify(r.Context(), bearer)
	if keys.failed != nil {
		return agent.User{}, fmt.Errorf("fetch the OpenID provider's keys: %w", bare(keys.failed))
	}
	if err != nil {
		return agent.User{}, refusedBearer(err)
	}
	var claims rawObject
	if err := token.Claims(&claims); err != nil {
		return agent.User{}, fmt.Errorf("%w: the bearer token's claims %w", agent.ErrNotLoggedIn, err)
	}
	return user(claims, o.config.User, o.config.Alias)
}

// refusedBearer says why in our own words where the library's would quote the token.
func refusedBearer(err error) error {
	if expired := new(oidc.TokenExpiredError); errors.As(err, &expired) {
		return fmt.Errorf("%w: the bearer token expired at %s", agent.ErrNotLoggedIn, expired.Expiry.UTC().Format(time.RFC3339))
	}
	text, _, _ := strings.Cut(err.Error(), " got ") // what follows is of the token
	return fmt.Errorf("%w: %s", agent.ErrNotLoggedIn, text)
}

func bearerToken(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", fmt.Errorf("%w: no bearer token came", agent.ErrNotLoggedIn)
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxBearerBytes {
		return "", fmt.Errorf("%w: no bearer token came", agent.ErrNotLoggedIn)
	}
	return token, nil
}

// rawObject reads claims with numbers as they are written.
type rawObject map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (o *rawObject) UnmarshalJSON(text []byte) error {
	object, err := readJSON(text)
	*o = object
	return err
}
