package demoextension

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

func TestDefaultConfigIsValid(t *testing.T) {
	require.NoError(t, createDefaultConfig().(*Config).Validate())
}

func TestValidateNamesEveryFault(t *testing.T) {
	cfg := &Config{BackendURL: "ftp://x"}
	cfg.NetAddr.Endpoint = "nowhere"
	err := cfg.Validate()
	for _, fault := range []string{
		`endpoint must be host:port (got "nowhere")`,
		`backend_url must be an http or https URL (got "ftp://x")`,
		"app_id must not be empty",
		"app_secret must not be empty",
		"max_rooms must be positive (got 0)",
		"max_room_age must be positive (got 0s)",
	} {
		require.ErrorContains(t, err, fault)
	}
}

func TestOnlyLoopbackByDefault(t *testing.T) {
	f := func(endpoint string, ok bool) {
		t.Helper()
		cfg := createDefaultConfig().(*Config)
		cfg.NetAddr.Endpoint = endpoint
		if ok {
			require.NoError(t, cfg.Validate())
			return
		}
		require.ErrorContains(t, cfg.Validate(), "must be loopback")
		cfg.AllowRemote = true
		require.NoError(t, cfg.Validate())
	}
	f("localhost:8483", true)
	f("127.0.0.1:0", true)
	f("[::1]:8483", true)
	f("0.0.0.0:8483", false)
	f(":8483", false)
	f("[::]:8483", false)
	f("localhost.example.org:8483", false)
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
	conf, err := all.Sub("extensions::qosdemo")
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, conf.Unmarshal(cfg))
	require.NoError(t, cfg.Validate())
	require.Equal(t, createDefaultConfig(), cfg)
}
