package readapi

import (
	_ "embed"
	"net/http"
)

// openAPI is the description of the read API (OpenAPI 3.1). TestOpenAPI writes it from the types of the answers.
//
//go:embed openapi.json
var openAPI []byte

func showOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(openAPI) // the client has left
}
