package qoswssreceiver

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/client"
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

	get := func(headers ...string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, "/qos.min.js", http.NoBody)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		files[2].ServeHTTP(w, r)
		require.Equal(t, "Accept-Encoding", w.Result().Header.Get("Vary"))
		return w.Result()
	}
	etags := map[string]bool{}
	for accept, want := range map[string]coding{"br;q=0, gzip;q=0": codingIdentity, "gzip, deflate": codingGzip, "gzip, deflate, br, zstd": codingBrotli} {
		resp := get("Accept-Encoding", accept)
		sent, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, "var qos", string(decoded(t, want, sent)), accept)
		require.Equal(t, libraryAge, resp.Header.Get("Cache-Control"))
		require.Equal(t, "text/javascript; charset=utf-8", resp.Header.Get("Content-Type"))
		require.Equal(t, strconv.Itoa(len(sent)), resp.Header.Get("Content-Length"))
		require.Equal(t, want == codingIdentity, resp.Header.Get("Content-Encoding") == "")
		require.Equal(t, want != codingIdentity, resp.Header.Get("Content-Encoding") == string(want))
		etag := resp.Header.Get("ETag")
		require.False(t, etags[etag], "each coding has its own")
		etags[etag] = true
		require.Equal(t, http.StatusNotModified, get("Accept-Encoding", accept, "If-None-Match", etag).StatusCode)
		require.Equal(t, http.StatusOK, get("Accept-Encoding", accept, "If-None-Match", `"other"`).StatusCode)
	}
	require.Equal(t, http.StatusNotAcceptable, get("Accept-Encoding", "identity;q=0").StatusCode)
	require.Equal(t, "br", get("Accept-Encoding", "gzip", "Accept-Encoding", "br").Header.Get("Content-Encoding"), "two lines")

	part := get("Accept-Encoding", "br", "Range", "bytes=4-6")
	require.Equal(t, http.StatusPartialContent, part.StatusCode)
	body, err := io.ReadAll(part.Body)
	require.NoError(t, err)
	require.Equal(t, "qos", string(body))
	require.Equal(t, "3", part.Header.Get("Content-Length"))
}

// decoded undoes a coding.
func decoded(t *testing.T, c coding, sent []byte) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(sent)
	switch c {
	case codingGzip:
		unpacked, err := gzip.NewReader(r)
		require.NoError(t, err)
		r = unpacked
	case codingBrotli:
		r = brotli.NewReader(r)
	case codingIdentity:
	}
	plain, err := io.ReadAll(r)
	require.NoError(t, err)
	return plain
}

// The library as it is built is smaller in each coding than in the one before, and decodes to
// what its integrity hash is of.
//
// spec: SRV-01
func TestLibraryIsServedCompressed(t *testing.T) {
	c := startCollector(t)
	want, err := client.Dist.ReadFile("dist/qos.min.js")
	require.NoError(t, err)
	size := len(want)
	for _, accept := range []coding{codingGzip, codingBrotli} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+"qos.min.js", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Accept-Encoding", string(accept))
		resp, err := c.client.Do(req)
		require.NoError(t, err)
		sent, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, decoded(t, accept, sent))
		require.EqualValues(t, len(sent), resp.ContentLength)
		require.Less(t, len(sent), size)
		size = len(sent)
	}
}

func TestAcceptable(t *testing.T) {
	for header, want := range map[string]coding{
		"": codingIdentity, "br": codingBrotli, "BR": codingBrotli, "gzip": codingGzip, "GZIP": codingGzip, "gzip, br": codingBrotli, "br, gzip": codingBrotli,
		"gzip;q=1, br;q=1.0": codingBrotli, "br;q=0.5, gzip": codingGzip, "br, gzip;q=0.5": codingBrotli, "br;q=0, gzip;q=0.001": codingGzip,
		"gzip;q=0": codingIdentity, "gzip;q=0.0": codingIdentity, "gzip; q=0.01": codingGzip, "gzip ; Q=0.01": codingGzip, "x-gzip": codingIdentity, "deflate, zstd": codingIdentity,
		"*": codingBrotli, "*;q=0.1, br;q=0": codingGzip, "identity, br;q=0.9": codingIdentity, "identity;q=0.5, gzip;q=0.5": codingGzip,
		"identity;q=0, gzip": codingGzip, "*;q=0, gzip": codingGzip, "*;q=0, identity": codingIdentity, "br;q=x, gzip": codingGzip, "br;q=2": codingIdentity,
		"br;level=5": codingIdentity, ",, ;": codingIdentity, "br;q=NaN": codingIdentity,
	} {
		got, ok := preferredCoding(header)
		require.True(t, ok, header)
		require.Equal(t, want, got, header)
	}
	for _, header := range []string{"identity;q=0", "*;q=0", "br;q=0, gzip;q=0, identity;q=0", "deflate, identity;q=0"} {
		_, ok := preferredCoding(header)
		require.False(t, ok, header)
	}
}
