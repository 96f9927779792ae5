package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// signedConfig adds sign-in, the management API on the dashboard and webhooks, as deploy/run.yaml has them.
func (c *collector) signedConfig() string {
	return fmt.Sprintf(`
extensions:
  qosaccess: {storage: qosstorage, sign_in_url: %q}
  qosapps: {storage: qosstorage, access: qosaccess}
  qosdashboard: {access: qosaccess, apps: qosapps}
exporters:
  qoswebhook: {storage: qosstorage, apps: qosapps, dashboard_url: %q, allowed_networks: [127.0.0.0/8], max_attempts: 1}
service:
  extensions: [healthcheckv2, qosaccess, qosapps, qosrules, qosstorage, qosdashboard, qosdemo]
  pipelines:
    logs: {receivers: [qoswss], processors: [memory_limiter, quality, conference], exporters: [qosstore, qostimeseries, qoswebhook]}
`, c.dashboard, c.dashboard)
}

// startSigned starts a collector whose readers sign in, and a server of pages that use the library.
func startSigned(t *testing.T) (*collector, *libraryPages) {
	t.Helper()
	c := newCollector(t)
	served := startLibraryPages(t, t.TempDir())
	c.origins = append(c.origins, served.url)
	c.more = c.signedConfig()
	c.start()
	served.of(t, c)
	return c, served
}

// printed returns what the collector printed at its start.
func (c *collector) printed(pattern string) string {
	c.t.Helper()
	text, err := browser.FirstMatch(c.out, regexp.MustCompile(pattern))
	require.NoError(c.t, err)
	return text
}

// openAs opens a page with cookies of its own, as another person's browser has them.
func openAs(t *testing.T, b *browser.Browser, name, address string) *page {
	t.Helper()
	var user struct {
		UserContext string `json:"userContext"`
	}
	require.NoError(t, b.Do("browser.createUserContext", map[string]any{}, &user))
	var created struct {
		Context string `json:"context"`
	}
	require.NoError(t, b.Do("browsingContext.create", map[string]any{"type": "window", "userContext": user.UserContext}, &created))
	p := &page{&browser.Page{T: t, Browser: b, Context: created.Context, Name: name}}
	t.Cleanup(p.KeepIfFailed)
	p.goes(address)
	return p
}

// goes goes to an address.
func (p *page) goes(address string) {
	p.T.Helper()
	require.NoError(p.T, p.Browser.Navigate(p.Context, address), p.Name)
}

// at waits until the page has a path.
func (p *page) at(path string) {
	p.T.Helper()
	p.Until(patience, "document.readyState === 'complete' && location.pathname === "+quote(path))
}

// shows waits until the page has a text.
func (p *page) shows(text string) {
	p.T.Helper()
	p.Until(patience, "document.body.innerText.includes("+quote(text)+")")
}

// signsIn types a name and a password, and presses Enter.
func (p *page) signsIn(name, password string) {
	p.T.Helper()
	p.at("/signin")
	p.write("#user", name)
	p.tabTo("#password")
	p.types(password)
	p.press(keyEnter)
}

// changesPassword types a new password twice.
func (p *page) changesPassword(current, next, again string) {
	p.T.Helper()
	p.at("/password")
	if current != "" {
		p.write("#current", current)
	}
	p.write("#next", next)
	p.tabTo("#again")
	p.types(again)
	p.press(keyEnter)
}

// nav returns the links of the header, and the settings pages that are linked.
func (p *page) nav() (names []string) {
	p.T.Helper()
	p.Until(patience, "document.querySelector('[data-testid=signed-in]')")
	p.Get("[...document.querySelectorAll('.topbar nav a, #settings-nav a')].map((a) => a.innerText)", &names)
	return names
}

// manages sends a request to the management API from a page, as the user who is signed in there.
func (p *page) manages(method, path string, body any, headers map[string]string, into any) (status int) {
	p.T.Helper()
	var answer struct {
		Status int
		Body   any
	}
	p.Get(fmt.Sprintf(`fetch(%s, { method: %s, headers: { 'Content-Type': 'application/json', ...%s }, body: %s }).then(async (r) => ({ status: r.status, body: r.status === 204 ? null : await r.json() }))`,
		quote(path), quote(method), jsonOf(headers), map[bool]string{true: "undefined", false: "JSON.stringify(" + jsonOf(body) + ")"}[body == nil]), &answer)
	if into != nil {
		require.NoError(p.T, remarshal(answer.Body, into))
	}
	return answer.Status
}

const (
	firstPassword = "correct horse battery"
	nextPassword  = "staple of the correct horse"
)

// remarshal reads a decoded JSON value into another.
func remarshal(from, into any) error { return json.Unmarshal([]byte(jsonOf(from)), into) }

// TestSignIn signs people in in real browsers, by the keyboard alone: the first administrator by the link
// that the start prints, others by the passwords that they were given. Each sees the pages and the names
// that the roles permit.
//
// spec: DASH-03, DASH-05
func TestSignIn(t *testing.T) {
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			browser.Require(t, kind)
			c, served := startSigned(t)
			b := browser.Start(t, kind)
			admin := c.admits(t, b)
			c.namesByRole(t, b, admin, served)
			admin.tabTo("[data-testid=signed-in] button")
			admin.press(keyEnter)
			admin.at("/signin")
			admin.shows("You are signed out.")
			admin.goes(c.dashboard + "/unattached")
			admin.at("/signin")
			admin.signsIn("admin", nextPassword)
			admin.at("/unattached") // where the visitor wanted to go
			require.Empty(t, b.ScriptErrors(), "the pages run without an error")
		})
	}
}

// admits brings the first administrator in, from the printed link to a password of one's own.
func (c *collector) admits(t *testing.T, b *browser.Browser) *page {
	t.Helper()
	p := openAs(t, b, "admin", c.dashboard+"/")
	p.at("/signin")
	p.accessible("sign-in")
	p.signsIn("admin", "not the password of anybody")
	p.shows("The name or the password is wrong.")
	p.focused("#password")
	p.accessible("sign-in-wrong")

	link := c.printed(`(http://\S+/signin/link\?token=\S+)`)
	p.goes(link)
	p.accessible("link")
	p.focused("button")
	p.press(keyEnter)
	p.at("/")
	require.Equal(t, []string{"Overview", "Conferences", "What changed", "Pre-call tests", "Unattached", "Settings"}, p.nav())
	p.accessible("conferences")

	used := openAs(t, b, "used link", link)
	used.focused("button")
	used.press(keyEnter)
	used.shows("This link was used, or it is too old.")
	used.CloseTab()

	p.tabTo("[data-testid=signed-in] a")
	p.press(keyEnter)
	p.changesPassword("", nextPassword, firstPassword)
	p.shows("The two new passwords differ.")
	p.accessible("password")
	p.changesPassword("", "password1234", "password1234")
	p.shows("common password")
	p.changesPassword("", nextPassword, nextPassword)
	p.at("/")
	return p
}

// employee is a user whom the administrator makes.
type employee struct {
	name    string
	rights  map[string]any
	lands   string   // after sign-in at the start page
	nav     []string // links
	reads   string   // the name of the caller; empty: no calls
	refused string   // a page that is not permitted
	why     string
}

var employees = []employee{
	{"grace", map[string]any{"roles": []string{"support"}, "scope": map[string]any{"all": true}}, "/", []string{"Overview", "Conferences", "What changed", "Pre-call tests", "Unattached"}, "Ada Lovelace (ada-1)", "/settings/audit", "This page is for the role admin with all apps in scope."},
	{"linus", map[string]any{"roles": []string{"engineering"}, "scope": map[string]any{"all": false, "apps": []string{"demo"}}}, "/", []string{"Overview", "Conferences", "What changed", "Pre-call tests", "Unattached"}, "ada-1", "/settings", "Settings are for the role admin."},
	{"edsger", map[string]any{"roles": []string{"admin"}, "scope": map[string]any{"all": false, "apps": []string{"demo"}}}, "/settings", []string{"Settings", "Apps", "API tokens"}, "", "/settings/users", "This page is for the role admin with all apps in scope."},
	{"barbara", map[string]any{"roles": []string{"admin"}, "scope": map[string]any{"all": true}}, "/settings", []string{"Settings", "Apps", "API tokens", "Users", "Audit log"}, "", "/unattached", "Calls are for the roles support and engineering."},
}

// namesByRole makes a call and reads it as each of the people.
func (c *collector) namesByRole(t *testing.T, b *browser.Browser, admin *page, served *libraryPages) {
	t.Helper()
	caller := openPage(t, b, "caller", served.url+"/search.html?"+url.Values{"room": {"standup"}}.Encode())
	until(t, caller, "outcome.sent > 0")
	caller.Run("end()")
	for _, one := range employees {
		var made struct{ Password string }
		require.Equal(t, 201, admin.manages("PUT", "/api/v1/users/"+one.name, one.rights, map[string]string{"If-None-Match": "*"}, &made))
		p := openAs(t, b, one.name, c.dashboard+"/")
		p.signsIn(one.name, made.Password)
		p.at("/password")
		p.shows("Another person has seen your password.")
		p.goes(c.dashboard + "/settings")
		p.at("/password") // nothing else before
		p.changesPassword(made.Password, firstPassword, firstPassword)
		p.at(one.lands)
		p.Until(patience, fmt.Sprintf("document.querySelectorAll('.topbar nav a, #settings-nav a').length === %d", len(one.nav)))
		require.Equal(t, one.nav, p.nav(), one.name)
		if one.reads != "" {
			p.goes(c.dashboard + "/search")
			p.shows("standup")
			p.Until(patience, fmt.Sprintf("document.querySelector('[data-testid=conference] .people').innerText.includes(%q)", one.reads))
			var text string
			p.Get("document.body.innerText", &text)
			require.Equal(t, one.name == "grace", regexp.MustCompile("Lovelace").MatchString(text), one.name)
		}
		p.goes(c.dashboard + one.refused)
		p.shows("Not permitted")
		p.shows(one.why)
		p.accessible("denied-" + one.name)
		p.CloseTab()
	}
	caller.CloseTab()
}
