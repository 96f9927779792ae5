package accessextension

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/qosrtc/qos/internal/access"
	"github.com/qosrtc/qos/internal/throttle"
	"github.com/qosrtc/qos/storage"
)

// problem is a refusal as RFC 9457 writes it.
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

// problemOf returns what an error is to the client, and whether it is a failure of the store.
func problemOf(err error) (p *problem, failed bool) {
	var fault *access.Fault
	switch {
	case errors.As(err, &p):
		return p, false
	case errors.As(err, &fault):
		p = newProblem(http.StatusUnprocessableEntity, "%s", fault)
		p.Field, p.Limit, p.Got = fault.Field, fault.Limit, fault.Got
		return p, false
	case errors.Is(err, storage.ErrNoSetting):
		return newProblem(http.StatusNotFound, "there is no user of this name"), false
	case errors.Is(err, storage.ErrConflict):
		return newProblem(http.StatusPreconditionFailed, "the user has changed meanwhile, or is there or gone: read it again"), false
	case errors.Is(err, storage.ErrFull):
		return newProblem(http.StatusConflict, "the store takes no more than %d users", storage.MaxSettings), false
	case errors.Is(err, throttle.ErrFull):
		return newProblem(http.StatusServiceUnavailable, "too many passwords are hashed at the moment: try again"), false
	}
	return newProblem(http.StatusServiceUnavailable, "the store does not answer; a change may have been made all the same"), true
}

func writeProblem(w http.ResponseWriter, p *problem) {
	body, _ := json.Marshal(p) // texts only: it does not fail
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the client has left
}
