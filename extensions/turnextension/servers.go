package turnextension

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/extensions/turnextension/internal/metadata"
	"github.com/qosrtc/qos/extensions/turnextension/internal/relay"
	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/internal/serve/publicaddr"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
)

// source is a TURN server that credentials are made for.
type source struct {
	label       string
	urls        []string
	secret      []byte
	tests, call bool
}

// servers hands out TURN servers, and owns the embedded one.
type servers struct {
	cfg       *Config
	telemetry *metadata.TelemetryBuilder
	counts    *relay.Counts
	embedded  atomic.Pointer[relay.Server] // nil: none
	sources   []source                     // set by Start
}

var _ turnrest.Provider = (*servers)(nil)

func newServers(cfg *Config, telemetry *metadata.TelemetryBuilder) (*servers, error) {
	s := &servers{cfg: cfg, telemetry: telemetry, counts: relay.NewCounts()}
	return s, s.observe()
}

// Start implements component.Component.
func (s *servers) Start(ctx context.Context, _ component.Host) error {
	if s.cfg.Server.on() {
		if err := s.startEmbedded(ctx); err != nil {
			s.stop()
			return fmt.Errorf("turn server: %w", err)
		}
	}
	for i := range s.cfg.Outside {
		c := &s.cfg.Outside[i]
		secret, err := readSecret(c.SecretFile)
		if err != nil {
			s.stop()
			return fmt.Errorf("outside[%d].secret_file: %w", i, err)
		}
		s.sources = append(s.sources, source{c.Label, c.URLs, secret, c.makes(turnrest.Test), c.makes(turnrest.Call)})
	}
	return nil
}

// Shutdown implements component.Component. It is legal before Start and twice.
func (s *servers) Shutdown(context.Context) error {
	s.stop()
	s.telemetry.Shutdown()
	return nil
}

func (s *servers) stop() {
	if server := s.embedded.Load(); server != nil {
		server.Close()
	}
}

// TestServers implements turnrest.Provider.
func (s *servers) TestServers(appID, userID string, now time.Time) []turnrest.Server {
	out := []turnrest.Server{}
	for i := range s.sources {
		if s.sources[i].tests {
			out = append(out, s.sources[i].server(turnrest.Test, appID, userID, s.cfg.Test.CredentialTTL, now))
		}
	}
	return out
}

// CallServers implements turnrest.Provider.
func (s *servers) CallServers(appID, userID string, now time.Time) (out []turnrest.Server) {
	if !s.cfg.Call.Enabled {
		return nil
	}
	for i := range s.sources {
		if s.sources[i].call {
			out = append(out, s.sources[i].server(turnrest.Call, appID, userID, s.cfg.Call.CredentialTTL, now))
		}
	}
	return out
}

// TestLimits implements turnrest.Provider.
func (s *servers) TestLimits() turnrest.TestLimits {
	return turnrest.TestLimits{
		MaxDuration: s.cfg.Test.MaxDuration, MaxBytes: s.cfg.Test.MaxBytes, MaxThroughputBps: s.cfg.Test.MaxThroughputBps,
	}
}

func (s *source) server(kind turnrest.Kind, appID, userID string, ttl time.Duration, now time.Time) turnrest.Server {
	server := turnrest.Server{Label: s.label, URLs: s.urls}
	server.Username, server.Credential, server.Expires = turnrest.Credentials(s.secret, kind, appID, userID, ttl, now)
	return server
}

// startEmbedded opens the listeners of the embedded server.
func (s *servers) startEmbedded(ctx context.Context) error {
	c := &s.cfg.Server
	secret, err := c.secret()
	if err != nil {
		return fmt.Errorf("secret_file: %w", err)
	}
	config, err := s.relayConfig(secret)
	if err != nil {
		return err
	}
	s.embedded.Store(relay.New(config, s.counts))
	udp, err := s.listenUDP(ctx)
	if err != nil {
		return err
	}
	tcp, err := s.listenTCP(ctx, c.TCP.Endpoint, relay.TCP, nil)
	if err != nil {
		return err
	}
	secure, err := s.listenTLS(ctx)
	if err != nil {
		return err
	}
	urls := c.URLs
	if len(urls) == 0 {
		urls = c.urls(udp, tcp, secure)
	}
	s.sources = append(s.sources, source{c.Label, urls, secret, true, true})
	return nil
}

func (s *servers) relayConfig(secret []byte) (relay.Config, error) {
	c := &s.cfg.Server
	address, bind, err := c.relayAddresses()
	allowed, bad := publicaddr.Networks("allowed_networks", c.AllowedNetworks)
	kinds := map[turnrest.Kind]relay.Limits{turnrest.Test: s.cfg.Test.limits()}
	if s.cfg.Call.Enabled {
		kinds[turnrest.Call] = s.cfg.Call.limits()
	}
	return relay.Config{
		Realm: c.Realm, Secret: secret, RelayAddress: address, RelayBind: bind, MinPort: c.MinPort, MaxPort: c.MaxPort, Allowed: allowed, Kinds: kinds,
		AddressRequestsPerSecond: c.AddressRequestsPerSecond, RequestsPerSecond: c.RequestsPerSecond,
		AddressConnections: c.AddressConnections, Connections: c.Connections,
	}, errors.Join(err, bad)
}

// listenUDP returns the address of the listener, nil where it is off.
func (s *servers) listenUDP(ctx context.Context) (net.Addr, error) {
	if s.cfg.Server.UDP.Endpoint == "" {
		return nil, nil
	}
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(ctx, "udp", s.cfg.Server.UDP.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("udp endpoint: %w", err)
	}
	return conn.LocalAddr(), s.embedded.Load().ServePacket(conn)
}

func (s *servers) listenTLS(ctx context.Context) (net.Addr, error) {
	if !s.cfg.Server.TLS.HasValue() {
		return nil, nil
	}
	c := s.cfg.Server.TLS.Get()
	config, err := tlsserver.Config(ctx, &c.ServerConfig)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return s.listenTCP(ctx, c.Endpoint, relay.TLS, config)
}

// listenTCP returns the address of the listener, nil where it is off.
func (s *servers) listenTCP(ctx context.Context, endpoint string, transport relay.Transport, config *tls.Config) (net.Addr, error) {
	if endpoint == "" {
		return nil, nil
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", endpoint)
	if err != nil {
		return nil, fmt.Errorf("%s endpoint: %w", transport, err)
	}
	address := listener.Addr()
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	return address, s.embedded.Load().ServeListener(listener, transport)
}

// urls are those of the listeners that are on.
func (c *ServerConfig) urls(udp, tcp, secure net.Addr) (out []string) {
	host := c.Host
	if host == "" {
		host = c.RelayAddress
	}
	add := func(scheme string, at net.Addr, transport string) {
		if at != nil {
			_, port, _ := net.SplitHostPort(at.String()) // an address of a listener has one
			out = append(out, scheme+":"+net.JoinHostPort(strings.Trim(host, "[]"), port)+"?transport="+transport)
		}
	}
	add("turn", udp, "udp")
	add("turn", tcp, "tcp")
	add("turns", secure, "tcp")
	return out
}

func (c *LimitsConfig) limits() relay.Limits {
	return relay.Limits{Lifetime: c.AllocationLifetime, PerUser: c.PerUser.quota(), Overall: c.Overall.quota()}
}

func (c *QuotaConfig) quota() relay.Quota {
	return relay.Quota{Allocations: c.Allocations, BytesPerSecond: c.BytesPerSecond, BytesPerHour: c.BytesPerHour}
}

// secret returns that of the file, or a random one.
func (c *ServerConfig) secret() ([]byte, error) {
	if c.SecretFile != "" {
		return readSecret(c.SecretFile)
	}
	secret := make([]byte, turnrest.MinSecretBytes)
	rand.Read(secret) // never fails
	return secret, nil
}

// readSecret returns a file's text without the spaces around it.
func readSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	secret := strings.TrimSpace(string(text))
	if len(secret) < turnrest.MinSecretBytes {
		return nil, fmt.Errorf("%s must have at least %d bytes (got %d)", path, turnrest.MinSecretBytes, len(secret))
	}
	return []byte(secret), nil
}
