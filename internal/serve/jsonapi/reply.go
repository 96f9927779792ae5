package jsonapi

import (
	"encoding/json"
	"net/http"
)

// Reply is an answer that is no refusal.
type Reply struct {
	Status   int
	Body     any    // written as JSON; nil: none
	Revision int64  // for the ETag; 0: none
	Location string // of what was made; empty: none
}

// Write answers a request. If the body cannot be written as JSON, the client gets a problem with status
// 500 and the caller the error.
func (rep Reply) Write(w http.ResponseWriter) error {
	var body []byte
	if rep.Body != nil {
		var err error
		if body, err = json.Marshal(rep.Body); err != nil {
			NewProblem(http.StatusInternalServerError, "the answer cannot be written").Write(w)
			return err
		}
		body = append(body, '\n')
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if rep.Revision != 0 {
		h.Set("ETag", etag(rep.Revision))
	}
	if rep.Location != "" {
		h.Set("Location", rep.Location)
	}
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	w.WriteHeader(rep.Status)
	_, _ = w.Write(body) // the client has left
	return nil
}
