package scenario

import (
	"embed"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	library "github.com/qosrtc/qos/client"
)

//go:embed page.html livekit.js janus.js
var pages embed.FS

// modules is the folder of npm's modules, as seen from a package below tests.
var modules = filepath.Join("..", "..", "client", "node_modules")

// Stage serves the participants' page, the library and the signalling between pages.
type Stage struct {
	URL     string // of the participants' page; an origin of the app "demo" with the secret "demo-secret"
	Backend string // base URL of the receiver
}

// NewStage starts a stage for calls that a receiver monitors.
func NewStage(t *testing.T, backend string) *Stage {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		http.ServeFileFS(w, r, pages, "page.html")
	})
	mux.Handle("GET /livekit.js", http.FileServerFS(pages))
	mux.Handle("GET /janus.js", http.FileServerFS(pages))
	mux.Handle("GET /sdk/", http.StripPrefix("/sdk/", http.FileServer(http.Dir(modules))))
	mux.Handle("GET /dist/", http.FileServerFS(library.Dist))
	mux.Handle("/signal", new(mailboxes))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &Stage{URL: server.URL, Backend: backend}
}

// mailboxes carry the messages of the signalling by recipient.
type mailboxes struct {
	mu    sync.Mutex
	boxes map[string][]json.RawMessage
}

// ServeHTTP implements http.Handler.
func (m *mailboxes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Method == http.MethodPost {
		var message json.RawMessage
		if json.NewDecoder(r.Body).Decode(&message) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if m.boxes == nil {
			m.boxes = make(map[string][]json.RawMessage)
		}
		m.boxes[query.Get("to")] = append(m.boxes[query.Get("to")], message)
		return
	}
	after, _ := strconv.Atoi(query.Get("after"))
	box := m.boxes[query.Get("me")]
	_ = json.NewEncoder(w).Encode(append([]json.RawMessage{}, box[min(after, len(box)):]...))
}
