package gzipped

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// RFC 9110, 12.5.3: a coding with the weight 0 is not acceptable.
func TestAcceptedBy(t *testing.T) {
	f := func(accepted string, want bool) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accepted)
		require.Equal(t, want, AcceptedBy(r), accepted)
	}
	f("", false)
	f("gzip", true)
	f("br, GZIP;q=0.5", true)
	f("deflate,gzip", true)
	f("gzip;q=0", false)
	f("br, xgzip, ;;", false)
}

func TestBytes(t *testing.T) {
	want := bytes.Repeat([]byte("qos "), 1000)
	small, err := Bytes(want, gzip.BestSpeed)
	require.NoError(t, err)
	require.Less(t, len(small), len(want)/10)
	r, err := gzip.NewReader(bytes.NewReader(small))
	require.NoError(t, err)
	have, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, want, have)
	_, err = Bytes(want, 10)
	require.Error(t, err)
}
