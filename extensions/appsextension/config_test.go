package appsextension

import (
	"os"
	"strings"
	"testing"
	"time"

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

// The configuration refuses IDs, names and origins that the management API refuses.
//
// spec: AUTH-03, AUTH-05
func TestConfiguredTexts(t *testing.T) {
	f := func(want string, member string, value any, top ...any) {
		t.Helper()
		one := map[string]any{"id": "shop", "secrets": []any{"s"}, member: value}
		all := map[string]any{"key_file": "/k", "apps": []any{one}}
		for i := 0; i < len(top); i += 2 {
			all[top[i].(string)] = top[i+1]
		}
		_, err := load(t, all)
		if want == "" {
			require.NoError(t, err)
			return
		}
		require.ErrorContains(t, err, "apps[0]."+want)
	}
	for _, id := range []string{"my shop", "shop ", "\u200bshop", "sh\u202eop", "shop\x00", "shop\n", "\ufeffshop", "."} {
		f("id must", "id", id)
	}
	for _, name := range []string{"a\x00", "a\tb", "\u2067a"} {
		f("name must be UTF-8 without control characters", "name", name)
	}
	f("", "name", "The shop")
	f("origins[1] must not be a wildcard below the public suffix co.uk", "origins", []any{"https://a.example", "https://*.co.uk"}, "private_suffixes", true)
	f("origins[0] must not be a wildcard below the public suffix github.io unless", "origins", []any{"https://*.github.io"})
	f("", "origins", []any{"https://*.github.io"}, "private_suffixes", true)
	f("named_secrets[0].id must", "named_secrets", []any{map[string]any{"id": "a\x00", "secret": "s"}})
	f("webhooks[0].id must", "webhooks", []any{map[string]any{"id": "a/b", "url": "https://a.example", "secret": strings.Repeat("s", 32)}})
	f("keys[0].key_id must", "keys", []any{map[string]any{"key_id": "a\n", "algorithm": "HS256", "secret": strings.Repeat("s", 32)}})
}

// spec: PRIV-02
func TestRetentionConfig(t *testing.T) {
	for retention, want := range map[string]string{
		"0s": "", "1h": "", "87600h": "",
		"-1h":    "apps[0].retention must be 0 or 1 to 87600 whole hours (got -1h0m0s)",
		"90m":    "apps[0].retention must be 0 or 1 to 87600 whole hours (got 1h30m0s)",
		"87601h": "apps[0].retention must be 0 or 1 to 87600 whole hours (got 87601h0m0s)",
	} {
		apps := []any{map[string]any{"id": "a", "secrets": []any{"s"}, "retention": retention}}
		_, err := load(t, map[string]any{"key_file": "/k", "storage": "qosstorage", "apps": apps})
		if want == "" {
			require.NoError(t, err, retention)
		} else {
			require.ErrorContains(t, err, want)
		}
		if retention == "1h" {
			_, err := load(t, map[string]any{"key_file": "/k", "apps": apps})
			require.ErrorContains(t, err, "apps[0].retention needs storage")
		}
	}
}

// spec: STAT-01
func TestStatsInterval(t *testing.T) {
	for every, want := range map[string]string{
		"0s": "", "2s": "", "2500ms": "", "20s": "",
		"1999ms": "apps[0].stats_interval must be 2s to 20s (got 1.999s)",
		"21s":    "apps[0].stats_interval must be 2s to 20s (got 21s)",
		"-5s":    "apps[0].stats_interval must be 2s to 20s (got -5s)",
	} {
		_, err := load(t, map[string]any{"key_file": "/k", "apps": []any{map[string]any{"id": "a", "secrets": []any{"s"}, "stats_interval": every}}})
		if want == "" {
			require.NoError(t, err, every)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

// YAML takes a time without quotes for a time, and with them for a string.
func TestTimes(t *testing.T) {
	text := `
key_file: /k
apps:
  - {id: a, revoked_before: 2027-01-01T00:00:00Z, named_secrets: [{secret: s, not_after: 2027-01-01T01:00:00+01:00}, {secret: t, not_after: "2027-01-01T00:00:00Z"}]}
`
	var content map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &content))
	cfg, err := load(t, content)
	require.NoError(t, err)
	want := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	require.True(t, want.Equal(cfg.Apps[0].RevokedBefore))
	for _, secret := range cfg.Apps[0].NamedSecrets {
		require.True(t, want.Equal(secret.NotAfter))
	}
	content["apps"] = []any{map[string]any{"id": "a", "revoked_before": "soon"}}
	require.ErrorContains(t, confmap.NewFromStringMap(content).Unmarshal(createDefaultConfig()), "apps[0].revoked_before")
}
