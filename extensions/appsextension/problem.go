package appsextension

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/storage"
)

// problem is a refusal as RFC 9457 writes it. Field, limit and got are there where one
// member of a body is wrong.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty"`
	Limit  string `json:"limit,omitempty"`
	Got    string `json:"got,omitempty"`
}

// Error implements error.
func (p *problem) Error() string { return p.Detail }

func newProblem(status int, format string, args ...any) *problem {
	return &problem{Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// problemOf says what an error is to the client, and whether that is a failure of ours,
// whose cause stands in the log.
func problemOf(err error) (p *problem, failed bool) {
	var fault *app.Fault
	switch {
	case errors.As(err, &p):
		return p, false
	case errors.As(err, &fault):
		p = newProblem(http.StatusUnprocessableEntity, "%s", fault)
		p.Field, p.Limit, p.Got = fault.Field, "must "+fault.Limit, fault.Got
		return p, false
	case errors.Is(err, app.ErrNoJSON):
		return newProblem(http.StatusBadRequest, "%s", err), false
	case errors.Is(err, storage.ErrNoSetting):
		return newProblem(http.StatusNotFound, "there is no app of this id"), false
	case errors.Is(err, app.ErrNoCredential), errors.Is(err, app.ErrNoWebhook):
		return newProblem(http.StatusNotFound, "%s", err), false
	case errors.Is(err, storage.ErrConflict):
		return newProblem(http.StatusPreconditionFailed, "the app has changed meanwhile, or is there or gone: read it again"), false
	case errors.Is(err, storage.ErrFull):
		return newProblem(http.StatusConflict, "the store takes no more than %d apps", storage.MaxSettings), false
	case errors.Is(err, errUnreadable):
		return newProblem(http.StatusInternalServerError, "the app's document in the store cannot be read; the collector's log says why"), true
	}
	return newProblem(http.StatusServiceUnavailable, "%s; a change may have been made all the same: read the app again", errStoreAway), true
}

// errUnreadable marks a document that is damaged, or that a newer program wrote.
var errUnreadable = errors.New("unreadable")

func writeProblem(w http.ResponseWriter, p *problem) {
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"title":"Internal Server Error","status":500}`)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the client has left
}
