package dashboardextension

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Budgets of what a browser loads, gzipped: for the pages that draw calls, and for the settings pages beside them.
const (
	maxAssets   = 100 << 10
	maxSettings = 40 << 10
)

// TestEmbed: every asset is there, with its type, and what pages and modules name exists.
func TestEmbed(t *testing.T) {
	base := start(t, &memory{}, nil)
	for file, contentType := range map[string]string{
		"/":                                      "text/html; charset=utf-8",
		"/conference":                            "text/html; charset=utf-8",
		"/unattached":                            "text/html; charset=utf-8",
		"/assets/app.css":                        "text/css; charset=utf-8",
		"/assets/list.css":                       "text/css; charset=utf-8",
		"/assets/conference.css":                 "text/css; charset=utf-8",
		"/assets/settings.css":                   "text/css; charset=utf-8",
		"/assets/icon.svg":                       "image/svg+xml",
		"/assets/js/api.js":                      "text/javascript; charset=utf-8",
		"/assets/js/cause.js":                    "text/javascript; charset=utf-8",
		"/assets/js/charts.js":                   "text/javascript; charset=utf-8",
		"/assets/js/conference.js":               "text/javascript; charset=utf-8",
		"/assets/js/conferences.js":              "text/javascript; charset=utf-8",
		"/assets/js/dom.js":                      "text/javascript; charset=utf-8",
		"/assets/js/entries.js":                  "text/javascript; charset=utf-8",
		"/assets/js/entrylist.js":                "text/javascript; charset=utf-8",
		"/assets/js/format.js":                   "text/javascript; charset=utf-8",
		"/assets/js/head.js":                     "text/javascript; charset=utf-8",
		"/assets/js/issues.js":                   "text/javascript; charset=utf-8",
		"/assets/js/latest.js":                   "text/javascript; charset=utf-8",
		"/assets/js/live.js":                     "text/javascript; charset=utf-8",
		"/assets/js/lowest.js":                   "text/javascript; charset=utf-8",
		"/assets/js/model.js":                    "text/javascript; charset=utf-8",
		"/assets/js/parts.js":                    "text/javascript; charset=utf-8",
		"/assets/js/search.js":                   "text/javascript; charset=utf-8",
		"/assets/js/people.js":                   "text/javascript; charset=utf-8",
		"/assets/js/settings/app.js":             "text/javascript; charset=utf-8",
		"/assets/js/settings/appfields.js":       "text/javascript; charset=utf-8",
		"/assets/js/settings/apps.js":            "text/javascript; charset=utf-8",
		"/assets/js/settings/audit.js":           "text/javascript; charset=utf-8",
		"/assets/js/settings/credentials.js":     "text/javascript; charset=utf-8",
		"/assets/js/settings/deliveries.js":      "text/javascript; charset=utf-8",
		"/assets/js/settings/dialog.js":          "text/javascript; charset=utf-8",
		"/assets/js/settings/draft.js":           "text/javascript; charset=utf-8",
		"/assets/js/settings/fields.js":          "text/javascript; charset=utf-8",
		"/assets/js/settings/manage.js":          "text/javascript; charset=utf-8",
		"/assets/js/settings/perform.js":         "text/javascript; charset=utf-8",
		"/assets/js/settings/sessions.js":        "text/javascript; charset=utf-8",
		"/assets/js/settings/settingsnav.js":     "text/javascript; charset=utf-8",
		"/assets/js/settings/table.js":           "text/javascript; charset=utf-8",
		"/assets/js/settings/users.js":           "text/javascript; charset=utf-8",
		"/assets/js/settings/webhooks.js":        "text/javascript; charset=utf-8",
		"/assets/js/timeline.js":                 "text/javascript; charset=utf-8",
		"/assets/js/unattached.js":               "text/javascript; charset=utf-8",
		"/assets/js/user.js":                     "text/javascript; charset=utf-8",
		"/assets/js/view.js":                     "text/javascript; charset=utf-8",
		"/assets/vendor/uplot/uPlot.iife.min.js": "text/javascript; charset=utf-8",
		"/assets/vendor/uplot/uPlot.min.css":     "text/css; charset=utf-8",
	} {
		status, body, header := get(t, base+file)
		require.Equal(t, http.StatusOK, status, file)
		require.NotEmpty(t, body, file)
		require.Equal(t, contentType, header.Get("Content-Type"), file)
		for _, name := range references(file, body) {
			status, _, _ := get(t, base+name)
			require.Equal(t, http.StatusOK, status, "%s names %s", file, name)
		}
	}
	for route, file := range settingsPages { // they are served with sign-in: tests/signin
		body, err := web.ReadFile("web/" + file)
		require.NoError(t, err)
		named := references(route, string(body))
		require.NotEmpty(t, named, file)
		for _, name := range named {
			status, _, _ := get(t, base+name)
			require.Equal(t, http.StatusOK, status, "%s names %s", file, name)
		}
		status, _, _ := get(t, base+route)
		require.Equal(t, http.StatusNotFound, status, "%s without sign-in", route)
	}
	license, err := web.ReadFile("web/vendor/uplot/LICENSE")
	require.NoError(t, err)
	require.Contains(t, string(license), "MIT")
	status, _, _ := get(t, base+"/assets/vendor/uplot/LICENSE")
	require.Equal(t, http.StatusNotFound, status, "only what pages need is served")
}

var (
	inPages   = regexp.MustCompile(`(?:href|src)="((?:\.\./)?assets/[^"]+)"`)
	inModules = regexp.MustCompile(`from "(\.\.?/[^"]+)"`)
)

// references are the assets that a page or a module names.
func references(file, body string) []string {
	var out []string
	for _, m := range inPages.FindAllStringSubmatch(body, -1) {
		out = append(out, path.Join(path.Dir(file), m[1]))
	}
	for _, m := range inModules.FindAllStringSubmatch(body, -1) {
		out = append(out, path.Join(path.Dir(file), m[1]))
	}
	return out
}

// TestPagesFitTheirPolicy: no inline script or style, nothing from elsewhere, and no way
// for text to become markup.
func TestPagesFitTheirPolicy(t *testing.T) {
	total, settings := 0, 0
	require.NoError(t, fs.WalkDir(web, "web", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || contentTypes[path.Ext(name)] == "" {
			return err
		}
		plain, err := web.ReadFile(name)
		require.NoError(t, err)
		zipped, err := compress(plain, gzip.BestCompression)
		require.NoError(t, err)
		if strings.Contains(name, "settings") {
			settings += len(zipped)
		} else {
			total += len(zipped)
		}
		if strings.Contains(name, "/vendor/") {
			return nil
		}
		for _, banned := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "<style", " style=\"", "javascript:", "onclick=\""} {
			require.NotContains(t, string(plain), banned, name)
		}
		if path.Ext(name) != ".svg" {
			require.NotRegexp(t, `(src|href|from|url\()\s*=?["'(]*https?://`, string(plain), name)
		}
		return nil
	}))
	require.LessOrEqual(t, total, maxAssets, "what a browser loads has grown: drop something, or raise the budget in the same change")
	require.LessOrEqual(t, settings, maxSettings, "what the settings pages load has grown: drop something, or raise the budget in the same change")
	t.Logf("all assets, gzipped: %d bytes, of the settings %d", total, settings)
}

func TestSecurityHeaders(t *testing.T) {
	base := start(t, &memory{}, nil)
	for _, file := range []string{"/", "/conference", "/assets/app.css", "/api/conferences", "/api/conference", "/nothing"} {
		_, _, header := get(t, base+file)
		require.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:")
		require.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
		require.Empty(t, header.Get("Access-Control-Allow-Origin"))
	}
}

func do(t *testing.T, url string, change func(*http.Request)) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	change(req)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	res, err := client.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// TestHost: another name that points here is refused (DNS rebinding).
func TestHost(t *testing.T) {
	base := start(t, &memory{}, func(c *Config) { c.AllowedHosts = []string{"Dash.example.org"} })
	f := func(host string, want int) {
		t.Helper()
		res := do(t, base+"/api/conferences", func(r *http.Request) { r.Host = host })
		require.Equal(t, want, res.StatusCode, host)
	}
	for _, host := range []string{"localhost", "localhost:8481", "LOCALHOST", "localhost.", "127.0.0.1:1", "127.1.2.3", "[::1]:8481", "dash.example.org", "DASH.example.org:443"} {
		f(host, http.StatusOK)
	}
	for _, host := range []string{"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8481", "10.0.0.1", "xdash.example.org"} {
		f(host, http.StatusMisdirectedRequest)
	}
}

func TestCompressionAndCaching(t *testing.T) {
	base := start(t, &memory{}, nil)
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

	c := &memory{}
	twoParty(c)
	answer := do(t, start(t, c, nil)+"/api/conference?app=demo&id=stand+up/1&at=1763702160000", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") })
	require.Equal(t, "gzip", answer.Header.Get("Content-Encoding"))
}
