package who

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// idleTime is how long a connection is kept for the next question.
const idleTime = 90 * time.Second

// newTransport returns a transport that keeps its connections, takes no proxy from the
// environment (the user's cookies would go through it), and trusts caFile where it is named.
func newTransport(caFile string, connections int) (*http.Transport, error) {
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, IdleConnTimeout: idleTime,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if caFile == "" {
		return transport, nil
	}
	text, err := os.ReadFile(caFile) //nolint:gosec // G304: the operator names it
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca_file: %s holds no certificate", caFile)
	}
	transport.TLSClientConfig.RootCAs = pool
	return transport, nil
}

// stay does not follow redirects: cookies and tokens go where the operator said.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// errTooLong is an answer over its limit.
var errTooLong = errors.New("the answer is too long")
