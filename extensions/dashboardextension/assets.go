package dashboardextension

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/gzipped"
	"github.com/qosrtc/qos/internal/identity/access"
)

//go:embed web
var web embed.FS

// asset is a page or an embedded file, ready to be sent.
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

// serveAssets registers the files that pages load.
func serveAssets(mux *access.Mux) error {
	return fs.WalkDir(web, "web", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || contentTypes[path.Ext(name)] == "" || path.Ext(name) == ".html" {
			return err
		}
		plain, err := web.ReadFile(name)
		if err != nil {
			return fmt.Errorf("embedded file: %w", err)
		}
		a, err := newAsset(path.Ext(name), plain)
		if err != nil {
			return err
		}
		mux.Handle("GET /assets/"+strings.TrimPrefix(name, "web/"), a)
		return nil
	})
}

func newAsset(extension string, plain []byte) (*asset, error) {
	sum := sha256.Sum256(plain)
	zipped, err := gzipped.Bytes(plain, gzip.BestCompression)
	return &asset{
		contentType: contentTypes[extension],
		etag:        `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		plain:       plain,
		gzipped:     zipped,
	}, err
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
	if gzipped.AcceptedBy(r) {
		h.Set("Content-Encoding", "gzip")
		body = a.gzipped
	}
	_, _ = w.Write(body) // the client has left
}
