package conferenceprocessor

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"
)

func load(t *testing.T, yaml string) (*Config, error) {
	t.Helper()
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(yaml))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	if err := conf.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, xconfmap.Validate(cfg)
}

func TestConfigGood(t *testing.T) {
	require.NoError(t, xconfmap.Validate(createDefaultConfig()))
	cfg, err := load(t, "{max_conferences: 5, memory_mib: 64, keep_ended: 1m, tick: 500ms}")
	require.NoError(t, err)
	require.Equal(t, 5, cfg.MaxConferences)
	require.EqualValues(t, 64, cfg.MemoryMiB)
	require.Equal(t, time.Minute, cfg.KeepEnded)
	cfg, err = load(t, "issues: {interval: 0s}")
	require.NoError(t, err)
	require.Zero(t, cfg.Issues.Interval)
}

func TestConfigBad(t *testing.T) {
	f := func(yaml string, faults ...string) {
		t.Helper()
		_, err := load(t, yaml)
		require.Error(t, err, yaml)
		for _, fault := range faults {
			require.ErrorContains(t, err, fault)
		}
	}
	f("gap: 20s", "gap")
	f("labels: {preset: itu-g107}", "labels") // they are the rules extension's
	f("detectors: {high_packet_loss: {raise: 0.05}}", "detectors")
	f("issues: {interval: 10ms}", "issues::interval must be 0s or from 1s to 10m0s (got 10ms)")
	f("{max_conferences: 0, memory_mib: -1, keep_ended: 25h, tick: 1ms}", // all faults at once
		"max_conferences must be positive (got 0)", "keep_ended must be from 0s to 24h0m0s (got 25h0m0s)",
		"tick must be from 100ms to 10s (got 1ms)", "memory_mib must be from 0 to 1048576 (got -1)")
}

func TestReadmeExampleLoads(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, example, ok := strings.Cut(string(readme), "```yaml\n")
	require.True(t, ok)
	example, _, _ = strings.Cut(example, "```")
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(example))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	sub, err := conf.Sub("processors::conference")
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, sub.Unmarshal(cfg))
	require.NoError(t, xconfmap.Validate(cfg))
	require.Equal(t, createDefaultConfig(), cfg, "the example shows the defaults")
}
