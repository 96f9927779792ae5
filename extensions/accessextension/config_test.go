package accessextension

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

// The configuration that the README shows is the default.
func TestReadmeLoads(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, block)
	retrieved, err := confmap.NewRetrievedFromYAML(block[1])
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	sub, err := conf.Sub("extensions::qosaccess")
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, sub.Unmarshal(cfg))
	require.NoError(t, cfg.Validate())
	cfg.TrustedProxies = nil
	require.Equal(t, createDefaultConfig(), cfg)
}

func TestValidate(t *testing.T) {
	f := func(change func(*Config), want string) {
		t.Helper()
		cfg := createDefaultConfig().(*Config)
		change(cfg)
		err := cfg.Validate()
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	f(func(*Config) {}, "")
	f(func(c *Config) { c.Storage = component.ID{} }, "storage must name a storage extension")
	f(func(c *Config) { c.AbsoluteTimeout = 0 }, "absolute_timeout must be 1m0s to 720h0m0s (got 0s)")
	f(func(c *Config) { c.IdleTimeout = 721 * time.Hour }, "idle_timeout must be")
	f(func(c *Config) { c.AuditRetention = time.Hour }, "audit_retention must be at least 24h0m0s (got 1h0m0s)")
	f(func(c *Config) { c.FirstAdmin = "the boss" }, "first_admin: user must have")
	for _, bad := range []string{"localhost:8481", "ftp://a.example", "https://", "http://a.example?x=1", ":"} {
		f(func(c *Config) { c.SignInURL = bad }, "sign_in_url must be")
	}
	f(func(c *Config) { c.SignInURL = "https://dash.example.org/" }, "")
	f(func(c *Config) { c.TrustedProxies = []string{"10.0.0.1", "2001:db8::/32", "x"} }, `trusted_proxies[2] must be an address or a network (got "x")`)
}
