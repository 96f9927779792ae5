package who

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	// maxProviderBytes bounds discovery document and key set; go-oidc reads all there is.
	maxProviderBytes = 1 << 20
	// fetchBurst fetches are free, then one each fetchEvery: each token with an unknown key
	// id makes go-oidc fetch the keys again, and anyone can make such tokens up.
	fetchBurst = 5
	fetchEvery = 5 * time.Second
)

var (
	errPlain = errors.New("the OpenID provider names a URL without TLS")
	errPaced = errors.New("the keys were fetched a moment ago")
)

// keySet is go-oidc's, for one token.
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

// guard stands between go-oidc and the network: TLS, bounded answers, bounded fetches.
type guard struct {
	next http.RoundTripper

	mu    sync.Mutex
	spent time.Time // fetches are paid for until then
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !loopback(r.URL.Host) {
		return nil, errPlain
	}
	if !g.pay(time.Now()) {
		return nil, errPaced
	}
	response, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = limited{io.LimitReader(response.Body, maxProviderBytes), response.Body}
	return response, nil
}

func (g *guard) pay(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.spent.Before(now) {
		g.spent = now
	}
	if g.spent.Sub(now) > (fetchBurst-1)*fetchEvery {
		return false
	}
	g.spent = g.spent.Add(fetchEvery)
	return true
}

type limited struct {
	io.Reader
	io.Closer
}

func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || (err == nil && addr.Unmap().IsLoopback())
}
