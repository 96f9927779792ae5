package signin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/qosrtc/qos/extensions/accessextension"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// provider is a certified OpenID provider (npm oidc-provider) in a process of its own.
type provider struct {
	*process

	t      *testing.T
	issuer string
}

// process is one that serves a provider.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// idle are the processes that no test uses. Their tests have reset them.
var idle struct {
	sync.Mutex
	processes []*process
}

func (p *process) end() error {
	return errors.Join(p.in.Close(), p.cmd.Wait()) // the end of its input ends it
}

// withProviders ends the processes after the tests.
type withProviders struct{ *testing.M }

func (m withProviders) Run() int {
	code := m.M.Run()
	for _, p := range idle.processes {
		if err := p.end(); err != nil {
			panic(err)
		}
	}
	return code
}

// startProvider starts one in an idle process, or in a new one. It needs Node and the packages of the folder provider.
func startProvider(t *testing.T) *provider {
	t.Helper()
	node := testenv.Program(t, "node")
	if _, err := os.Stat("provider/node_modules/oidc-provider"); err != nil {
		testenv.Missing(t, fmt.Errorf("npm ci in tests/signin/provider: %w", err))
	}
	p := &provider{t: t}
	idle.Lock()
	if last := len(idle.processes) - 1; last >= 0 {
		p.process, idle.processes = idle.processes[last], idle.processes[:last]
	}
	idle.Unlock()
	if p.process == nil {
		p.process = newProcess(t, node)
	}
	t.Cleanup(p.release)
	p.listen("0")
	return p
}

func newProcess(t *testing.T, node string) *process {
	t.Helper()
	cmd := exec.Command(node, "server.mjs")
	cmd.Dir = "provider"
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return &process{cmd, in, bufio.NewReader(out)}
}

// release leaves the process to other tests. The answer to a command of a failed test may still be due: its process ends.
func (p *provider) release() {
	if p.t.Failed() {
		_ = p.end()
		return
	}
	p.do(`{"reset":true}`)
	idle.Lock()
	defer idle.Unlock()
	idle.processes = append(idle.processes, p.process)
}

// listen opens the provider's port.
func (p *provider) listen(port string) {
	p.t.Helper()
	p.issuer = p.do(`{"listen":` + port + `}`)["issuer"]
	require.NotEmpty(p.t, p.issuer)
}

// do sends a command and returns its answer.
func (p *provider) do(command string) (answer map[string]string) {
	p.t.Helper()
	_, err := p.in.Write([]byte(command + "\n"))
	require.NoError(p.t, err)
	line, err := p.out.ReadBytes('\n')
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(line, &answer), string(line))
	require.Empty(p.t, answer["error"])
	return answer
}

// account makes an account, or changes its claims.
func (p *provider) account(id string, claims map[string]any) {
	p.t.Helper()
	body, err := json.Marshal(map[string]any{"account": id, "claims": claims})
	require.NoError(p.t, err)
	p.do(string(body))
}

const clientSecret = "the secret of the client: +/%"

// register registers the dashboard as a client.
func (p *provider) register() {
	p.t.Helper()
	body, err := json.Marshal(map[string]any{"clients": []map[string]any{{
		"client_id": "qos", "client_secret": clientSecret,
		"redirect_uris": []string{back + "/signin/provider/callback"}, "post_logout_redirect_uris": []string{back + "/signin"},
	}}})
	require.NoError(p.t, err)
	p.do(string(body))
}

// back is the base of the dashboard's URL that the provider has. Nobody listens there: tests bring the
// provider's answer to a dashboard.
const back = "http://127.0.0.1:1"

// config is what an access extension needs to sign users in at the provider.
func (p *provider) config(change ...func(*accessextension.OIDCConfig)) func(*accessextension.Config) {
	return func(c *accessextension.Config) {
		o := *c.OIDC.GetOrInsertDefault()
		o.Issuer, o.ClientID, o.ClientSecret, o.Label = p.issuer, "qos", clientSecret, "Example ID"
		o.RedirectURL = back + "/signin/provider/callback"
		o.Scopes = []string{"openid", "profile", "qos"}
		o.Roles.Claim = "roles"
		o.Roles.Map = map[string][]access.Role{
			"qos-support": {access.Support}, "qos-engineering": {access.Engineering}, "qos-admin": {access.Admin}, "qos-all": access.AllRoles,
		}
		o.Apps.Claim = "apps"
		for _, change := range change {
			change(&o)
		}
		c.OIDC = configoptional.Some(o)
	}
}

// withProvider starts an installation whose users sign in at a provider.
func withProvider(t *testing.T, change ...func(*accessextension.OIDCConfig)) (*installation, *provider) {
	t.Helper()
	p := startProvider(t)
	in := start(t, p.config(change...))
	p.register()
	return in, p
}

var (
	providerLink = regexp.MustCompile(`href="(/signin/provider\?[^"]*)"`)
	loginForm    = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>.*name="login"`)
	errorText    = regexp.MustCompile(`(?s)role="alert"[^>]*>([^<]*)`)
	errorID      = regexp.MustCompile(`Error ID <code>([^<]*)</code>`)
)

// begin uses the link of the sign-in page, and returns the URL of the provider.
func (b *browser) begin(to string) string {
	b.t.Helper()
	page := b.get("/signin?to=" + url.QueryEscape(to))
	found := providerLink.FindStringSubmatch(page)
	require.NotNil(b.t, found, page)
	status, body, head := b.do(http.MethodGet, html.UnescapeString(found[1]), "")
	require.Equal(b.t, http.StatusSeeOther, status, body)
	return head.Get("Location")
}

// logIn follows the provider from a URL, signs in there as an account, and returns path and query of
// the dashboard's URL to which the provider leads in the end.
func (b *browser) logIn(at, account string) string {
	b.t.Helper()
	for range 20 {
		req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, at, http.NoBody)
		require.NoError(b.t, err)
		res, body := b.send(req)
		if res.StatusCode == http.StatusOK {
			found := loginForm.FindStringSubmatch(body)
			require.NotNil(b.t, found, body)
			form := url.Values{"prompt": {"login"}, "login": {account}, "password": {"x"}}
			req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, found[1], strings.NewReader(form.Encode()))
			require.NoError(b.t, err)
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			res, body = b.send(req)
		}
		next, err := res.Location()
		require.NoError(b.t, err, "%d %s", res.StatusCode, body)
		if next.Path == "/signin/provider/callback" {
			return next.RequestURI()
		}
		at = next.String()
	}
	require.Fail(b.t, "the provider leads nowhere", at)
	return ""
}

func (b *browser) send(req *http.Request) (*http.Response, string) {
	b.t.Helper()
	res, err := b.http.Do(req)
	require.NoError(b.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	return res, string(body)
}

// inBy signs in at the provider, and returns where the dashboard leads.
func (b *browser) inBy(account string) string {
	b.t.Helper()
	status, body, head := b.do(http.MethodGet, b.logIn(b.begin("/search?x=1"), account), "")
	require.Equal(b.t, http.StatusSeeOther, status, body)
	return head.Get("Location")
}

// session is an answer of the route for it.
type session struct {
	User, Name string
	Roles      []access.Role
	Scope      access.Scope
}

// session is who is signed in; empty: nobody.
func (b *browser) session() (s session) {
	b.t.Helper()
	status, body, _ := b.do(http.MethodGet, "/api/session", "")
	if status != http.StatusUnauthorized {
		require.Equal(b.t, http.StatusOK, status, body)
		require.NoError(b.t, json.Unmarshal([]byte(body), &s))
	}
	return s
}

// refused requires that a request for a page is refused with a text, that the log has a line of its
// error ID, that the line has no secret, and that nobody is signed in. It returns the line's error.
func (in *installation) refused(b *browser, path string, status int, text string) string {
	in.t.Helper()
	got, body, head := b.do(http.MethodGet, path, "")
	require.Equal(in.t, status, got, body)
	found := errorText.FindStringSubmatch(body)
	require.NotNil(in.t, found, body)
	require.Equal(in.t, text, html.UnescapeString(found[1]))
	require.Equal(in.t, "no-store", head.Get("Cache-Control"))
	require.Empty(in.t, b.session().User)
	id := errorID.FindStringSubmatch(body)
	require.NotNil(in.t, id, body)
	for _, line := range in.logs.All() {
		if fields := line.ContextMap(); fields["error_id"] == id[1] {
			all, err := json.Marshal(fields)
			require.NoError(in.t, err)
			u, err := url.Parse(path)
			require.NoError(in.t, err)
			for _, secret := range []string{clientSecret, u.Query().Get("code"), u.Query().Get("state"), "eyJ"} {
				if len(secret) > 8 {
					require.NotContains(in.t, string(all), secret)
				}
			}
			text, _ := fields["error"].(string)
			return text
		}
	}
	require.Fail(in.t, "the log has no line of the error ID")
	return ""
}
