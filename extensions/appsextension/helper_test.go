package appsextension

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/qosrtc/qos/extensions/appsextension/internal/metadata"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/storage"
)

// storeHost is a host with a storage extension.
type storeHost struct {
	component.Host
	settings storage.Settings
}

func (h storeHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{storeID: storeExtension{settings: h.settings}}
}

type storeExtension struct {
	component.StartFunc
	component.ShutdownFunc
	settings storage.Settings
}

func (e storeExtension) Settings() storage.Settings { return e.settings }

var storeID = component.MustNewID("qosstorage")

const (
	adminToken = "an admin token of 32 bytes or more"
	otherToken = "another token of 32 bytes or more"
)

// masterKey is a master key as the configuration has it.
func masterKey(fill byte) configopaque.String {
	return configopaque.String(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, auth.MinKeyBytes)))
}

// running is an extension under test.
type running struct {
	*registry
	t    testing.TB
	logs *observer.ObservedLogs
}

// unstarted makes an extension over settings, with a management API on a free port.
func unstarted(tb testing.TB, telemetry component.TelemetrySettings, change ...func(*Config)) *running {
	tb.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.Key, cfg.Storage = masterKey(1), storeID
	management := cfg.Management.GetOrInsertDefault()
	management.NetAddr.Endpoint = "localhost:0"
	management.Tokens = []TokenConfig{{Name: "ann", Token: adminToken}, {Name: "bob", Token: otherToken}}
	for _, change := range change {
		change(cfg)
	}
	require.NoError(tb, xconfmap.Validate(cfg))
	core, logs := observer.New(zap.DebugLevel)
	telemetry.Logger = zap.New(core)
	builder, err := metadata.NewTelemetryBuilder(telemetry)
	require.NoError(tb, err)
	r := newRegistry(cfg, telemetry, builder)
	tb.Cleanup(func() { require.NoError(tb, r.Shutdown(context.Background())) })
	return &running{registry: r, t: tb, logs: logs}
}

// startOn starts an extension over settings.
func startOn(tb testing.TB, settings storage.Settings, change ...func(*Config)) *running {
	tb.Helper()
	r := unstarted(tb, componenttest.NewNopTelemetrySettings(), change...)
	require.NoError(tb, r.Start(tb.Context(), storeHost{componenttest.NewNopHost(), settings}))
	return r
}

// withoutAPI leaves the management API off.
func withoutAPI(c *Config) { c.Management = createDefaultConfig().(*Config).Management }

// answer is what the management API said.
type answer struct {
	status int
	header http.Header
	text   string
}

// into decodes the body.
func into[T any](tb testing.TB, a answer) (out T) {
	tb.Helper()
	require.NoError(tb, json.Unmarshal([]byte(a.text), &out), a.text)
	return out
}

// call asks the management API with a token; headers are pairs.
func (r *running) call(method, path, body string, headers ...string) answer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.management.addr+path, strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Authorization", "Bearer "+adminToken)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	require.NoError(r.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	return answer{status: res.StatusCode, header: res.Header, text: string(text)}
}

// must asks and demands a status.
func (r *running) must(status int, method, path, body string, headers ...string) answer {
	r.t.Helper()
	a := r.call(method, path, body, headers...)
	require.Equal(r.t, status, a.status, "%s %s: %s", method, path, a.text)
	return a
}

// create makes the app shop.
func (r *running) create(body string) answer {
	r.t.Helper()
	return r.must(http.StatusCreated, http.MethodPut, shop, body, "If-None-Match", "*")
}

// logged returns the messages of a level.
func (r *running) logged(message string) int { return r.logs.FilterMessage(message).Len() }

// memory is settings in memory, for tests of time alone: the real ones are those of the
// engines.
type memory struct {
	mu       sync.Mutex
	revision int64
	held     map[string]storage.Setting
	err      error
	hang     bool           // until the context ends
	writes   map[string]int // by kind
}

func newMemory() *memory {
	return &memory{held: map[string]storage.Setting{}, writes: map[string]int{}}
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

func (m *memory) silent(is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hang = is
}

func (m *memory) hangs() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hang
}

// SettingsRevision implements storage.Settings.
func (m *memory) SettingsRevision(ctx context.Context) (int64, error) {
	if m.hangs() {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revision, m.err
}

// SettingsSince implements storage.Settings.
func (m *memory) SettingsSince(_ context.Context, kind string, revision int64) (storage.SettingsChanges, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := storage.SettingsChanges{Revision: m.revision}
	for _, s := range m.sorted(kind) {
		c.Total++
		if s.Revision > revision {
			c.Changed = append(c.Changed, s)
		}
	}
	return c, m.err
}

func (m *memory) sorted(kind string) []storage.Setting {
	all := slices.Collect(maps.Values(m.held))
	all = slices.DeleteFunc(all, func(s storage.Setting) bool { return s.Kind != kind })
	slices.SortFunc(all, func(a, b storage.Setting) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// SettingsPage implements storage.Settings.
func (m *memory) SettingsPage(_ context.Context, kind, after string, limit int) ([]storage.Setting, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.DeleteFunc(m.sorted(kind), func(s storage.Setting) bool { return s.ID <= after })
	return all[:min(len(all), storage.SettingsPageSize(limit))], m.err
}

// Setting implements storage.Settings.
func (m *memory) Setting(_ context.Context, kind, id string) (storage.Setting, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.held[kind+"/"+id]
	if !ok {
		return s, cmp.Or(m.err, storage.ErrNoSetting)
	}
	return s, m.err
}

// PutSetting implements storage.Settings.
func (m *memory) PutSetting(_ context.Context, s storage.Setting) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.err, s.Check()); err != nil {
		return 0, err
	}
	if m.held[s.Kind+"/"+s.ID].Revision != s.Revision {
		return 0, storage.ErrConflict
	}
	m.revision++
	m.writes[s.Kind]++
	s.Revision = m.revision
	m.held[s.Kind+"/"+s.ID] = s
	return s.Revision, nil
}

// DeleteSetting implements storage.Settings.
func (m *memory) DeleteSetting(_ context.Context, kind, id string, revision int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	have, ok := m.held[kind+"/"+id]
	switch {
	case m.err != nil:
		return m.err
	case !ok:
		return storage.ErrNoSetting
	case have.Revision != revision:
		return storage.ErrConflict
	}
	m.revision++
	delete(m.held, kind+"/"+id)
	return nil
}
