package dashboardextension

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/identity/access"
)

// page is one page of the dashboard. Its template is web/pages/<name>.html, its module web/js/<name>.js.
type page struct {
	path   string // without the leading slash
	name   string
	title  string
	skip   string   // where the skip link leads
	styles []string // files of web, without extension, beside app.css
	charts bool     // whether it loads uPlot
}

// pages is all of them. Those below settings need sign-in.
var pages = []page{
	{path: "", name: "overview", title: "Overview", skip: "the overview", styles: []string{"list", "overview"}, charts: true},
	{path: "search", name: "conferences", title: "Conferences", skip: "the list", styles: []string{"list"}},
	{path: "conference", name: "conference", title: "Conference", skip: "the conference", styles: []string{"conference"}, charts: true},
	{path: "changes", name: "changes", title: "What changed", skip: "the comparison", styles: []string{"list", "changes"}},
	{path: "app", name: "application", title: "App", skip: "the app", styles: []string{"list", "application"}, charts: true},
	{path: "user", name: "participant", title: "User", skip: "the user", styles: []string{"list", "participant"}, charts: true},
	{path: "precalls", name: "precalls", title: "Pre-call tests", skip: "the list", styles: []string{"list", "participant"}},
	{path: "unattached", name: "unattached", title: "Unattached", skip: "the list", styles: []string{"list"}},
	{path: "settings", name: "settings/apps", title: "Apps", skip: "the settings", styles: []string{"list", "settings"}},
	{path: "settings/app", name: "settings/app", title: "App", skip: "the settings", styles: []string{"list", "settings"}},
	{path: "settings/tokens", name: "settings/tokens", title: "API tokens", skip: "the settings", styles: []string{"list", "settings"}},
	{path: "settings/users", name: "settings/users", title: "Users", skip: "the settings", styles: []string{"list", "settings"}},
	{path: "settings/audit", name: "settings/audit", title: "Audit log", skip: "the settings", styles: []string{"list", "settings"}},
}

// navigation is the links of the header. Without sign-in those of administrators stay hidden; user.js shows and
// removes them by the roles of the user.
var navigation = []struct{ path, name, need string }{
	{"", "Overview", "calls"},
	{"search", "Conferences", "calls"},
	{"changes", "What changed", "calls"},
	{"precalls", "Pre-call tests", "calls"},
	{"unattached", "Unattached", "calls"},
	{pathSettings[1:], "Settings", "settings"},
}

// pathSettings is the path of the first settings page.
const pathSettings = "/settings"

func (p page) settings() bool { return strings.HasPrefix("/"+p.path, pathSettings) }

// pattern is that of net/http.ServeMux.
func (p page) pattern() string {
	if p.path == "" {
		return "GET /{$}"
	}
	return "GET /" + p.path
}

// link is a link of the header, as the layout shows it.
type link struct {
	Path, Name, Need string
	Current, Hidden  bool
}

func (p page) links() (out []link) {
	for _, one := range navigation {
		out = append(out, link{
			Path: one.path, Name: one.name, Need: one.need,
			Current: p.path == one.path || one.path != "" && strings.HasPrefix(p.path, one.path+"/"),
			Hidden:  p.settings() != (one.need == "settings"),
		})
	}
	return out
}

// html executes the layout with the template of the page. Pages are constant, so that each is executed once.
func (p page) html() ([]byte, error) {
	t, err := template.ParseFS(web, "web/pages/layout.html")
	if err != nil {
		return nil, fmt.Errorf("embedded page: %w", err)
	}
	main, err := web.ReadFile(path.Join("web/pages", p.name+".html"))
	if err != nil {
		return nil, fmt.Errorf("embedded page: %w", err)
	}
	if _, err := t.New("main").Parse(string(main)); err != nil {
		return nil, fmt.Errorf("embedded page %s: %w", p.name, err)
	}
	var out bytes.Buffer
	err = t.Execute(&out, struct {
		Title, Skip, Name, Root string
		Styles                  []string
		Charts                  bool
		Nav                     []link
	}{p.title, p.skip, p.name, p.root(), p.styles, p.charts, p.links()})
	return out.Bytes(), err
}

// root is the relative address of the first page: proxies may serve the dashboard below a path.
func (p page) root() string { return "./" + strings.Repeat("../", strings.Count(p.path, "/")) }

// servePages registers the pages and what they load.
func servePages(mux *access.Mux, signIn bool) error {
	for _, p := range pages {
		if p.settings() && !signIn {
			continue
		}
		plain, err := p.html()
		if err != nil {
			return err
		}
		a, err := newAsset(".html", plain)
		if err != nil {
			return err
		}
		mux.Handle(p.pattern(), p.handler(a))
	}
	return serveAssets(mux)
}

// handler is that of the page.
func (p page) handler(a *asset) http.Handler {
	if p.path != "" && p.path != "search" {
		return a
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if other := p.other(r.URL.Query()); other != "" {
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Location", other+"?"+r.URL.RawQuery) // relative: a proxy may serve the dashboard below a path
			w.WriteHeader(http.StatusFound)
			return
		}
		a.ServeHTTP(w, r)
	})
}

// other returns the path of the page that has a query; empty: the page itself. Links of before had searches at the first
// page, and a search for failed pre-call tests lists no conferences.
func (p page) other(query url.Values) string {
	if p.path == "search" {
		if query.Get(notice.ParameterReason) == string(notice.PreCallFailures) {
			return "precalls"
		}
		return ""
	}
	for name := range query {
		if name != "app" && name != "day" {
			return "search"
		}
	}
	return ""
}
