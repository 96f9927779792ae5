package qoswssreceiver

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// spec: SRV-01
func TestLibraryFile(t *testing.T) {
	files, err := loadLibrary(fstest.MapFS{
		"dist/qos.min.js":    {Data: []byte("var qos")},
		"dist/qos.d.ts":      {Data: []byte("declare")},
		"dist/manifest.json": {Data: []byte("{}")},
		"dist/package.json":  {Data: []byte("not served")},
		"dist/README.md":     {Data: []byte("not served")},
		"src/secret.js":      {Data: []byte("not served")},
	}, "dist")
	require.NoError(t, err)
	require.Len(t, files, 3)
	require.Equal(t, "application/json", files[0].contentType)
	require.Equal(t, "text/plain; charset=utf-8", files[1].contentType)

	get := func(header, value string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, "/qos.min.js", http.NoBody)
		r.Header.Set(header, value)
		w := httptest.NewRecorder()
		files[2].ServeHTTP(w, r)
		return w.Result()
	}
	plain := get("Accept-Encoding", "br, gzip;q=0")
	body, err := io.ReadAll(plain.Body)
	require.NoError(t, err)
	require.Equal(t, "var qos", string(body))
	require.Equal(t, "text/javascript; charset=utf-8", plain.Header.Get("Content-Type"))
	require.Equal(t, libraryAge, plain.Header.Get("Cache-Control"))
	require.Equal(t, http.StatusNotModified, get("If-None-Match", plain.Header.Get("ETag")).StatusCode)

	packed := get("Accept-Encoding", "gzip, deflate, br")
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.NotEqual(t, plain.Header.Get("ETag"), packed.Header.Get("ETag"))
	unpacked, err := gzip.NewReader(packed.Body)
	require.NoError(t, err)
	body, err = io.ReadAll(unpacked)
	require.NoError(t, err)
	require.Equal(t, "var qos", string(body))
}

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "br": false, "gzip": true, "GZIP": true, "br, gzip;q=0.5": true, "gzip;q=1": true,
		"gzip;q=0": false, "gzip;q=0.0": false, "gzip; q=0.01": true, "x-gzip": false,
	} {
		require.Equal(t, want, acceptsGzip(header), header)
	}
}
