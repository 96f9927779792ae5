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
	encoded     map[coding]func() []byte // made once, when it is first asked for
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
			encoded: make(map[coding]func() []byte, len(codings)),
		})
		for _, c := range codings {
			files[len(files)-1].encoded[c] = sync.OnceValue(func() []byte { return c.encode(plain) })
		}
	}
	return files, nil
}

// ServeHTTP serves the file; http.ServeContent answers conditions and ranges.
func (f *libraryFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", libraryAge)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	c, ok := acceptable(strings.Join(r.Header.Values("Accept-Encoding"), ","))
	if !ok {
		http.Error(w, "the library is served as br, gzip and identity", http.StatusNotAcceptable)
		return
	}
	if r.Header.Get("Range") != "" { // of the file itself, as http.ServeContent counts
		c = identity
	}
	f.serve(w, r, c)
}

// serve serves the file in a coding, or plain where it could not be made.
func (f *libraryFile) serve(w http.ResponseWriter, r *http.Request, c coding) {
	h, body := w.Header(), f.encoded[c]()
	if body == nil {
		c, body = identity, f.encoded[identity]()
	}
	etag := f.etag
	if c != identity {
		etag += "-" + string(c)
		h.Set("Content-Encoding", string(c))
		h.Set("Content-Length", strconv.Itoa(len(body))) // http.ServeContent leaves it out
	}
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(body))
}
