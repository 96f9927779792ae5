package dashboardextension

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// newStore is a storage extension without conferences.
func newStore(t *testing.T) component.Component {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "qos.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return hosttest.Storage{Store: store}
}

func hostWith(ext component.Component) component.Host {
	return hosttest.Host{component.MustNewID("qosstorage"): ext}
}

// start runs the extension over an empty store and returns its base URL.
func start(t *testing.T, change func(*Config)) string {
	t.Helper()
	base, _ := run(t, extensiontest.NewNopSettings(metadata.Type).TelemetrySettings, change)
	return base
}

// run is start with telemetry. The extension is shut down at the end of the test, or by the caller.
func run(t *testing.T, telemetry component.TelemetrySettings, change func(*Config)) (base string, ext component.Component) {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = "localhost:0"
	if change != nil {
		change(cfg)
	}
	require.NoError(t, cfg.Validate())
	set := extensiontest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = telemetry
	ext, err := NewFactory().Create(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), hostWith(newStore(t))))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(context.Background())) })
	return "http://" + ext.(*dashboard).addr, ext
}

// get asks one question on a connection of its own.
func get(t *testing.T, url string) (int, string, http.Header) {
	t.Helper()
	res := do(t, url, func(*http.Request) {})
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body), res.Header
}

func do(t *testing.T, url string, change func(*http.Request)) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	change(req)
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { res.Body.Close() })
	return res
}
