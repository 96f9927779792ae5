package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// windows are those of one browser, by origin. Visits are frames in them: a new window
// takes longest.
type windows struct {
	*site
	kind     string
	byOrigin map[string]*page
}

// open starts a browser that trusts the site's authority and no other, and logs its user in
// at the origin server.
func (s *site) open(t *testing.T, kind string) *windows {
	t.Helper()
	b := browser.StartTrusting(t, kind, s.authority)
	w := &windows{site: s, kind: kind, byOrigin: map[string]*page{}}
	for _, origin := range []string{appOrigin, otherOrigin, plainOrigin} {
		w.byOrigin[origin] = openPage(t, b, kind+" at "+origin, origin+"/")
	}
	for path, user := range map[string]string{"/": w.user(), "/outage/": "outage"} {
		login := appOrigin + "/account/login?" + url.Values{"user": {user}, "path": {path}}.Encode()
		w.byOrigin[appOrigin].Run("fetch(" + quote(login) + ", { method: 'POST' }).then(({ status }) => status)")
	}
	return w
}

// user is who is logged in at the origin server.
func (w *windows) user() string { return "ada in " + w.kind }

// post is a request of the library, as the page saw it. Times are the page's, ms.
type post struct {
	URL, Body, Credentials string
	Status                 int
	Text                   string // of the answer
	Failed                 string // what the browser says of a request without an answer
	SentAt, AnsweredAt     float64
	Waited                 int // timers that were set as it was sent
}

// hello is what the page says first on a WebSocket.
type hello struct{ Token, Session string }

// visit is one instance of the library in a frame of its own.
type visit struct {
	t    *testing.T
	page *page
	name string
}

// visit opens a frame at an origin.
func (w *windows) visit(t *testing.T, origin, name, query string) *visit {
	t.Helper()
	window := *w.byOrigin[origin].Page
	window.T, window.Name = t, name+" in "+w.kind
	p := &page{&window}
	v := &visit{t: t, page: p, name: name + "-" + w.kind}
	p.Run(fmt.Sprintf(`new Promise((loaded) => {
		const frame = document.createElement('iframe');
		frame.name = %s;
		frame.src = '/visit?%s';
		frame.onload = () => loaded(true);
		document.body.append(frame);
	})`, quote(v.name), query))
	return v
}

// in is an expression about the frame.
func (v *visit) in(expression string) string {
	return "frames[" + quote(v.name) + "]." + expression
}

// eval evaluates an expression in the frame.
func (v *visit) eval(expression string, value any) {
	v.t.Helper()
	v.page.Get(v.in("eval("+quote(expression)+")"), value)
}

// begin is initialize() with a secret that is a JavaScript expression: a string, or a token
// generator. base is where the collector is.
func (v *visit) begin(app, secret string, user any, base string) {
	v.t.Helper()
	v.beginAt(app, secret, user, backend(v.t, v.name, base))
}

func (v *visit) beginAt(app, secret string, user any, backendURL string) {
	v.t.Helper()
	var got answer
	v.eval(fmt.Sprintf("begin(%s, %s, %s, %s)", quote(app), secret, jsonOf(user), quote(backendURL)), &got)
	require.Equal(v.t, answer{Status: "success"}, got)
}

// diary is all that the page knows of a visit.
type diary struct {
	Account tabAccount
	Asked   []bool
	Posts   []post // of logins and frames
	Hellos  []hello
	Waiting []float64 // what timers that were set wait for, ms
}

func (v *visit) diary() diary {
	v.t.Helper()
	var d diary
	v.eval("({ account, asked, posts, hellos, waiting: [...waits.values()].map(({ ms }) => ms) })", &d)
	d.Posts = slices.DeleteFunc(d.Posts, func(p post) bool { return strings.HasSuffix(p.URL, "/configuration") })
	return d
}

// csErrors are the first arguments of the calls of csInitCallback.
func (d diary) csErrors() []string {
	reported := []string{}
	for _, words := range d.Account.Init {
		reported = append(reported, words[0])
	}
	return reported
}

// waits waits until the diary is as expected.
func (v *visit) waits(what string, expected func(diary) bool) diary {
	v.t.Helper()
	var d diary
	browser.Eventually(v.t, patience, v.name+": "+what, func() (bool, string) {
		d = v.diary()
		return expected(d), jsonOf(d)
	})
	return d
}

// hears waits until csInitCallback was called as often, and compares its arguments.
func (v *visit) hears(want ...string) diary {
	v.t.Helper()
	d := v.waits(fmt.Sprint("hears ", want), func(d diary) bool { return len(d.Account.Init) >= len(want) })
	require.Equal(v.t, want, d.csErrors(), "%s: %v", v.name, d.Account.Init)
	return d
}

// connects waits until the collector has welcomed the visit.
func (v *visit) connects() diary {
	v.t.Helper()
	v.hears("success")
	d := v.waits("says hello", func(d diary) bool { return len(d.Hellos) > 0 })
	v.hears("success")
	return d
}

// rests makes sure that the library has given up: it waits for nothing, and reports
// nothing more.
func (v *visit) rests(want ...string) diary {
	v.t.Helper()
	v.hears(want...)
	d := v.waits("has given up", func(d diary) bool { return len(d.Waiting) == 0 })
	require.Equal(v.t, want, d.csErrors(), "%s: %v", v.name, d.Account.Init)
	return d
}

// granted is the answer of the collector to a login.
type granted struct {
	Type, Token, Session string
	ExpiresInMs          float64
}

// grants are the answers that brought tokens.
func (d diary) grants(t *testing.T) []granted {
	t.Helper()
	var all []granted
	for _, p := range d.Posts {
		var g granted
		if p.Status == 200 && json.Unmarshal([]byte(p.Text), &g) == nil && g.Type == "token" {
			all = append(all, g)
		}
	}
	return all
}
