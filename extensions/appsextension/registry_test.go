package appsextension

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/extensions/appsextension/internal/metadata"
	"github.com/qosrtc/qos/internal/identity/auth"
)

// directory is what the receiver sees of the extension.
type directory interface {
	App(id string) (auth.App, bool)
	Keys() *auth.Keys
}

func start(t *testing.T, cfg *Config) (directory, error) {
	t.Helper()
	e, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(t.Context())) })
	err = e.Start(t.Context(), componenttest.NewNopHost())
	return e.(directory), err
}

func demo(cfg Config) *Config {
	cfg.Apps = []AppConfig{{ID: "demo", Secrets: []configopaque.String{"one", "two"}, Settings: app.Settings{Origins: []string{"https://a.example"}}}}
	return &cfg
}

// spec: AUTH-01, AUTH-03
func TestRegistry(t *testing.T) {
	master := strings.Repeat("m", auth.MinKeyBytes)
	d, err := start(t, demo(Config{Key: configopaque.String(base64.StdEncoding.EncodeToString([]byte(master)))}))
	require.NoError(t, err)
	app, ok := d.App("demo")
	require.True(t, ok)
	require.Equal(t, "demo", app.ID)
	require.Equal(t, d.Keys().Salt("demo"), app.Salt)
	require.Equal(t, []auth.Verifier{
		auth.NewVerifier("one", app.Salt, app.Iterations), auth.NewVerifier("two", app.Salt, app.Iterations),
	}, app.Verifiers)
	require.True(t, app.OriginAllowed("https://a.example"))
	require.False(t, app.OriginAllowed("https://b.example"))
	_, ok = d.App("Demo")
	require.False(t, ok)
}

func TestKeyFileIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "deep", "key")
	d, err := start(t, demo(Config{KeyFile: path}))
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")

	again, err := start(t, demo(Config{KeyFile: path}))
	require.NoError(t, err)
	require.Equal(t, d.Keys().Salt("x"), again.Keys().Salt("x"), "the same key")
	other, err := start(t, demo(Config{KeyFile: path + "2"}))
	require.NoError(t, err)
	require.NotEqual(t, d.Keys().Salt("x"), other.Keys().Salt("x"), "a random key")
}

func TestKeyFileMadeByManyIsOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	keys := make([]string, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, _, err := readOrMakeKey(path)
			if err == nil {
				keys[i] = string(key)
			}
		})
	}
	wg.Wait()
	for _, key := range keys {
		require.Len(t, key, auth.MinKeyBytes)
		require.Equal(t, keys[0], key)
	}
}

func TestBadKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, []byte("c2hvcnQ=\n"), 0o600))
	_, err := start(t, demo(Config{KeyFile: path}))
	require.ErrorContains(t, err, "key_file: "+path+": must be at least 32 bytes in base64 (got 5)")
	_, err = start(t, demo(Config{KeyFile: filepath.Dir(path)}))
	require.ErrorContains(t, err, "key_file: ")
}
