package turnextension

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

func TestDefaultConfigIsValid(t *testing.T) {
	require.NoError(t, xconfmap.Validate(createDefaultConfig()))
	require.False(t, createDefaultConfig().(*Config).Server.on(), "off unless configured")
}

func TestValidateNamesTheFault(t *testing.T) {
	f := func(want string, change func(*Config)) {
		t.Helper()
		cfg := createDefaultConfig().(*Config)
		cfg.Server.UDP.Endpoint, cfg.Server.RelayAddress = "localhost:0", "127.0.0.1"
		cfg.Outside = []OutsideConfig{{Label: "outside", URLs: []string{"turn:turn.example.com:3478?transport=udp"}, SecretFile: "secret"}}
		require.NoError(t, xconfmap.Validate(cfg))
		change(cfg)
		require.ErrorContains(t, xconfmap.Validate(cfg), want)
	}
	f("server.label must have 1 to 128 bytes (got 0)", func(c *Config) { c.Server.Label = "" })
	f(`server.udp.endpoint must be host:port (got "nowhere")`, func(c *Config) { c.Server.UDP.Endpoint = "nowhere" })
	f(`server.tcp.endpoint must be host:port (got "nowhere")`, func(c *Config) { c.Server.TCP.Endpoint = "nowhere" })
	f(`server.tls.endpoint must be host:port (got "nowhere")`, func(c *Config) {
		secure := configtls.ServerConfig{Config: configtls.Config{CertFile: "c", KeyFile: "k"}}
		c.Server.TLS = configoptional.Some(TLSConfig{Endpoint: "nowhere", ServerConfig: secure})
	})
	f("server::tls: TLS configuration must include both certificate and key for server connections", func(c *Config) {
		c.Server.TLS = configoptional.Some(TLSConfig{Endpoint: "localhost:0"})
	})
	f(`server.host must be a name or an address (got "https://x")`, func(c *Config) { c.Server.Host = "https://x" })
	f(`server.relay_address must be an IPv4 address (got "")`, func(c *Config) { c.Server.RelayAddress = "" })
	f(`server.relay_address must be an IPv4 address (got "0.0.0.0")`, func(c *Config) { c.Server.RelayAddress = "0.0.0.0" })
	f(`server.relay_address must be an IPv4 address (got "::1")`, func(c *Config) { c.Server.RelayAddress = "::1" })
	f(`server.relay_bind must be an IPv4 address (got "eth0")`, func(c *Config) { c.Server.RelayBind = "eth0" })
	f("server.allowed_networks[0] must be a CIDR prefix (got 8 bytes)", func(c *Config) { c.Server.AllowedNetworks = []string{"10.0.0.1"} })
	f("server.min_port must be at least 1024 and at most max_port (got 80 and 65535)", func(c *Config) { c.Server.MinPort = 80 })
	f("server.min_port must be at least 1024 and at most max_port (got 49152 and 49151)", func(c *Config) { c.Server.MaxPort = 49151 })
	f("server.realm must have 1 to 128 bytes (got 0)", func(c *Config) { c.Server.Realm = "" })
	f("server.address_requests_per_second and server.requests_per_second must be positive (got 0 and 5000)", func(c *Config) { c.Server.AddressRequestsPerSecond = 0 })
	f("server.address_connections and server.connections must be positive (got 100 and 0)", func(c *Config) { c.Server.Connections = 0 })
	f(`server.urls[0] must be turn:host:port or turns:host:port, with ?transport=udp or tcp (got "stun:x")`, func(c *Config) { c.Server.URLs = []string{"stun:x"} })
	f("outside[0].urls must not be empty", func(c *Config) { c.Outside[0].URLs = nil })
	f("outside[0].secret_file must not be empty", func(c *Config) { c.Outside[0].SecretFile = "" })
	f(`outside[0].label "embedded" is that of another server too`, func(c *Config) { c.Outside[0].Label = "embedded" })
	f(`outside[0].kinds must be test or call (got "calls")`, func(c *Config) { c.Outside[0].Kinds = []turnrest.Kind{"calls"} })
	f("test.max_duration must be 1s to 1m (got 0s)", func(c *Config) { c.Test.MaxDuration = 0 })
	f("test.max_bytes and test.max_throughput_bps must be positive (got 4000000 and 0)", func(c *Config) { c.Test.MaxThroughputBps = 0 })
	f("test.credential_ttl must be 1m0s to 24h0m0s (got 0s)", func(c *Config) { c.Test.CredentialTTL = 0 })
	f("call.allocation_lifetime must be at least 1s (got 0s)", func(c *Config) { c.Call.AllocationLifetime = 0 })
	f("call.per_user.allocations must be positive (got 0)", func(c *Config) { c.Call.PerUser.Allocations = 0 })
	f("call.overall.bytes_per_second and bytes_per_hour must not be negative (got 100000000 and -1)", func(c *Config) { c.Call.Overall.BytesPerHour = -1 })
}

// TestReadmeExampleLoads keeps the README's YAML true, and its values the defaults.
func TestReadmeExampleLoads(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, block)
	retrieved, err := confmap.NewRetrievedFromYAML(block[1])
	require.NoError(t, err)
	all, err := retrieved.AsConf()
	require.NoError(t, err)
	conf, err := all.Sub("extensions::qosturn")
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, conf.Unmarshal(cfg))
	require.NoError(t, cfg.Validate())
	want := createDefaultConfig().(*Config)
	require.Equal(t, want.Test, cfg.Test)
	require.Equal(t, want.Call, cfg.Call)
	want.Server.Host, want.Server.URLs, want.Server.UDP, want.Server.TCP, want.Server.TLS = cfg.Server.Host, cfg.Server.URLs, cfg.Server.UDP, cfg.Server.TCP, cfg.Server.TLS
	want.Server.RelayAddress, want.Server.RelayBind, want.Server.AllowedNetworks = cfg.Server.RelayAddress, cfg.Server.RelayBind, cfg.Server.AllowedNetworks
	require.Equal(t, want.Server, cfg.Server)
}
