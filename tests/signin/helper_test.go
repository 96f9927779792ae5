package signin

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/qosrtc/qos/extensions/accessextension"
	"github.com/qosrtc/qos/extensions/appsextension"
	"github.com/qosrtc/qos/extensions/dashboardextension"
	"github.com/qosrtc/qos/extensions/storageextension"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/freeport"
)

// stores is what the tests write to.
type stores interface {
	Writer() storage.Writer
	Settings() storage.Settings
	Accounts() storage.Accounts
}

type host struct {
	component.Host
	extensions map[component.ID]component.Component
}

func (h host) GetExtensions() map[component.ID]component.Component { return h.extensions }

// installation is a collector's extensions with a dashboard that readers sign in to.
type installation struct {
	t     *testing.T
	host  host
	base  string
	store stores
	logs  *observer.ObservedLogs // of the access extensions
	lines zapcore.Core
}

// start starts an installation with a store in a directory.
func start(t *testing.T, change ...func(*accessextension.Config)) *installation {
	t.Helper()
	in := &installation{t: t, host: host{componenttest.NewNopHost(), map[component.ID]component.Component{}}}
	in.lines, in.logs = observer.New(zapcore.InfoLevel)
	in.run("qosstorage", storageextension.NewFactory(), func(cfg component.Config) {
		cfg.(*storageextension.Config).Directory = t.TempDir()
	})
	in.store = in.host.extensions[component.MustNewID("qosstorage")].(stores)
	in.access("qosaccess", change...)
	in.run("qosapps", appsextension.NewFactory(), func(cfg component.Config) {
		c := cfg.(*appsextension.Config)
		c.KeyFile, c.Storage, c.Access = filepath.Join(t.TempDir(), "key"), component.MustNewID("qosstorage"), component.MustNewID("qosaccess")
		c.Apps = []appsextension.AppConfig{{ID: "declared", Secrets: []configopaque.String{"secret"}}}
	})
	in.base = in.dashboard("qosaccess")
	return in
}

// access starts an access extension over the store.
func (in *installation) access(name string, change ...func(*accessextension.Config)) {
	in.t.Helper()
	in.run(name, accessextension.NewFactory(), func(cfg component.Config) {
		for _, change := range change {
			change(cfg.(*accessextension.Config))
		}
		require.NoError(in.t, xconfmap.Validate(cfg))
	})
}

// dashboard starts one more dashboard over the store, as another collector has it.
func (in *installation) dashboard(keeper string) (base string) {
	in.t.Helper()
	address, err := freeport.Address()
	require.NoError(in.t, err)
	in.run("qosdashboard/"+address[len("127.0.0.1:"):], dashboardextension.NewFactory(), func(cfg component.Config) {
		c := cfg.(*dashboardextension.Config)
		c.NetAddr.Endpoint = address
		require.NoError(in.t, c.Access.UnmarshalText([]byte(keeper)))
		c.Apps, c.MCP = component.MustNewID("qosapps"), true
		require.NoError(in.t, c.Validate())
	})
	return "http://" + address
}

func (in *installation) run(name string, factory extension.Factory, change func(component.Config)) {
	in.t.Helper()
	cfg := factory.CreateDefaultConfig()
	change(cfg)
	set := extensiontest.NewNopSettings(factory.Type())
	if in.lines != nil && strings.HasPrefix(name, "qosaccess") {
		set.Logger = zap.New(in.lines)
	}
	ext, err := factory.Create(in.t.Context(), set, cfg)
	require.NoError(in.t, err)
	require.NoError(in.t, ext.Start(in.t.Context(), in.host))
	in.t.Cleanup(func() { require.NoError(in.t, ext.Shutdown(context.Background())) })
	var id component.ID
	require.NoError(in.t, id.UnmarshalText([]byte(name)))
	in.host.extensions[id] = ext
}

const password = "correct horse battery"

// hash is the password's, made once.
var hash = func() string {
	p, err := access.NewPasswords()
	if err != nil {
		panic(err)
	}
	text, err := p.Hash(context.Background(), access.Applicant{}, password)
	if err != nil {
		panic(err)
	}
	return text
}()

// put writes a user in place of the one of that name.
func (in *installation) put(name string, u access.User) {
	in.t.Helper()
	u.Password, u.Generation, u.CreatedAt = hash, 1, time.Now().UTC()
	body, err := u.Encode()
	require.NoError(in.t, err)
	have, err := in.store.Settings().Setting(in.t.Context(), "user", name)
	if err != nil {
		require.ErrorIs(in.t, err, storage.ErrNoSetting)
	}
	_, err = in.store.Settings().PutSetting(in.t.Context(), storage.Setting{Kind: "user", ID: name, Revision: have.Revision, ChangedAt: time.Now().UTC(), Body: body})
	require.NoError(in.t, err)
}

// browser has cookies and follows no redirect.
type browser struct {
	t    *testing.T
	base string
	http *http.Client
}

func (in *installation) browser() *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(in.t, err)
	transport := &http.Transport{DisableKeepAlives: true}
	return &browser{in.t, in.base, &http.Client{
		Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var formToken = regexp.MustCompile(`name="form" value="([^"]*)"`)

// in signs in a user.
func (in *installation) in(user string) *browser {
	in.t.Helper()
	b := in.browser()
	_, page, _ := b.do(http.MethodGet, "/signin", "")
	form := url.Values{"user": {user}, "password": {password}, "form": {formToken.FindStringSubmatch(page)[1]}}
	status, body, head := b.do(http.MethodPost, "/signin", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	for range 10 { // a machine without a processor for it hashes few passwords within the time of a request
		if status != http.StatusServiceUnavailable || head.Get("Retry-After") == "" {
			break
		}
		status, body, head = b.do(http.MethodPost, "/signin", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	}
	require.Equal(in.t, http.StatusSeeOther, status, body)
	return b
}

// do sends a request. Of a stream it reads the head only.
func (b *browser) do(method, path, body string, header ...string) (status int, text string, head http.Header) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	require.NoError(b.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := b.http.Do(req)
	require.NoError(b.t, err)
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return res.StatusCode, "", res.Header
	}
	all, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	return res.StatusCode, string(all), res.Header
}

// get returns the body of a page that is expected.
func (b *browser) get(path string) string {
	b.t.Helper()
	status, body, _ := b.do(http.MethodGet, path, "")
	require.Equal(b.t, http.StatusOK, status, "%s: %s", path, body)
	return body
}
