package scenario

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Records receives what a collector's receiver emits, as OTLP over HTTP in JSON, and keeps it by conference ID.
type Records struct {
	URL string // for logs_endpoint of an otlp_http exporter with encoding json and without compression

	mu    sync.Mutex
	rooms map[string][]plog.Logs
}

// StartRecords starts a server, which ends with the test.
func StartRecords(t *testing.T) *Records {
	t.Helper()
	r := &Records{rooms: map[string][]plog.Logs{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP implements http.Handler.
func (s *Records) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var form plog.JSONUnmarshaler
	body, err := io.ReadAll(r.Body)
	var logs plog.Logs
	if err == nil {
		logs, err = form.UnmarshalLogs(body)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for room := range conferences(logs) {
		s.rooms[room] = append(s.rooms[room], logs)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct{}{})
}

// conferences returns the conference IDs of the records, each once.
func conferences(logs plog.Logs) map[string]bool {
	rooms := map[string]bool{}
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			if scope.LogRecords().Len() > 0 {
				rooms[eventlog.Text(scope.Scope().Attributes(), semconv.ConferenceID)] = true
			}
		}
	}
	return rooms
}

// Of returns the batches of a conference in the order in which they arrived.
func (s *Records) Of(room string) []plog.Logs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rooms[room])
}

// EachRecord calls do for each record with the ID of its user.
func EachRecord(logs plog.Logs, do func(user string, r plog.LogRecord)) {
	for _, resource := range logs.ResourceLogs().All() {
		user := eventlog.Text(resource.Resource().Attributes(), semconv.UserID)
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				do(user, record)
			}
		}
	}
}
