package dashboardextension

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/qosrtc/qos/internal/access"
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
	gzipped, err := compress(plain, gzip.BestCompression)
	return &asset{
		contentType: contentTypes[extension],
		etag:        `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		plain:       plain,
		gzipped:     gzipped,
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
