package appsextension

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(text)
}

// block is the first code of a language in the README.
func block(t *testing.T, language string) string {
	t.Helper()
	_, text, ok := strings.Cut(readme(t), "```"+language+"\n")
	require.True(t, ok)
	text, _, ok = strings.Cut(text, "```")
	require.True(t, ok)
	return text
}

func TestReadmeExampleLoads(t *testing.T) {
	var example struct {
		Extensions map[string]map[string]any
	}
	require.NoError(t, yaml.Unmarshal([]byte(block(t, "yaml")), &example))
	cfg, err := load(t, example.Extensions["qosapps"])
	require.NoError(t, err)
	require.Equal(t, "123", cfg.Apps[0].ID)
	require.Len(t, cfg.Apps[0].Origins, 2)
	require.Equal(t, "/var/lib/qos/key", cfg.KeyFile)
	require.Equal(t, storeID, cfg.Storage)
	require.Equal(t, defaultManagementEndpoint, cfg.Management.Get().NetAddr.Endpoint)
}

// TestReadmeRoutes: the README lists the routes that there are.
func TestReadmeRoutes(t *testing.T) {
	var want []string
	for _, route := range routes() {
		want = append(want, route.method+" "+route.path)
	}
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `((?:GET|PUT|POST|DELETE) [^`]*)` \\|").FindAllStringSubmatch(readme(t), -1) {
		got = append(got, row[1])
	}
	require.Equal(t, want, got)
}

// TestWalkThrough runs what the README shows, with curl and openssl, against the real
// thing.
//
// spec: AUTH-01, AUTH-03, AUTH-05
func TestWalkThrough(t *testing.T) {
	for _, program := range []string{"bash", "curl", "openssl", "awk"} {
		testenv.Program(t, program)
	}
	r := startOn(t, newSQLite(t))
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-o", "pipefail", "-c", block(t, "sh"))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "QOS=http://"+r.management.addr+apiApps, "TOKEN="+adminToken)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	view := into[app.View](t, r.must(http.StatusOK, http.MethodGet, shop, ""))
	require.Equal(t, []string{"https://shop.example"}, view.Origins)
	require.Equal(t, 500, view.Limits.Connections)
	require.Len(t, view.Secrets, 2)
	require.Equal(t, 2100, view.Secrets[0].NotAfter.Year())
	require.True(t, view.Secrets[1].NotAfter.IsZero())
	require.Equal(t, "shop-1", view.Keys[0].ID)
	require.Contains(t, view.RevokedUsers, "alice")
	require.False(t, view.RevokedBefore.IsZero())

	secrets := regexp.MustCompile(`"secret":"([\w-]{43})"`).FindAllStringSubmatch(string(out), -1)
	require.Len(t, secrets, 2, "each is returned once")
	r.eventually("what was made", func(s auth.App, _ bool) bool { return len(s.Verifiers) == 2 && len(s.Keys) == 1 })
	s, _ := r.App("shop")
	for i, secret := range secrets {
		require.Equal(t, auth.NewVerifier(secret[1], s.Salt, s.Iterations).StoredKey, s.Verifiers[i].StoredKey)
	}
	require.Contains(t, string(out), `{"apps":[{"id":"shop","name":"Shop"`)
}
