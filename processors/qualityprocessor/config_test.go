package qualityprocessor

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/quality"
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
	b, err := cfg.Labels.Bounds()
	require.NoError(t, err)
	require.Equal(t, quality.Bounds{4.2, 3.8, 3.2, 2.6}, b)
}

// spec: QUAL-01
func TestConfigLabels(t *testing.T) {
	cfg, err := load(t, "labels: {preset: itu-g107}")
	require.NoError(t, err)
	b, _ := cfg.Labels.Bounds()
	require.Equal(t, quality.Bounds{4.34, 4.03, 3.60, 3.10}, b)

	cfg, err = load(t, "labels: {mos: [4, 3, 2.5, 2]}\nvideo: {x0: 7.7}")
	require.NoError(t, err)
	b, _ = cfg.Labels.Bounds()
	require.Equal(t, quality.Bounds{4, 3, 2.5, 2}, b)
	require.Equal(t, 7.7, cfg.Video.params().X0)
	require.Equal(t, 10.0, cfg.Video.params().OutboundD, "what is not given stays at its default")
}

// TestLabelsAreWrittenOnce: the example of docs/quality.md gives all components the same.
//
// spec: QUAL-01
func TestLabelsAreWrittenOnce(t *testing.T) {
	text, err := os.ReadFile("../../docs/quality.md")
	require.NoError(t, err)
	_, example, found := strings.Cut(string(text), "```yaml\nreceivers:")
	require.True(t, found)
	example, _, _ = strings.Cut("receivers:"+example, "```")
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(example))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	sub, err := conf.Sub("processors::quality")
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, sub.Unmarshal(cfg))
	bounds, err := cfg.Labels.Bounds()
	require.NoError(t, err)
	require.Equal(t, quality.DefaultBounds(), bounds)
	require.Equal(t, conf.Get("receivers::qoswss::labels_mos"), conf.Get("processors::quality::labels::mos"))
	require.Equal(t, conf.Get("receivers::qoswss::labels_mos"), conf.Get("processors::conference::labels::mos"))
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
	f("labels: {preset: itu}", `labels::preset: "itu" is unknown, there is "itu-g107"`)
	f("labels: {preset: itu-g107, mos: [4, 3, 2.5, 2]}", "labels: give mos or preset, not both")
	f("labels: {mos: [4, 3]}", "labels::mos: 2 bounds given, 4 are needed")
	f("labels: {mos: []}", "labels::mos: 0 bounds given")
	f("label: {mos: [4, 3, 2.5, 2]}", "label")
	// All faults at once.
	f("labels: {mos: [4, 4.5, 2, 0]}\nvideo: {x0: 70, freeze_count_weight: -1, freeze_share_weight: 99, outbound_loss_percent: 0}",
		"bound of good (4.5) must be below that of excellent (4)", "bound of poor is 0",
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
