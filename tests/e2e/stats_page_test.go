package e2e

import (
	"net/http"
	"net/http/httptest"
	"testing"

	library "github.com/qosrtc/qos/client"
)

// startStatsPages serves the page of known sources and the library as it ships.
func startStatsPages(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir("testdata")))
	mux.Handle("GET /dist/", http.FileServerFS(library.Dist))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}
