// Package tlsserver opens the listeners of all servers in this distribution, so that they
// offer the same cipher suites, and keeps the addresses of their clients out of spans.
package tlsserver

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/otel/trace/noop"
)

// headerTime is the time in which a client has to send the headers of a request.
const headerTime = 10 * time.Second

// DefaultConfig returns the default configuration of a server at an endpoint. It is confighttp's, except for the time for
// headers, which is a minute there.
func DefaultConfig(endpoint string) confighttp.ServerConfig {
	cfg := confighttp.NewDefaultServerConfig()
	cfg.NetAddr.Endpoint, cfg.ReadHeaderTimeout = endpoint, headerTime
	return cfg
}

// WithoutSpans returns the telemetry settings of a server without spans for its requests: a span would have the client's
// address, its user agent and the query.
func WithoutSpans(set component.TelemetrySettings) component.TelemetrySettings {
	set.TracerProvider = noop.NewTracerProvider()
	return set
}

// Listen opens the endpoint of a server. Where TLS is configured without cipher_suites,
// TLS 1.2 is served with ECDHE and AEAD only: no CBC, no static RSA.
func Listen(ctx context.Context, cfg *confighttp.ServerConfig) (net.Listener, error) {
	if cfg.TLS.HasValue() {
		harden(cfg.TLS.Get())
	}
	return cfg.ToListener(ctx)
}

// Config returns the configuration of a TLS listener other than an HTTP server's, with the cipher suites of
// Listen. As for Listen, the certificate is read again after reload_interval.
func Config(ctx context.Context, cfg *configtls.ServerConfig) (*tls.Config, error) {
	harden(cfg)
	return cfg.LoadTLSConfig(ctx)
}

func harden(cfg *configtls.ServerConfig) {
	if len(cfg.CipherSuites) == 0 {
		cfg.CipherSuites = suites()
	}
}

// suites are the names of the cipher suites of TLS 1.2 with ECDHE and AEAD. Those of TLS 1.3
// are always on.
func suites() (names []string) {
	for _, suite := range tls.CipherSuites() {
		aead := strings.Contains(suite.Name, "_GCM_") || strings.Contains(suite.Name, "_CHACHA20_POLY1305_")
		if slices.Contains(suite.SupportedVersions, tls.VersionTLS12) && strings.HasPrefix(suite.Name, "TLS_ECDHE_") && aead {
			names = append(names, suite.Name)
		}
	}
	return names
}
