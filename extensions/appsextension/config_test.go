package appsextension

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.yaml.in/yaml/v3"
)

func load(t *testing.T, content map[string]any) (*Config, error) {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, confmap.NewFromStringMap(content).Unmarshal(cfg))
	return cfg, xconfmap.Validate(cfg)
}

func TestBadConfigs(t *testing.T) {
	text, err := os.ReadFile("testdata/bad.yaml")
	require.NoError(t, err)
	var cases []struct {
		Want   string
		Config map[string]any
	}
	require.NoError(t, yaml.Unmarshal(text, &cases))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		_, err := load(t, c.Config)
		require.ErrorContains(t, err, c.Want)
		require.NotContains(t, err.Error(), "\n", "one fault each")
	}
}

func TestAllFaultsAreNamed(t *testing.T) {
	_, err := load(t, map[string]any{"apps": []any{
		map[string]any{"id": strings.Repeat("i", 257), "secrets": []any{strings.Repeat("s", 1025)}, "origins": []any{"*", "null"}},
	}})
	for _, want := range []string{"key or key_file", "apps[0].id", "apps[0].secrets[0]", "apps[0].origins[0]", "apps[0].origins[1]"} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "ssss", "a secret")
}
