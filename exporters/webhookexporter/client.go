package webhookexporter

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/qosrtc/qos/internal/serve/publicaddr"
)

// Limits of an answer: its headers, and the part of its body that is read.
const (
	maxHeaderBytes = 16 << 10
	maxAnswerBytes = 16 << 10
	// maxRetryAfter bounds the Retry-After of a receiver.
	maxRetryAfter = 24 * time.Hour
)

// errAddress means that the name of a webhook resolves to an address that is not public.
var errAddress = errors.New("the address of the webhook is not public, and allowed_networks of qoswebhook does not have it")

// permittedKey is the context key of an atomic.Bool: whether an address of the name was permitted in an attempt.
type permittedKey struct{}

// client sends requests to receivers that may be hostile.
type client struct{ http *http.Client }

// newClient returns a client that connects to public addresses and to those of the allowed networks.
// A nil resolver is the system's.
func newClient(allowed []netip.Prefix, config *tls.Config, timeout time.Duration, resolver *net.Resolver) *client {
	dialer := &net.Dialer{
		Timeout: timeout, Resolver: resolver,
		// After resolution, for each address that is tried: a name cannot change in between.
		ControlContext: func(ctx context.Context, _, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !publicaddr.Reachable(at.Addr(), allowed) {
				return errAddress
			}
			if permitted, ok := ctx.Value(permittedKey{}).(*atomic.Bool); ok {
				permitted.Store(true)
			}
			return nil
		},
	}
	return &client{&http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: config, TLSHandshakeTimeout: timeout, ResponseHeaderTimeout: timeout,
			MaxResponseHeaderBytes: maxHeaderBytes, DisableKeepAlives: true, DisableCompression: true,
		},
	}}
}

// answer is the result of one attempt.
type answer struct {
	status     int           // 0: no answer
	retryAfter time.Duration // requested by the receiver; 0: none
	failure    string        // empty: delivered
	permanent  bool          // later attempts would fail, too
}

// post sends a body. The failure never contains the URL, whose path or query may be secret, nor text
// of the receiver.
func (c *client) post(ctx context.Context, url string, header http.Header, body []byte) answer {
	var permitted atomic.Bool
	req, err := http.NewRequestWithContext(context.WithValue(ctx, permittedKey{}, &permitted), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer{failure: "the URL is not valid", permanent: true}
	}
	req.Header = header
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{failure: failureOf(err), permanent: errors.Is(err, errAddress) && !permitted.Load()}
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{status: resp.StatusCode, retryAfter: parseRetryAfter(resp.Header.Get("Retry-After"), time.Now())}
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		a.failure = fmt.Sprintf("status %d: redirects are not followed", resp.StatusCode)
	case resp.StatusCode < 200 || resp.StatusCode >= 300:
		a.failure = fmt.Sprintf("status %d", resp.StatusCode)
	default:
		_, _ = io.CopyN(io.Discard, resp.Body, maxAnswerBytes) // the status alone decides
	}
	return a
}

// failureOf returns a text for the kind of an error.
func failureOf(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, errAddress):
		return errAddress.Error()
	case errors.As(err, &dns):
		return "the name of the webhook cannot be resolved"
	case errors.As(err, &certificate):
		return "the certificate of the webhook is not valid"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	}
	return "the connection ended without an answer"
}

// parseRetryAfter parses a number of seconds or a date.
func parseRetryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(max(0, time.Duration(min(seconds, int(maxRetryAfter/time.Second)))*time.Second), maxRetryAfter)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, at.Sub(now)), maxRetryAfter)
	}
	return 0
}
