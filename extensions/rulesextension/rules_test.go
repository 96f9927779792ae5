package rulesextension

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/qosrtc/qos/extensions/rulesextension/internal/metadata"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/tests/kit/hosttest"
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

// rulesOf are what components find that are started beside the extension.
func rulesOf(t *testing.T, cfg *Config) rules.Rules {
	t.Helper()
	extension, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	found, err := rules.Of(hosttest.Host{component.NewID(metadata.Type): extension})
	require.NoError(t, err)
	return found
}

// spec: QUAL-01
func TestRulesOfTheConfiguration(t *testing.T) {
	f := func(yaml string, labels quality.Bounds, change func(*detect.Config)) {
		t.Helper()
		cfg, err := load(t, yaml)
		require.NoError(t, err)
		detectors := detect.DefaultConfig()
		change(&detectors)
		require.Equal(t, rules.Rules{Labels: labels, Detectors: detect.NewRules(detectors)}, rulesOf(t, cfg))
	}
	same := func(*detect.Config) {}
	f("{}", quality.Bounds{4.2, 3.8, 3.2, 2.6}, same)
	f("labels: {preset: itu-g107}", quality.Bounds{4.34, 4.03, 3.60, 3.10}, same)
	f("labels: {mos: [4, 3, 2.5, 2]}", quality.Bounds{4, 3, 2.5, 2}, same)
	// What is not given keeps its default.
	f("detectors: {high_packet_loss: {raise: 0.05}, low_frame_rate: {disabled: true}, no_media: {after: 20s}}",
		quality.DefaultBounds(), func(c *detect.Config) {
			c.HighPacketLoss.Raise, c.LowFrameRate.Disabled, c.NoMedia.After = 0.05, true, 20*time.Second
		})
}

func TestBadConfig(t *testing.T) {
	f := func(yaml string, faults ...string) {
		t.Helper()
		_, err := load(t, yaml)
		require.Error(t, err, yaml)
		for _, fault := range faults {
			require.ErrorContains(t, err, fault)
		}
	}
	f("label: {mos: [4, 3, 2.5, 2]}", "label")
	f("labels: {preset: itu}", `labels::preset: "itu" is unknown, there is "itu-g107"`)
	f("labels: {preset: itu-g107, mos: [4, 3, 2.5, 2]}", "labels: give mos or preset, not both")
	f("labels: {mos: [4, 3]}", "labels::mos: 2 bounds given, 4 are needed")
	f("labels: {mos: []}", "labels::mos: 0 bounds given")
	f("detectors: {loss: {raise: 3}}", "loss")
	// All faults at once.
	f("{labels: {mos: [4, 4.5, 2, 0]}, detectors: {high_packet_loss: {raise: 3}, weak_wifi: {after: -1s}}}",
		"bound of good (4.5) must be below that of excellent (4)", "bound of poor is 0",
		"detectors: high_packet_loss::raise is 3, must be from 0 to 1", "weak_wifi::after must be from 0s to 10m0s (got -1s)")
}

// The collector validates before it creates; another caller gets the error here.
func TestCreateRefusesBadLabels(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Labels.MOS = []float64{1}
	_, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(metadata.Type), cfg)
	require.ErrorContains(t, err, "labels::mos")
}

// TestExamplesLoad: those of the README and of docs/quality.md.
func TestExamplesLoad(t *testing.T) {
	f := func(file string) (loaded *Config) {
		t.Helper()
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		blocks := regexp.MustCompile("(?s)```yaml\n(extensions:\n  qosrules:\n.*?)```").FindAllSubmatch(text, -1)
		require.NotEmpty(t, blocks, file)
		for _, block := range blocks {
			retrieved, err := confmap.NewRetrievedFromYAML(block[1])
			require.NoError(t, err)
			conf, err := retrieved.AsConf()
			require.NoError(t, err)
			sub, err := conf.Sub("extensions::qosrules")
			require.NoError(t, err)
			loaded = createDefaultConfig().(*Config)
			require.NoError(t, sub.Unmarshal(loaded))
			require.NoError(t, xconfmap.Validate(loaded))
		}
		return loaded
	}
	require.Equal(t, rulesOf(t, createDefaultConfig().(*Config)), rulesOf(t, f("README.md")), "the README's example has the defaults")
	require.Equal(t, 0.05, f("../../docs/quality.md").Detectors.HighPacketLoss.Raise)
}
