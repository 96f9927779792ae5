package turnextension

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/qosrtc/qos/extensions/turnextension/internal/metadata"
	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/tests/kit/testcert"
)

// certificate writes a certificate for localhost, and returns what verifies it.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	c, err := testcert.New("localhost")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "turn.crt"), c.Leaf, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "turn.key"), c.Key, 0o600))
	return c.Roots()
}

// secured is a TLS listener with the certificate of a folder, which it reads again for each connection.
func secured(dir string) configoptional.Optional[TLSConfig] {
	c := TLSConfig{Endpoint: "127.0.0.1:0"}
	c.CertFile, c.KeyFile, c.ReloadInterval = filepath.Join(dir, "turn.crt"), filepath.Join(dir, "turn.key"), time.Nanosecond
	return configoptional.Some(c)
}

// started returns the extension with a configuration, and its telemetry.
func started(t *testing.T, change func(*Config)) (*servers, *componenttest.Telemetry) {
	t.Helper()
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	set := extensiontest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = telemetry.NewTelemetrySettings()
	cfg := createDefaultConfig().(*Config)
	change(cfg)
	require.NoError(t, cfg.Validate())
	made, err := NewFactory().Create(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, made.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, made.Shutdown(context.Background())) })
	return made.(*servers), telemetry
}

// allocate makes an allocation at a URL.
func allocate(t *testing.T, server turnrest.Server, url string, roots *x509.CertPool) error {
	t.Helper()
	scheme, rest, _ := strings.Cut(url, ":")
	address, transport, _ := strings.Cut(rest, "?transport=")
	var conn net.PacketConn
	var stream net.Conn
	var err error
	switch {
	case transport == "udp":
		conn, err = net.ListenPacket("udp4", "127.0.0.1:0")
	case scheme == "turns":
		stream, err = tls.Dial("tcp", address, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	default:
		stream, err = net.Dial("tcp", address)
	}
	if err != nil {
		return err
	}
	if stream != nil {
		conn = turn.NewSTUNConn(stream)
	}
	defer conn.Close() //nolint:errcheck // the test's end
	client, err := turn.NewClient(&turn.ClientConfig{Conn: conn, TURNServerAddr: address, Username: server.Username, Password: server.Credential})
	require.NoError(t, err)
	require.NoError(t, client.Listen())
	defer client.Close()
	relay, err := client.Allocate()
	if err != nil {
		return err
	}
	return relay.Close()
}

// Servers for a test have a URL for each transport, and credentials that work there; none is for calls
// unless they are switched on.
//
// spec: PRE-03
func TestEmbeddedServer(t *testing.T) {
	dir := t.TempDir()
	roots := certificate(t, dir)
	s, telemetry := started(t, func(c *Config) {
		c.Server.Host, c.Server.RelayAddress = "localhost", "127.0.0.1"
		c.Server.UDP.Endpoint, c.Server.TCP.Endpoint, c.Server.TLS = "127.0.0.1:0", "127.0.0.1:0", secured(dir)
	})
	now := time.Now()
	require.Nil(t, s.CallServers("demo", "alice", now))
	found := s.TestServers("demo", "alice", now)
	require.Len(t, found, 1)
	require.Equal(t, "embedded", found[0].Label)
	require.Len(t, found[0].URLs, 3)
	require.Equal(t, turnrest.TestLimits{MaxDuration: time.Minute, MaxBytes: 4_000_000, MaxThroughputBps: 10_000_000}, s.TestLimits())
	require.WithinDuration(t, now.Add(time.Hour), found[0].Expires, time.Second)
	for i, want := range []string{`^turn:localhost:\d+\?transport=udp$`, `^turn:localhost:\d+\?transport=tcp$`, `^turns:localhost:\d+\?transport=tcp$`} {
		require.Regexp(t, want, found[0].URLs[i])
		require.NoError(t, allocate(t, found[0], found[0].URLs[i], roots))
	}
	require.ErrorContains(t, allocate(t, found[0], found[0].URLs[2], x509.NewCertPool()), "certificate")
	roots = certificate(t, dir) // renewed
	require.NoError(t, allocate(t, found[0], found[0].URLs[2], roots))

	metric, err := telemetry.GetMetric("otelcol_qosturn_allocations")
	require.NoError(t, err)
	sum := map[string]int64{}
	for _, point := range metric.Data.(metricdata.Sum[int64]).DataPoints {
		kind, _ := point.Attributes.Value("kind")
		transport, _ := point.Attributes.Value("transport")
		sum[kind.AsString()+" "+transport.AsString()] = point.Value
	}
	require.Equal(t, map[string]int64{"test udp": 1, "test tcp": 1, "test tls": 2, "call udp": 0, "call tcp": 0, "call tls": 0}, sum)
}

// spec: PRE-03
func TestCallServers(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(strings.Repeat("x", 32)+"\n"), 0o600))
	s, _ := started(t, func(c *Config) {
		c.Server.RelayAddress, c.Server.UDP.Endpoint, c.Server.SecretFile = "127.0.0.1", "127.0.0.1:0", secret
		c.Call.Enabled = true
		urls := []string{"turn:turn.example.com:3478"}
		c.Outside = []OutsideConfig{
			{Label: "both", URLs: urls, SecretFile: secret},
			{Label: "tests", URLs: urls, SecretFile: secret, Kinds: []turnrest.Kind{turnrest.Test}},
			{Label: "calls", URLs: urls, SecretFile: secret, Kinds: []turnrest.Kind{turnrest.Call}},
		}
	})
	labels := func(list []turnrest.Server) (out []string) {
		for _, server := range list {
			out = append(out, server.Label)
		}
		return out
	}
	now := time.Now()
	require.Equal(t, []string{"embedded", "both", "tests"}, labels(s.TestServers("demo", "alice", now)))
	calls := s.CallServers("demo", "alice", now)
	require.Equal(t, []string{"embedded", "both", "calls"}, labels(calls))
	require.NoError(t, allocate(t, calls[0], calls[0].URLs[0], nil))
	require.Equal(t, turnrest.Password([]byte(strings.Repeat("x", 32)), calls[1].Username), calls[1].Credential)
}

// A server that cannot start leaves nothing open.
func TestStartFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close() //nolint:errcheck // the test's end
	short := filepath.Join(t.TempDir(), "short")
	require.NoError(t, os.WriteFile(short, []byte("short"), 0o600))
	for want, change := range map[string]func(*Config){
		"tcp endpoint": func(c *Config) { c.Server.TCP.Endpoint = taken.Addr().String() },
		"tls":          func(c *Config) { c.Server.TLS = secured("none") },
		"must have at least 32 bytes (got 5)": func(c *Config) {
			c.Outside = []OutsideConfig{{Label: "outside", URLs: []string{"turn:x:1"}, SecretFile: short}}
		},
		"secret_file": func(c *Config) { c.Server.SecretFile = filepath.Join(short, "none") },
	} {
		cfg := createDefaultConfig().(*Config)
		cfg.Server.RelayAddress, cfg.Server.UDP.Endpoint = "127.0.0.1", "127.0.0.1:0"
		change(cfg)
		made, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(metadata.Type), cfg)
		require.NoError(t, err)
		require.ErrorContains(t, made.Start(t.Context(), componenttest.NewNopHost()), want)
		require.NoError(t, made.Shutdown(t.Context()))
	}
}
