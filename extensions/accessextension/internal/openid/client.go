// Package openid signs users in at one OpenID provider by the authorization code flow with PKCE. It
// keeps no state of a sign-in, and knows no store and no pages.
package openid

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Settings are those of a client at a provider.
type Settings struct {
	Issuer       string
	ClientID     string
	ClientSecret string // empty: a public client
	RedirectURL  string
	Scopes       []string
}

// Times of the provider's metadata.
const (
	// refreshEvery is the age at which metadata are read again. Older ones are used while that fails.
	refreshEvery = time.Hour
	// retryEvery is the shortest time between two attempts to read them.
	retryEvery = time.Second
)

// Client signs users in at one provider. It is safe for concurrent use.
type Client struct {
	set  Settings
	http *http.Client
	now  func() time.Time
	end  context.CancelFunc

	reading chan struct{} // has an element while a request reads the metadata

	mu    sync.Mutex
	found *provider // newest metadata; nil before the first
	err   error     // of the last attempt to read them
	tried time.Time // when the last attempt ended
}

// New returns a client. It sends no request before the first sign-in.
func New(set Settings, client *http.Client, now func() time.Time) *Client {
	ending, end := context.WithCancel(context.Background())
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	own := &http.Client{Transport: &guard{next: next, ending: ending}, Timeout: client.Timeout}
	return &Client{set: set, http: own, now: now, end: end, reading: make(chan struct{}, 1)}
}

// Close ends all requests and connections.
func (c *Client) Close() {
	c.end()
	c.http.CloseIdleConnections()
}

// Secrets are the texts of one sign-in, which the browser brings back.
type Secrets struct{ State, Nonce, Verifier string }

// Begin returns the URL of the provider at which a sign-in begins.
func (c *Client) Begin(ctx context.Context, s Secrets) (string, error) {
	p, err := c.provider(ctx)
	if err != nil {
		return "", err
	}
	return p.oauth.AuthCodeURL(s.State, oidc.Nonce(s.Nonce), oauth2.S256ChallengeOption(s.Verifier)), nil
}

// Answer is the provider's answer in the browser's request.
type Answer struct {
	Code   string
	Issuer string // RFC 9207; empty: absent
	Error  string // of OAuth 2.0; empty: none
}

// Finish returns the claims of the user whom the provider has signed in. It reads the UserInfo
// endpoint, too, if the ID token does not have all claims that are wanted.
func (c *Client) Finish(ctx context.Context, s Secrets, a Answer, wanted ...string) (Claims, error) {
	p, err := c.provider(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.check(a); err != nil {
		return nil, err
	}
	token, err := c.exchange(ctx, p, a.Code, s.Verifier)
	if err != nil {
		return nil, err
	}
	return c.claims(ctx, p, token, s.Nonce, wanted)
}

// SignOutURL returns the URL at which users end their session at the provider; empty if it has none, or
// its metadata have not been read. It leads back to a page of this server.
func (c *Client) SignOutURL(back string) string {
	c.mu.Lock()
	p := c.found
	c.mu.Unlock()
	if p == nil || p.signOut == nil {
		return ""
	}
	u := *p.signOut
	q := u.Query()
	q.Set("client_id", c.set.ClientID)
	q.Set("post_logout_redirect_uri", back)
	u.RawQuery = q.Encode()
	return u.String()
}

// known returns metadata that need no request: fresh ones, or those of an attempt a moment ago.
func (c *Client) known() (p *provider, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	switch {
	case c.found != nil && now.Sub(c.found.read) < refreshEvery:
		return c.found, true, nil
	case now.Sub(c.tried) >= retryEvery:
		return nil, false, nil
	case c.found != nil:
		return c.found, true, nil
	}
	return nil, true, c.err
}

// provider returns the provider's metadata. One request at a time reads them; the others wait for it.
func (c *Client) provider(ctx context.Context) (*provider, error) {
	if p, ok, err := c.known(); ok {
		return p, err
	}
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return nil, failure(Away, "discovery", "%w", ctx.Err())
	}
	if p, ok, err := c.known(); ok {
		return p, err
	}
	p, err := c.discover(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, err // the visitor has left: this says nothing about the provider
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err, c.tried = err, c.now()
	if err == nil {
		c.found = p
	}
	if c.found == nil {
		return nil, err
	}
	return c.found, nil
}
