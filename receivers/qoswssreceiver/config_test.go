package qoswssreceiver

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
)

// load reads YAML over the default configuration and validates it.
func load(t *testing.T, yaml string) (*Config, error) {
	t.Helper()
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(yaml))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	return unmarshal(t, conf)
}

func unmarshal(t *testing.T, conf *confmap.Conf) (*Config, error) {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, conf.Unmarshal(cfg))
	return cfg, xconfmap.Validate(cfg)
}

func TestDefaultConfig(t *testing.T) {
	cfg, err := load(t, "{}")
	require.NoError(t, err)
	require.Equal(t, "localhost:8480", cfg.NetAddr.Endpoint)
	require.Equal(t, component.MustNewID("qosapps"), cfg.Apps)
	require.Empty(t, cfg.conferenceURL())
	require.Equal(t, address.Truncate, cfg.Addresses) // spec: PRIV-01
}

func TestConfigKeys(t *testing.T) {
	cfg, err := load(t, `
endpoint: 0.0.0.0:80
behind_tls_proxy: true
apps: qosapps/other
path_prefix: /a/b
dashboard_url: https://dash.example.org/qos/
stats_interval: 5s
max_connections: 3
max_connections_per_app: 2
max_frames_per_second: 10
pipeline_timeout: 1s
addresses: drop
keep_networks: [198.51.100.0/28, "2001:db8:7::9"]
`)
	require.NoError(t, err)
	require.Equal(t, component.MustNewIDWithName("qosapps", "other"), cfg.Apps)
	require.Equal(t, 5*time.Second, cfg.StatsInterval)
	require.Equal(t, address.Drop, cfg.Addresses)
	require.Equal(t, []string{"198.51.100.0/28", "2001:db8:7::9"}, cfg.KeepNetworks)
	require.Equal(t, "https://dash.example.org/qos/conference?app={appID}&id={conferenceID}&at={at}", cfg.conferenceURL())
}

// Each *.bad.yaml names in its first line what Validate must say.
//
// spec: SRV-01
func TestBadConfigs(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		want, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# want: "), "\n")
		_, err = load(t, string(text))
		require.ErrorContains(t, err, want, file)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	_, err := load(t, "{endpoint: ':80', stats_interval: 1s, max_connections: 0}")
	require.ErrorContains(t, err, "tls:")
	require.ErrorContains(t, err, "stats_interval:")
	require.ErrorContains(t, err, "max_connections:")
}

func TestReadmeConfigsLoad(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		retrieved, err := confmap.NewRetrievedFromYAML([]byte(block[1]))
		require.NoError(t, err)
		conf, err := retrieved.AsConf()
		require.NoError(t, err)
		receivers, err := conf.Sub("receivers::qoswss")
		require.NoError(t, err)
		_, err = unmarshal(t, receivers)
		require.NoError(t, err)
	}
}
