package readapi

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/gzipped"
	"github.com/qosrtc/qos/extensions/dashboardextension/internal/hours"
	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
	"github.com/qosrtc/qos/storage"
)

const (
	// readTimeout ends a request whose store does not answer, before the server's own
	// write timeout cuts it without a word.
	readTimeout = 20 * time.Second
	// compressFrom is the body size that is worth compressing.
	compressFrom = 1 << 10
)

// API answers what pages and programs ask. Its methods may be called at the same time.
type API struct {
	reader    storage.Reader
	showNames bool // to every reader, without sign-in
	open      bool // there is no sign-in: all who reach the endpoint read
	mcp       bool
	keeper    Keeper
	userIDs   userIDs
	log       *zap.Logger
	telemetry *metadata.TelemetryBuilder
	now       func() time.Time
	room      room          // of what is read
	comparing chan struct{} // taken by comparisons
	soFar     *soFar
	hours     *hours.Hours
	live      *live

	ending     chan struct{} // closed when streams have to end
	endStreams sync.Once
}

// Texts of refusals.
const (
	textNotFound = "There is no conference of this app and id at this time."
	textBusy     = "Others read large conferences. Try again in some seconds."
	textUnread   = "The store could not be read. The collector's log says why."
)

// badParameter is a fault of the request, safe to be shown.
type badParameter struct{ field, message string }

func (e *badParameter) Error() string { return e.field + " " + e.message }

// answer is the body of a refusal.
type answer struct {
	Error answerError `json:"error"`
}

type answerError struct {
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// serve turns a question into a handler: the one place that maps errors to answers.
func (a *API) serve(ask func(context.Context, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
		defer cancel()
		ctx, end := a.room.charged(ctx)
		defer end()
		result, err := ask(ctx, r)
		var bad *badParameter
		switch {
		case err == nil:
			a.answer(w, r, http.StatusOK, result, end)
		case errors.As(err, &bad):
			a.telemetry.QosdashboardRejectedRequests.Add(ctx, 1, reasonParameter)
			a.write(w, r, http.StatusBadRequest, answer{answerError{Message: bad.Error(), Field: bad.field}})
		case errors.Is(err, storage.ErrNotFound):
			a.write(w, r, http.StatusNotFound, answer{answerError{Message: textNotFound}})
		case errors.Is(err, errBusy):
			a.telemetry.QosdashboardRejectedRequests.Add(ctx, 1, reasonBusy)
			w.Header().Set("Retry-After", "5")
			a.write(w, r, http.StatusServiceUnavailable, answer{answerError{Message: textBusy}})
		case r.Context().Err() != nil: // nobody reads the answer
		default:
			a.telemetry.QosdashboardStoreErrors.Add(ctx, 1)
			a.log.Error("The store could not be read", zap.String("path", r.URL.Path), zap.Error(err))
			a.write(w, r, http.StatusInternalServerError, answer{answerError{Message: textUnread}})
		}
	}
}

// plainText is a body that is text.
type plainText string

// encode returns a body and its media type.
func encode(body any) (plain []byte, contentType string, err error) {
	if text, ok := body.(plainText); ok {
		return []byte(text), "text/plain; charset=utf-8", nil
	}
	plain, err = json.Marshal(body)
	return plain, "application/json", err
}

func (a *API) write(w http.ResponseWriter, r *http.Request, status int, body any) {
	a.answer(w, r, status, body, func() {})
}

// answer writes an answer. It calls encoded when only its bytes are left.
func (a *API) answer(w http.ResponseWriter, r *http.Request, status int, body any, encoded func()) {
	plain, contentType, err := encode(body)
	if err != nil {
		a.log.Error("An answer could not be written as JSON", zap.String("path", r.URL.Path), zap.Error(err))
		http.Error(w, `{"error":{"message":"The answer could not be written."}}`, http.StatusInternalServerError)
		return
	}
	var small []byte
	if len(plain) >= compressFrom && gzipped.AcceptedBy(r) {
		small, _ = gzipped.Bytes(plain, gzip.BestSpeed) // writing to memory does not fail
	}
	encoded()
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	if small != nil {
		h.Set("Content-Encoding", "gzip")
	}
	w.WriteHeader(status)
	if small != nil {
		plain = small
	}
	_, _ = w.Write(plain) // the client has left
}
