package dashboardextension

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/gzipped"
	"github.com/qosrtc/qos/internal/call/notice"
)

// maxPage is the budget of what a browser loads for one page, gzipped: the page itself and all that it names.
const maxPage = 110_000

// rendered returns each page as it is served, by its path, which begins with a slash.
func rendered(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, p := range pages {
		body, err := p.html()
		require.NoError(t, err, p.name)
		all["/"+p.path] = string(body)
	}
	return all
}

// TestEmbed: every page is served, with what it loads, and nothing else is.
func TestEmbed(t *testing.T) {
	base := start(t, nil)
	loaded := map[string]bool{}
	for route, body := range rendered(t) {
		status, served, header := get(t, base+route)
		if strings.HasPrefix(route, pathSettings) { // with sign-in: tests/signin
			require.Equal(t, http.StatusNotFound, status, "%s without sign-in", route)
		} else {
			require.Equal(t, http.StatusOK, status, route)
			require.Equal(t, body, served, route)
			require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"), route)
		}
		for _, file := range loads(t, route, body) {
			loaded[file] = true
		}
	}
	require.NoError(t, fs.WalkDir(web, "web", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contentType := contentTypes[path.Ext(name)]
		file := strings.Replace(name, "web/", "/assets/", 1)
		status, body, header := get(t, base+file)
		switch {
		case contentType == "" || path.Ext(name) == ".html":
			require.Equal(t, http.StatusNotFound, status, "only what pages load is served: %s", file)
		default:
			require.Equal(t, http.StatusOK, status, file)
			require.NotEmpty(t, body, file)
			require.Equal(t, contentType, header.Get("Content-Type"), file)
			require.True(t, loaded[file], "no page loads %s", file)
		}
		return nil
	}))
	license, err := web.ReadFile("web/vendor/uplot/LICENSE")
	require.NoError(t, err)
	require.Contains(t, string(license), "MIT")
}

var (
	inPages   = regexp.MustCompile(`(?:href|src)="((?:\.\.?/)+assets/[^"]+)"`)
	inModules = regexp.MustCompile(`from "(\.\.?/[^"]+)"`)
)

// loads returns all assets that a page loads, each once; every one of them exists.
func loads(t *testing.T, route, body string) (all []string) {
	t.Helper()
	all = references(inPages, route, body)
	require.NotEmpty(t, all, route)
	for i := 0; i < len(all); i++ {
		text, err := web.ReadFile(strings.Replace(all[i], "/assets/", "web/", 1))
		require.NoError(t, err, "%s loads %s", route, all[i])
		for _, one := range references(inModules, all[i], string(text)) {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// references are the assets that a page or a module names.
func references(pattern *regexp.Regexp, file, body string) (out []string) {
	for _, m := range pattern.FindAllStringSubmatch(body, -1) {
		out = append(out, path.Join(path.Dir(file), m[1]))
	}
	return out
}

// Each page has the frame: its title, where its skip link leads, the links of the header with the one that is open, by
// relative addresses, because a proxy may serve the dashboard below a path.
func TestFrame(t *testing.T) {
	for route, body := range rendered(t) {
		require.Regexp(t, `<title>[A-Z][^<]* · qos</title>`, body, route)
		require.Equal(t, 1, strings.Count(body, `id="main"`), route)
		require.Contains(t, body, `href="#main">Skip to the `, route)
		require.NotRegexp(t, `(href|src)="/`, body, route)
		require.NotContains(t, body, "ZgotmplZ", route)
	}
	all := rendered(t)
	require.Contains(t, all["/unattached"], `<a href="./search" data-need="calls">Conferences</a><a href="./changes" data-need="calls">What changed</a><a href="./precalls" data-need="calls">Pre-call tests</a><a href="./unattached" data-need="calls" aria-current="page">Unattached</a><a href="./settings" data-need="settings" hidden>Settings</a>`)
	require.Contains(t, all["/settings/app"], `<a href="./../search" data-need="calls" hidden>Conferences</a>`)
	require.Contains(t, all["/settings/app"], `<a href="./../settings" data-need="settings" aria-current="page">Settings</a>`)
	require.NotContains(t, all["/conference"], "aria-current")
}

// Links that had a search at the first page open it.
//
// spec: DASH-01
func TestFirstPage(t *testing.T) {
	base := start(t, nil)
	f := func(query string, want int, location string) {
		t.Helper()
		res := do(t, base+"/?"+query, func(r *http.Request) {})
		require.Equal(t, want, res.StatusCode, query)
		require.Equal(t, location, res.Header.Get("Location"))
	}
	for _, query := range []string{"", "app=shop", "day=2026-03-09&app=shop"} {
		f(query, http.StatusOK, "")
	}
	for _, query := range []string{"q=ann", "app=shop&from=1&to=2", "cursor=x", "user=a%20b%26c"} {
		f(query, http.StatusFound, "search?"+query)
	}
}

// Links of notifications lead to a page.
//
// spec: DASH-01
func TestLinksOfNotifications(t *testing.T) {
	base := start(t, nil)
	rules := notice.DefaultRules()
	for _, reason := range notice.Reasons {
		link := notice.Interval(notice.Change{AppID: "demo", Reason: reason, Rule: rules.Of(reason), From: time.UnixMilli(1), To: time.UnixMilli(2)}, base).URL
		require.True(t, strings.HasPrefix(link, base+"/search?"), link)
		res := do(t, link, func(*http.Request) {})
		if reason != notice.PreCallFailures {
			require.Equal(t, http.StatusOK, res.StatusCode, reason)
			continue
		}
		require.Equal(t, http.StatusFound, res.StatusCode, "it has a list of its own")
		require.Equal(t, "precalls"+strings.TrimPrefix(link, base+"/search"), res.Header.Get("Location"))
		status, _, _ := get(t, base+"/"+res.Header.Get("Location"))
		require.Equal(t, http.StatusOK, status)
	}
	status, _, _ := get(t, notice.AppURL("a b&c", base))
	require.Equal(t, http.StatusOK, status, "of a test")
}

// TestPageWeight: what a browser loads for a page is within the budget.
func TestPageWeight(t *testing.T) {
	for route, body := range rendered(t) {
		total := zipped(t, []byte(body))
		for _, file := range loads(t, route, body) {
			text, err := web.ReadFile(strings.Replace(file, "/assets/", "web/", 1))
			require.NoError(t, err)
			total += zipped(t, text)
		}
		require.LessOrEqual(t, total, maxPage, "what a browser loads for %s has grown: drop something, or raise the budget in the same change", route)
		t.Logf("%s: %d bytes gzipped", route, total)
	}
}

func zipped(t *testing.T, plain []byte) int {
	t.Helper()
	b, err := gzipped.Bytes(plain, gzip.BestCompression)
	require.NoError(t, err)
	return len(b)
}

// TestPagesFitTheirPolicy: no inline script or style, nothing from elsewhere, and no way
// for text to become markup.
func TestPagesFitTheirPolicy(t *testing.T) {
	require.NoError(t, fs.WalkDir(web, "web", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || contentTypes[path.Ext(name)] == "" || strings.Contains(name, "/vendor/") {
			return err
		}
		plain, err := web.ReadFile(name)
		require.NoError(t, err)
		for _, banned := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "<style", " style=\"", "javascript:", "onclick=\""} {
			require.NotContains(t, string(plain), banned, name)
		}
		if path.Ext(name) != ".svg" {
			require.NotRegexp(t, `(src|href|from|url\()\s*=?["'(]*https?://`, string(plain), name)
		}
		return nil
	}))
}

func TestSecurityHeaders(t *testing.T) {
	base := start(t, nil)
	for _, file := range []string{"/", "/conference", "/assets/app.css", "/api/conferences", "/api/conference", "/nothing"} {
		_, _, header := get(t, base+file)
		require.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:")
		require.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
		require.Empty(t, header.Get("Access-Control-Allow-Origin"))
	}
}

// TestHost: another name that points here is refused (DNS rebinding).
func TestHost(t *testing.T) {
	base := start(t, func(c *Config) { c.AllowedHosts = []string{"Dash.example.org"} })
	f := func(host string, want int) {
		t.Helper()
		for _, route := range []string{"/", "/api/conferences", "/api/live"} {
			res := do(t, base+route, func(r *http.Request) { r.Host = host })
			require.Equal(t, want, res.StatusCode, "%s of %s", route, host)
		}
	}
	for _, host := range []string{"localhost", "localhost:8481", "LOCALHOST", "localhost.", "127.0.0.1:1", "127.1.2.3", "[::1]:8481", "dash.example.org", "DASH.example.org:443"} {
		f(host, http.StatusOK)
	}
	for _, host := range []string{"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8481", "10.0.0.1", "xdash.example.org"} {
		f(host, http.StatusMisdirectedRequest)
	}
}

func TestCompressionAndCaching(t *testing.T) {
	base := start(t, nil)
	plain := do(t, base+"/assets/app.css", func(r *http.Request) { r.Header.Set("Accept-Encoding", "br, gzip;q=0") })
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	want, err := io.ReadAll(plain.Body)
	require.NoError(t, err)

	zipped := do(t, base+"/assets/app.css", func(r *http.Request) { r.Header.Set("Accept-Encoding", "deflate, gzip") })
	require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
	body, err := io.ReadAll(zipped.Body)
	require.NoError(t, err)
	require.Less(t, len(body), len(want)/2)
	reader, err := gzip.NewReader(bytes.NewReader(body))
	require.NoError(t, err)
	have, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, want, have)

	again := do(t, base+"/assets/app.css", func(r *http.Request) { r.Header.Set("If-None-Match", plain.Header.Get("ETag")) })
	require.Equal(t, http.StatusNotModified, again.StatusCode)
}
