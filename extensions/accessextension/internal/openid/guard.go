package openid

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/qosrtc/qos/internal/serve/loopback"
)

// maxAnswerBytes bounds each answer of the provider. The libraries read all there is.
const maxAnswerBytes = 1 << 20

var (
	errPlain    = errors.New("the URL has no TLS")
	errRedirect = errors.New("the provider answers with a redirect")
)

// secure reports whether a URL may be requested: https, or http on this machine.
func secure(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && loopback.Host(u.Hostname()))
}

// parsed returns a URL that may be requested; nil for another text.
func parsed(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || !secure(u) {
		return nil
	}
	return u
}

// guard is between the libraries and the network: TLS, no redirects, bounded answers, and an end.
type guard struct {
	next   http.RoundTripper
	ending context.Context // of all requests: the libraries' own have none
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if !secure(r.URL) {
		return nil, errPlain
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(g.ending, cancel)
	end := func() { stop(); cancel() }
	response, err := g.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		end()
		return nil, err
	}
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		_ = response.Body.Close()
		end()
		return nil, errRedirect
	}
	response.Body = &bounded{io.LimitReader(response.Body, maxAnswerBytes), response.Body, end}
	return response, nil
}

// CloseIdleConnections lets http.Client close those of the transport below.
func (g *guard) CloseIdleConnections() {
	if idle, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// bounded is the body of an answer.
type bounded struct {
	io.Reader
	body io.Closer
	end  func()
}

// Close implements io.Closer.
func (b *bounded) Close() error {
	defer b.end()
	return b.body.Close()
}
