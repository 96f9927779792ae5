package readapi

import (
	"compress/gzip"
	_ "embed"
	"net/http"
	"sync"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/gzipped"
)

// openAPI is the description of the read API (OpenAPI 3.1). TestOpenAPI writes it: schemas from the types of the answers,
// descriptions from the comments of their fields, examples from answers of a test store (docs/adr/0039).
//
//go:embed openapi.json
var openAPI []byte

// smallOpenAPI is the same, compressed at the first request.
var smallOpenAPI = sync.OnceValue(func() []byte {
	small, _ := gzipped.Bytes(openAPI, gzip.BestCompression) // the level exists
	return small
})

func showOpenAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Vary", "Accept-Encoding")
	body := openAPI
	if gzipped.AcceptedBy(r) {
		w.Header().Set("Content-Encoding", "gzip")
		body = smallOpenAPI()
	}
	_, _ = w.Write(body) // the client has left
}
