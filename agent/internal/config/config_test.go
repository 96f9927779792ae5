package config_test

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent/internal/config"
)

// load reads a file, an environment and flags.
func load(t *testing.T, text string, env map[string]string, args ...string) (config.Config, error) {
	t.Helper()
	if text != "" {
		path := filepath.Join(t.TempDir(), "agent.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		args = append(args, "--config="+path)
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	return config.Load(args, lookup, io.Discard)
}

// good is the shortest file of each way.
var good = map[string]string{
	config.WhoHeader: "app_id: '123'\nwho: header\nheader: {secret_file: /run/secret}\n",
	config.WhoURL:    "app_id: '123'\nwho: url\norigins: [https://app.example.org]\nurl: {address: https://app.example.org/me}\n",
	config.WhoOIDC:   "app_id: '123'\nwho: oidc\noidc:\n  issuer: https://id.example.org\n  audience: calls\n",
}

// spec: AUTH-08
func TestShortestFiles(t *testing.T) {
	for who, text := range good {
		c, err := load(t, text, nil)
		require.NoError(t, err, who)
		require.Equal(t, who, c.Who)
		require.Equal(t, "127.0.0.1:8490", c.Listen)
		require.Equal(t, 8*time.Minute, c.Token.Lifetime)
	}
}

// TestFlagBeforeEnvironmentBeforeFile: each key can be set in three ways.
func TestFlagBeforeEnvironmentBeforeFile(t *testing.T) {
	file := good[config.WhoHeader] + "path: /file\ntoken: {lifetime: 6m}\nkeys.directory: /file\n"
	env := map[string]string{"QOS_AGENT_PATH": "/env", "QOS_AGENT_TOKEN_LIFETIME": "7m"}
	c, err := load(t, file, env, "--path=/flag")
	require.NoError(t, err)
	require.Equal(t, "/flag", c.Path)
	require.Equal(t, 7*time.Minute, c.Token.Lifetime)
	require.Equal(t, "/file", c.Keys.Directory)
	require.Equal(t, 8*time.Minute, c.Token.Backdate)
}

func TestEnvironmentAlone(t *testing.T) {
	c, err := load(t, "", map[string]string{
		"QOS_AGENT_APP_ID": "123", "QOS_AGENT_WHO": "url", "QOS_AGENT_ORIGINS": "https://a.example, https://b.example",
		"QOS_AGENT_URL_ADDRESS": "http://127.0.0.1:3000/me", "QOS_AGENT_URL_FORWARD": "Cookie,X-Tenant",
	})
	require.NoError(t, err)
	require.Equal(t, config.List{"https://a.example", "https://b.example"}, c.Origins)
	require.Equal(t, config.List{"Cookie", "X-Tenant"}, c.URL.Forward)
}

// TestValuesThatAreRefused: the error names the key.
//
// spec: AUTH-08
func TestValuesThatAreRefused(t *testing.T) {
	for _, bad := range []struct{ who, flags, want string }{
		{"header", "--app_id=", "app_id: is required"},
		{"header", "--app_id=" + strings.Repeat("x", 257), "app_id: is longer"},
		{"header", "--who=cookie", "who: must be header, url or oidc"},
		{"header", "--header.secret_file=", "header.secret_file: is required"},
		{"header", "--header.user=", "header.user: is required"},
		{"header", "--header.secret=", "header.secret: is required"},
		{"header", "--listen=0.0.0.0:8490", "listen: is reached from other machines"},
		{"header", "--listen=10.0.0.1:8490 --allow_remote", "also with allow_remote"},
		{"header", "--listen=", "listen: is required"},
		{"header", "--listen=unix:", "listen: is required"},
		{"header", "--monitor=:8491", "monitor: is reached from other machines"},
		{"header", "--socket_mode=999", "socket_mode: must be octal"},
		{"header", "--path=token", "path: must start with /"},
		{"header", "--in_flight=0", "in_flight: must be positive"},
		{"header", "--in_flight=many", "in_flight"},
		{"header", "--stop_timeout=0s", "stop_timeout: must be positive"},
		{"header", "--token.lifetime=4m", "token.lifetime: must be 5m to 10m"},
		{"header", "--token.lifetime=11m", "token.lifetime: must be 5m to 10m"},
		{"header", "--token.backdate=0s", "token.backdate: must be positive"},
		{"header", "--token.backdate=11m", "token.backdate: must be positive"},
		{"header", "--log.level=loud", "log.level: must be"},
		{"header", "--log.format=xml", "log.format: must be"},
		{"header", "--keys.permissions=all", "keys.permissions: must be"},
		{"header", "--keys.directory=", "keys.directory: is required"},
		{"url", "--origins=", "origins: is required for the login source url"},
		{"url", "--origins=https://*.example.org", "no wildcards"},
		{"url", "--url.address=http://app.example.org/me", "url.address: must be an https URL"},
		{"url", "--url.address=https://user:pw@app.example.org/me", "url.address: must be an https URL"},
		{"url", "--url.address=/me", "url.address: must be an https URL"},
		{"url", "--url.forward=", "url.forward: must name a header"},
		{"url", "--url.user=", "url.user: or url.user_header"},
		{"url", "--url.timeout=0s", "url.timeout: must be positive"},
		{"url", "--url.max_bytes=0", "url.max_bytes: must be positive"},
		{"url", "--url.max_connections=0", "url.max_connections: must be positive"},
		{"url", "--url.logged_out=200", "url.logged_out: must be status codes"},
		{"oidc", "--oidc.issuer=http://id.example.org", "oidc.issuer: must be an https URL"},
		{"oidc", "--oidc.issuer=http://id.example.org --allow_remote", "oidc.issuer: must be an https URL"},
		{"oidc", "--oidc.audience=", "oidc.audience: is required"},
		{"oidc", "--oidc.user=", "oidc.user: is required"},
		{"oidc", "--oidc.timeout=0s", "oidc.timeout: must be positive"},
		{"oidc", "--no-such-flag=1", "not defined"},
		{"oidc", "serve", "is no flag"},
		{"oidc", "--config=/nowhere/agent.yaml", "no such file"},
	} {
		_, err := load(t, good[bad.who], nil, strings.Fields(bad.flags)...)
		if strings.Contains(bad.flags, "--config") {
			_, err = load(t, "", nil, bad.flags)
		}
		require.ErrorContains(t, err, bad.want, bad.flags)
	}
	_, err := load(t, good["url"], map[string]string{"QOS_AGENT_IN_FLIGHT": "x"})
	require.ErrorContains(t, err, "QOS_AGENT_IN_FLIGHT")
	_, err = load(t, "", nil, "--help")
	require.ErrorIs(t, err, flag.ErrHelp)
}

// TestFilesThatAreRefused: the error names the line too.
func TestFilesThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"app_id: a\nheadr: {user: x}":               `line 2: there is no key "headr.user"`,
		"config: other.yaml":                        `line 1: there is no key "config"`,
		"app_id: a\nin_flight: many":                "line 2: in_flight: ",
		"keys: {directory: /a}\nkeys.directory: /b": "line 2: keys.directory: is set twice",
		"path: &a /a\nmonitor: *a":                  "anchors and aliases",
		"origins: ['https://a,https://b']":          "without commas",
		"origins: [[a]]":                            "without commas",
		"a list":                                    "must be a mapping",
		"- a":                                       "must be a mapping",
		"a: [":                                      "not YAML",
	} {
		_, err := load(t, text, nil)
		require.ErrorContains(t, err, want, text)
	}
}

func TestPlainHTTPInYourOwnNetwork(t *testing.T) {
	c, err := load(t, good["url"]+"allow_remote: true\n", nil, "--url.address=http://app:3000/me", "--listen=0.0.0.0:8490")
	require.NoError(t, err)
	require.Equal(t, "http://app:3000/me", c.URL.Address)
}

func TestSocketsAndPermissions(t *testing.T) {
	c, err := load(t, good["header"], nil, "--listen=unix:/run/qos-agent/agent.sock", "--socket_mode=0600", "--keys.permissions=group")
	require.NoError(t, err)
	path, ok := c.Socket()
	require.True(t, ok)
	require.Equal(t, "/run/qos-agent/agent.sock", path)
	mode, err := c.SocketPermissions()
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), mode)
	require.Equal(t, os.FileMode(0o040), c.KeyPermissions())
}

// FuzzFile: no file makes more of the configuration than its keys, or worse than an error.
func FuzzFile(f *testing.F) {
	for _, text := range good {
		f.Add(text)
	}
	f.Add("a: {b: [c, {d: e}]}\n")
	f.Add("? {a: b}\n: c\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := load(t, text, nil)
		if err == nil && text != "" {
			require.NoError(t, c.Validate())
		}
	})
}
