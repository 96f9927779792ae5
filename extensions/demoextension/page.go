package demoextension

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
)

// files contains the page: plain HTML, CSS and JavaScript, served unchanged.
//
//go:embed page
var files embed.FS

// page serves the demo application.
type page struct {
	index  []byte
	config []byte
	policy string
	assets http.Handler
}

func newPage(cfg *Config) (*page, error) {
	backend := strings.TrimSuffix(cfg.BackendURL, "/")
	u, err := url.Parse(backend)
	if err != nil {
		return nil, err
	}
	assets, err := fs.Sub(files, "page")
	if err != nil {
		return nil, err
	}
	index, err := renderIndex(assets, backend)
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]string{"appID": cfg.AppID, "appSecret": string(cfg.AppSecret)})
	if err != nil {
		return nil, err
	}
	return &page{index: index, config: config, policy: contentPolicy(u), assets: http.FileServerFS(assets)}, nil
}

// renderIndex puts the library's URL into the page, as in an application's own page.
func renderIndex(assets fs.FS, backend string) ([]byte, error) {
	t, err := template.ParseFS(assets, "index.html")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]string{"Library": backend + "/qos.min.js"})
	return b.Bytes(), err
}

// contentPolicy allows the page's own files and the back-end, and nothing inline.
func contentPolicy(backend *url.URL) string {
	origin := backend.Scheme + "://" + backend.Host
	socket := strings.Replace(origin, "http", "ws", 1)
	return fmt.Sprintf("default-src 'none'; script-src 'self' %s; worker-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self' %s %s; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", origin, origin, socket)
}

func (p *page) register(mux *http.ServeMux) {
	mux.Handle("GET /{$}", p.withHeaders(serveBytes("text/html; charset=utf-8", p.index)))
	mux.Handle("GET /config.json", p.withHeaders(serveBytes("application/json", p.config)))
	mux.Handle("GET /index.html", http.RedirectHandler("/", http.StatusFound)) // the file is a template
	mux.Handle("GET /", p.withHeaders(p.assets))
}

// withHeaders sets no Referrer-Policy: no-referrer would turn the Origin of the library's
// beacons into null.
func (p *page) withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", p.policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}

func serveBytes(contentType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body) // the browser may have closed the connection
	})
}
