// Package jsonapi has the HTTP side that the JSON APIs of the extensions share: refusals as problem
// details (RFC 9457), bodies of requests, conditional requests by revision (RFC 9110, section 13) and
// answers. It knows neither apps nor users.
package jsonapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// Problem is a refusal in the form of RFC 9457. Field, Limit and Got are set if one member of a body or
// one parameter is wrong. All members are sent to the client.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty"`
	Limit  string `json:"limit,omitempty"`
	Got    string `json:"got,omitempty"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// NewProblem returns a refusal with an HTTP status and a detail made as fmt.Sprintf makes it.
func NewProblem(status int, format string, args ...any) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// BodyProblem returns the problem of what package jsonobject refuses; nil for other errors.
func BodyProblem(err error) *Problem {
	var fault *jsonobject.Fault
	switch {
	case errors.As(err, &fault):
		p := NewProblem(http.StatusUnprocessableEntity, "%s", fault)
		p.Field, p.Limit, p.Got = fault.Field, "must "+fault.Limit, fault.Got
		return p
	case errors.Is(err, jsonobject.ErrNone):
		return NewProblem(http.StatusBadRequest, "the body %s", err)
	}
	return nil
}

// Write answers a request with the problem. No cache keeps it.
func (p *Problem) Write(w http.ResponseWriter) {
	body, _ := json.Marshal(p) // texts and a number: it does not fail
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the client has left
}
