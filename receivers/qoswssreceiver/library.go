package qoswssreceiver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// libraryAge is the time for which browsers cache the library: its names have no version, and a
// fix has to reach them soon.
const libraryAge = "public, max-age=300"

// contentTypes are those of the library's files, by extension. Other files are not served.
var contentTypes = map[string]string{
	".js":   "text/javascript; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".ts":   "text/plain; charset=utf-8", // a declaration file; the registered type is a video format
	".mts":  "text/plain; charset=utf-8",
	".map":  "application/json",
	".json": "application/json", // the manifest: sizes and integrity hashes
}

// notForBrowsers is for Node only.
const notForBrowsers = "package.json"

// libraryFile is one file, ready to be served.
type libraryFile struct {
	name        string
	contentType string
	etag        string
	encoded     map[coding]func() []byte // computed at its first request
}

// loadLibrary reads the files of a directory.
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
			encoded: make(map[coding]func() []byte, len(codings)),
		})
		for _, c := range codings {
			files[len(files)-1].encoded[c] = sync.OnceValue(func() []byte { return c.encode(plain) })
		}
	}
	return files, nil
}

// ServeHTTP serves the file; http.ServeContent evaluates conditions and ranges.
func (f *libraryFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", libraryAge)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	c, ok := preferredCoding(strings.Join(r.Header.Values("Accept-Encoding"), ","))
	if !ok {
		http.Error(w, "the library is served as br, gzip and identity", http.StatusNotAcceptable)
		return
	}
	if r.Header.Get("Range") != "" { // http.ServeContent counts bytes of the encoded body
		c = codingIdentity
	}
	f.serve(w, r, c)
}

// serve serves the file in a coding, or plain if that failed.
func (f *libraryFile) serve(w http.ResponseWriter, r *http.Request, c coding) {
	h, body := w.Header(), f.encoded[c]()
	if body == nil {
		c, body = codingIdentity, f.encoded[codingIdentity]()
	}
	etag := f.etag
	if c != codingIdentity {
		etag += "-" + string(c)
		h.Set("Content-Encoding", string(c))
		h.Set("Content-Length", strconv.Itoa(len(body))) // http.ServeContent omits it
	}
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(body))
}
