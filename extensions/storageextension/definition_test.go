package storageextension

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensioncapabilities"
)

// usual has each component once, and some that nobody uses.
const usual = `
receivers:
  qoswss: {labels_mos: [4.2, 3.8, 3.2, 2.6]}
  qoswss/unused: {labels_mos: [4.9, 4.8, 4.7, 4.6]}
  otlp: {}
processors:
  quality: {labels: {}}
  quality/unused: {labels: {preset: itu-g107}}
  conference: {labels: {mos: [4.2, 3.8, 3.2, 2.6]}, detectors: {}}
extensions:
  qosdashboard: {detectors: {high_packet_loss: {raise: 0.03}}}
  qosdashboard/unused: {detectors: {late_join: {disabled: true}}}
service:
  extensions: [qosstorage, qosdashboard]
  pipelines:
    logs: {receivers: [qoswss, otlp], processors: [quality, conference], exporters: [qosstore]}
`

// spec: QUAL-01
func TestOneDefinition(t *testing.T) {
	f := func(old, new string, want ...string) {
		t.Helper()
		require.Contains(t, usual, old)
		retrieved, err := confmap.NewRetrievedFromYAML([]byte(strings.Replace(usual, old, new, 1)))
		require.NoError(t, err)
		conf, err := retrieved.AsConf()
		require.NoError(t, err)
		err = (*store)(nil).NotifyConfigSnapshot(t.Context(), extensioncapabilities.NewConfigSnapshot(conf, nil))
		if len(want) == 0 {
			require.NoError(t, err)
			return
		}
		for _, text := range want {
			require.ErrorContains(t, err, text)
		}
		require.Equal(t, len(want), strings.Count(err.Error(), "write them once"), err)
	}
	f("otlp: {}", "otlp: {protocols: {http: {}}}")
	f("quality: {labels: {}}", "quality:") // as it is written, not as it is taken
	f("quality: {labels: {}}", "quality: {labels: {preset: itu-g107}}",
		"extensions::qosdashboard::labels and processors::quality::labels differ, [4.2 3.8 3.2 2.6] and [4.34 4.03 3.6 3.1]: write them once")
	f("qoswss: {labels_mos: [4.2,", "qoswss: {labels_mos: [4.3,", "receivers::qoswss::labels_mos differ, [4.2 3.8 3.2 2.6] and [4.3")
	f("qosdashboard: {detectors:", "qosdashboard: {labels: {mos: [4, 3, 2, 1.5]}, detectors:",
		"processors::conference::labels differ", "processors::quality::labels differ", "receivers::qoswss::labels_mos differ")
	f("detectors: {}}", "detectors: {one_way_media: {after: 9s}, high_packet_loss: {raise: 0.04}}}",
		"extensions::qosdashboard::detectors and processors::conference::detectors differ in high_packet_loss, one_way_media:")
	f("[quality, conference]", "[quality/unused, conference]", "extensions::qosdashboard::labels and processors::quality/unused::labels differ")
	f("extensions: [qosstorage, qosdashboard]", "extensions: [qosstorage]")
	f("service:", "service: {}\nnothing:") // none of them is in use
}

func TestDefinitionsThatCannotBeRead(t *testing.T) {
	conf := confmap.NewFromStringMap(map[string]any{
		"processors": map[string]any{"conference": map[string]any{"detectors": map[string]any{"rubbish": 1}}},
		"service":    map[string]any{"pipelines": map[string]any{"logs": map[string]any{"processors": []any{"conference"}}}},
	})
	require.ErrorContains(t, oneDefinition(conf), "processors::conference::detectors: ")
}
