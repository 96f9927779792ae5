package dashboardextension

import (
	"context"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configauth"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
)

func TestDefaultConfigIsValid(t *testing.T) {
	require.NoError(t, createDefaultConfig().(*Config).Validate())
}

// TestReadmeLoads: the configuration that the README shows.
func TestReadmeLoads(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, block)
	retrieved, err := confmap.NewRetrievedFromYAML(block[1])
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	sub, err := conf.Sub("extensions::qosdashboard")
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, sub.Unmarshal(cfg))
	require.NoError(t, cfg.Validate())
	require.Equal(t, createDefaultConfig().(*Config).Storage, cfg.Storage)
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
	f(func(c *Config) { c.NetAddr.Endpoint = "" }, "endpoint must not be empty")
	f(func(c *Config) { c.NetAddr.Endpoint = "0.0.0.0:8481" }, `endpoint "0.0.0.0:8481" is not loopback`)
	f(func(c *Config) { c.NetAddr.Endpoint = ":8481" }, "is not loopback")
	f(func(c *Config) { c.NetAddr.Endpoint = ":8481"; c.AllowUnauthenticated = true }, "")
	f(func(c *Config) {
		c.NetAddr.Endpoint = ":8481"
		c.Auth = configoptional.Some(confighttp.AuthConfig{Config: configauth.Config{AuthenticatorID: component.MustNewID("basicauth")}})
	}, "")
	f(func(c *Config) { c.NetAddr.Endpoint = "[::1]:8481" }, "")
	f(func(c *Config) { c.NetAddr.Endpoint, c.NetAddr.Transport = "/run/qos.sock", "unix" }, "")
	f(func(c *Config) { c.Storage = component.ID{} }, "storage must name a storage extension")
	f(func(c *Config) { c.CORS = configoptional.Some(confighttp.CORSConfig{}) }, "cors is not supported")
	for _, host := range []string{"", "*.example.org", "https://a.example", "a.example:443"} {
		f(func(c *Config) { c.AllowedHosts = []string{host} }, "allowed_hosts must be host names")
	}
}

func TestStartNeedsAStore(t *testing.T) {
	f := func(h component.Host, want string) {
		t.Helper()
		cfg := createDefaultConfig().(*Config)
		cfg.NetAddr.Endpoint = "localhost:0"
		ext, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(metadata.Type), cfg)
		require.NoError(t, err)
		require.ErrorContains(t, ext.Start(t.Context(), h), want)
		require.NoError(t, ext.Shutdown(context.Background()))
		require.NoError(t, ext.Shutdown(context.Background()))
	}
	f(componenttest.NewNopHost(), `storage: extension "qosstorage" is not there: define it and list it under service::extensions`)
	f(hostWith(&dashboard{}), `storage: extension "qosstorage" is not a storage extension`)
}

func TestDependsOnItsStore(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	require.Equal(t, []component.ID{component.MustNewID("qosstorage")}, (&dashboard{cfg: cfg}).Dependencies())
}
