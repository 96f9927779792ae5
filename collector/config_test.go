package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/otelcol/otelcoltest"
	"gopkg.in/yaml.v3"
)

// TestShippedConfigurations: every configuration in deploy/ loads and validates.
func TestShippedConfigurations(t *testing.T) {
	files, err := filepath.Glob("../deploy/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			validate(t, file)
		})
	}
}

// TestReadmeExamples: every YAML block in a component's README is a configuration that
// loads and validates once it is put into a pipeline, unless it is one of Prometheus, which
// tests/monitoring checks.
func TestReadmeExamples(t *testing.T) {
	readmes, err := filepath.Glob("../*/*/README.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	prometheus := regexp.MustCompile(`(?m)^ *(scrape_configs|rule_files):`)
	variable := regexp.MustCompile(`\$\{env:(\w+)\}`)
	for _, readme := range readmes {
		text, err := os.ReadFile(readme)
		require.NoError(t, err)
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			if prometheus.MatchString(m[1]) {
				continue
			}
			t.Run(filepath.Base(filepath.Dir(readme)), func(t *testing.T) {
				for _, env := range variable.FindAllStringSubmatch(m[1], -1) {
					t.Setenv(env[1], "a value of the environment")
				}
				file := filepath.Join(t.TempDir(), "config.yaml")
				require.NoError(t, os.WriteFile(file, complete(t, m[1]), 0o600))
				validate(t, file)
			})
		}
	}
}

func validate(t *testing.T, file string) {
	t.Helper()
	factories, err := components()
	require.NoError(t, err)
	_, err = otelcoltest.LoadConfigAndValidate(file, factories)
	require.NoError(t, err)
}

// complete puts the components of an example into a pipeline, unless it has one.
func complete(t *testing.T, example string) []byte {
	t.Helper()
	var conf map[string]map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(example), &conf), example)
	if conf["service"]["pipelines"] != nil {
		return []byte(example)
	}
	pipeline := map[string]any{}
	for kind, fallback := range map[string]map[string]any{
		"receivers":  {"otlp": map[string]any{"protocols": map[string]any{"grpc": nil}}},
		"processors": {},
		"exporters":  {"debug": nil},
	} {
		if conf[kind] == nil {
			conf[kind] = fallback
		}
		pipeline[kind] = keys(conf[kind])
	}
	conf["service"] = map[string]any{
		"extensions": keys(conf["extensions"]),
		"pipelines":  map[string]any{"logs": pipeline},
	}
	out, err := yaml.Marshal(conf)
	require.NoError(t, err)
	return out
}

func keys(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	return names
}
