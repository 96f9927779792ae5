package dashboardextension

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/qosrtc/qos/internal/access"
)

//go:embed web
var web embed.FS

// asset is one embedded file, ready to be sent.
type asset struct {
	contentType string
	etag        string
	plain       []byte
	gzipped     []byte
}

// contentTypes are fixed: mime.TypeByExtension depends on the machine.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// pages are the files of the pages that draw calls, by path.
var pages = map[string]string{ //nolint:gochecknoglobals // a constant
	"/{$}": "index.html", "/search": "index.html", "/conference": "conference.html", "/unattached": "unattached.html",
}

// settingsPages are those of the pages that draw settings. They need sign-in.
var settingsPages = map[string]string{ //nolint:gochecknoglobals // a constant
	pathSettings: "settings.html", pathSettings + "/app": "settings-app.html", pathSettings + "/users": "settings-users.html", pathSettings + "/audit": "settings-audit.html",
}

// pathSettings is the path of the first settings page.
const pathSettings = "/settings"

// servePages registers the pages and what they load.
func servePages(mux *access.Mux, signIn bool) error {
	served := maps.Clone(pages)
	if signIn {
		maps.Copy(served, settingsPages)
	}
	for route, file := range served {
		a, err := newAsset(path.Join("web", file))
		if err != nil {
			return err
		}
		mux.Handle("GET "+route, a)
	}
	return fs.WalkDir(web, "web", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || contentTypes[path.Ext(name)] == "" || path.Ext(name) == ".html" {
			return err
		}
		a, err := newAsset(name)
		if err != nil {
			return err
		}
		mux.Handle("GET /assets/"+strings.TrimPrefix(name, "web/"), a)
		return nil
	})
}

func newAsset(name string) (*asset, error) {
	plain, err := web.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("embedded page: %w", err)
	}
	sum := sha256.Sum256(plain)
	a := &asset{
		contentType: contentTypes[path.Ext(name)],
		etag:        `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		plain:       plain,
	}
	a.gzipped, err = compress(plain, gzip.BestCompression)
	return a, err
}

func (a *asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", a.contentType)
	body := a.plain
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = a.gzipped
	}
	_, _ = w.Write(body) // the client has left
}

func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, err := mime.ParseMediaType(strings.TrimSpace(coding))
		if err == nil && name == "gzip" && params["q"] != "0" {
			return true
		}
	}
	return false
}

func compress(plain []byte, level int) ([]byte, error) {
	var b bytes.Buffer
	zw, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	if _, err := zw.Write(plain); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
