package accessextension

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/qosrtc/qos/extensions/accessextension/internal/metadata"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

var t0 = time.UnixMilli(1_763_702_160_000).UTC()

// storeExtension makes a store a storage extension.
type storeExtension struct {
	component.StartFunc
	component.ShutdownFunc
	settings storage.Settings
	accounts storage.Accounts
}

func (e storeExtension) Settings() storage.Settings { return e.settings }
func (e storeExtension) Accounts() storage.Accounts { return e.accounts }

type host struct {
	component.Host
	extensions map[component.ID]component.Component
}

func (h host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func hostWith(settings storage.Settings, accounts storage.Accounts) host {
	return host{componenttest.NewNopHost(), map[component.ID]component.Component{
		component.MustNewID("qosstorage"): storeExtension{settings: settings, accounts: accounts},
	}}
}

// broken are accounts whose store does not answer while err is set, and writes no audit entries while
// unwritten is.
type broken struct {
	storage.Accounts
	err       error
	unwritten error
}

func (b *broken) Login(ctx context.Context, id []byte) (storage.Login, error) {
	if b.err != nil {
		return storage.Login{}, b.err
	}
	return b.Accounts.Login(ctx, id)
}

func (b *broken) AddAudit(ctx context.Context, entries []storage.AuditEntry) error {
	if err := cmp.Or(b.err, b.unwritten); err != nil {
		return err
	}
	return b.Accounts.AddAudit(ctx, entries)
}

// engine is a store of settings, logins and audit entries.
type engine interface {
	storage.Settings
	storage.Accounts
}

// running is an extension under test with a server, over a store.
type running struct {
	*keeper
	t         testing.TB
	store     engine
	accounts  *broken
	telemetry *componenttest.Telemetry
	clock     clock
	printed   bytes.Buffer
	url       string
}

// clock is the time of a test, which goroutines of the extension read.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMilli(c.ms.Load()).UTC() }

func (c *clock) set(t time.Time) { c.ms.Store(t.UnixMilli()) }

// startOn starts an extension over a store at t0.
func startOn(tb testing.TB, store engine, change ...func(*Config)) *running {
	tb.Helper()
	r := prepare(tb, store, change...)
	require.NoError(tb, r.start())
	server := httptest.NewServer(r)
	tb.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *running) start() error { return r.Start(r.t.Context(), hostWith(r.store, r.accounts)) }

// prepare makes an extension that has not been started.
func prepare(tb testing.TB, store engine, change ...func(*Config)) *running {
	tb.Helper()
	cfg := createDefaultConfig().(*Config)
	for _, change := range change {
		change(cfg)
	}
	require.NoError(tb, cfg.Validate())
	telemetry := componenttest.NewTelemetry()
	tb.Cleanup(func() { require.NoError(tb, telemetry.Shutdown(context.Background())) })
	builder, err := metadata.NewTelemetryBuilder(telemetry.NewTelemetrySettings())
	require.NoError(tb, err)
	r := &running{t: tb, store: store, accounts: &broken{Accounts: store}, telemetry: telemetry}
	r.clock.set(t0)
	r.keeper = newKeeper(cfg, componenttest.NewNopTelemetrySettings(), builder)
	r.now, r.timeout, r.out = r.clock.now, 2*time.Minute, &r.printed
	tb.Cleanup(func() { require.NoError(tb, r.Shutdown(context.Background())) })
	return r
}

// ServeHTTP serves the routes as the dashboard does.
func (r *running) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var mux access.Mux
	for pattern, handler := range r.Handlers() {
		mux.Handle(pattern, handler)
	}
	v, err := r.Visitor(req)
	need, _ := mux.Need(req)
	switch {
	case err != nil:
		r.RefuseError(w, req, err)
	case !need.Allows(v):
		r.Refuse(w, req, v)
	default:
		mux.ServeHTTP(w, req.WithContext(access.With(req.Context(), v)))
	}
}

// password is the one that was printed.
func (r *running) password() string {
	r.t.Helper()
	found := regexp.MustCompile(`password  (\S+)`).FindStringSubmatch(r.printed.String())
	require.NotNil(r.t, found, r.printed.String())
	return found[1]
}

// hashOfGood is the hash of the password good, made once: a hash takes a core some 30 ms.
var hashOfGood = sync.OnceValues(func() (string, error) {
	passwords, err := access.NewPasswords()
	if err != nil {
		return "", err
	}
	return passwords.Hash(context.Background(), access.Applicant{}, good)
})

// user makes a user whose password is good.
func (r *running) user(name string, change ...func(*access.User)) {
	r.t.Helper()
	hash, err := hashOfGood()
	require.NoError(r.t, err)
	u := access.User{Roles: []access.Role{access.Support}, Scope: access.Scope{All: true}, Password: hash, Generation: 1, CreatedAt: t0}
	for _, change := range change {
		change(&u)
	}
	_, err = r.putUser(r.t.Context(), name, u, 0)
	require.NoError(r.t, err)
}

// browser has cookies and follows no redirect.
type browser struct {
	t    testing.TB
	base string
	http http.Client
}

func (r *running) browser() *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(r.t, err)
	return &browser{r.t, r.url, http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// page is an answer.
type answer struct {
	status int
	header http.Header
	body   string
}

func (b *browser) do(method, path, body string, header ...string) answer {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	require.NoError(b.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := b.http.Do(req)
	require.NoError(b.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	return answer{res.StatusCode, res.Header, string(text)}
}

func (b *browser) get(path string) answer { b.t.Helper(); return b.do(http.MethodGet, path, "") }

// submit posts a form without reading its page again.
func (b *browser) submit(path string, fields ...string) answer {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.do(http.MethodPost, path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

var formToken = regexp.MustCompile(`name="form" value="([^"]*)"`)

// fill reads a page with a form and posts it.
func (b *browser) fill(page, path string, fields ...string) answer {
	b.t.Helper()
	found := formToken.FindStringSubmatch(b.get(page).body)
	require.NotNil(b.t, found, "no form on %s", page)
	return b.submit(path, append(fields, "form", found[1])...)
}

func (b *browser) signIn(user, password string) answer {
	b.t.Helper()
	return b.fill("/signin", "/signin", "user", user, "password", password)
}

// in signs in a user of whom that is expected.
func (r *running) in(user, password string) *browser {
	r.t.Helper()
	b := r.browser()
	a := b.signIn(user, password)
	require.Equal(r.t, http.StatusSeeOther, a.status, a.body)
	return b
}

// who is the user of a browser; empty: nobody.
func (b *browser) who() string {
	b.t.Helper()
	a := b.get("/api/session")
	if a.status == http.StatusUnauthorized {
		return ""
	}
	require.Equal(b.t, http.StatusOK, a.status, a.body)
	return regexp.MustCompile(`"user":"([^"]*)"`).FindStringSubmatch(a.body)[1]
}

// audited returns the actions of the log, the oldest first.
func (r *running) audited() (lines []string) {
	r.t.Helper()
	page, err := r.store.AuditPage(r.t.Context(), storage.AuditQuery{})
	require.NoError(r.t, err)
	for i := range page {
		e := &page[len(page)-1-i]
		lines = append(lines, strings.TrimSpace(e.Actor+" "+e.Action+" "+e.Target))
	}
	return lines
}

// change sends a request of a visitor to the users' API.
func (r *running) change(v *access.Visitor, method, user, body string, revision int64) int {
	r.t.Helper()
	req := httptest.NewRequest(method, "/api/v1/users/"+user, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("If-Match", strconv.Quote(strconv.FormatInt(revision, 10)))
	w := httptest.NewRecorder()
	var mux access.Mux
	for pattern, handler := range r.Handlers() {
		mux.Handle(pattern, handler)
	}
	mux.ServeHTTP(w, req.WithContext(access.With(r.t.Context(), v)))
	return w.Code
}
