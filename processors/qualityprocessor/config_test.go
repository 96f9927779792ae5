package qualityprocessor

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/call/quality"
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

func TestConfigDefault(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, xconfmap.Validate(cfg))
	require.Equal(t, quality.DefaultVideoParams(), cfg.Video.params())
}

func TestConfigVideo(t *testing.T) {
	cfg, err := load(t, "video: {x0: 7.7}")
	require.NoError(t, err)
	require.Equal(t, 7.7, cfg.Video.params().X0)
	require.Equal(t, 10.0, cfg.Video.params().OutboundD, "what is not given stays at its default")
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
	f("videos: {x0: 7}", "videos")
	f("labels: {preset: itu-g107}", "labels") // they are the rules extension's
	// All faults at once.
	f("video: {x0: 70, freeze_count_weight: -1, freeze_share_weight: 99, outbound_loss_percent: 0}",
		"video: x0 is 70, must be from 4 to 10", "freeze_count_weight is -1", "freeze_share_weight is 99", "outbound_loss_percent is 0")
}

func TestReadmeExampleLoads(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, example, ok := strings.Cut(string(text), "```yaml\n")
	require.True(t, ok)
	example, _, ok = strings.Cut(example, "```")
	require.True(t, ok)
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(example))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	sub, err := conf.Sub("processors::quality")
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, sub.Unmarshal(cfg))
	require.NoError(t, xconfmap.Validate(cfg))
	require.Equal(t, createDefaultConfig().(*Config).Video, cfg.Video, "the example shows the defaults")
}
