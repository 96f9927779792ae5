package qoswssreceiver

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// libraryAge is how long browsers keep the library without asking: the names carry no
// version, so a fix must come through soon.
const libraryAge = "public, max-age=300"

// contentTypes of the library's files, by the end of their names. What is not listed is
// not served.
var contentTypes = map[string]string{
	".js":   "text/javascript; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".ts":   "text/plain; charset=utf-8", // a declaration file; the registered type is a video format
	".mts":  "text/plain; charset=utf-8",
	".map":  "application/json",
	".json": "application/json", // the manifest: sizes and integrity hashes
}

// notForBrowsers is for Node, which reads it beside the files.
const notForBrowsers = "package.json"

// libraryFile is one file, ready to be served.
type libraryFile struct {
	name        string
	contentType string
	etag        string
	plain       []byte
	gzipped     func() []byte // made when it is first asked for; nil where it cannot be
}

// loadLibrary reads the files of dir.
func loadLibrary(fsys fs.FS, dir string) ([]*libraryFile, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var files []*libraryFile
	for _, entry := range entries {
		contentType, ok := contentTypes[path.Ext(entry.Name())]
		if !ok || entry.IsDir() || entry.Name() == notForBrowsers {
			continue
		}
		plain, err := fs.ReadFile(fsys, path.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(plain)
		files = append(files, &libraryFile{
			name: entry.Name(), contentType: contentType, etag: hex.EncodeToString(sum[:8]),
			plain: plain, gzipped: sync.OnceValue(func() []byte { return compress(plain) }),
		})
	}
	return files, nil
}

func compress(plain []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil
	}
	_, err = w.Write(plain)
	if errors.Join(err, w.Close()) != nil {
		return nil
	}
	return out.Bytes()
}

// ServeHTTP serves the file; http.ServeContent answers conditions and ranges.
func (f *libraryFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", libraryAge)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	body, etag := f.plain, f.etag
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		if gzipped := f.gzipped(); gzipped != nil {
			h.Set("Content-Encoding", "gzip")
			body, etag = gzipped, etag+"-gzip"
		}
	}
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(body))
}

// acceptsGzip reads Accept-Encoding as far as browsers use it: a list, with q=0 for what
// is not wanted.
func acceptsGzip(header string) bool {
	for item := range strings.SplitSeq(header, ",") {
		coding, quality, _ := strings.Cut(strings.TrimSpace(item), ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			return strings.Trim(strings.TrimSpace(quality), "q=0. ") != "" || quality == ""
		}
	}
	return false
}
