package jsonapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// bodyTime is how long a client may take to send a body.
const bodyTime = 20 * time.Second

// LimitBodyTime gives the client of a request 20 s to send its body. The caller calls its result when it has read the
// body. A ResponseWriter that has no deadlines is left as it is.
func LimitBodyTime(w http.ResponseWriter) (read func()) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime))
	return func() { _ = control.SetReadDeadline(time.Time{}) }
}

// ReadBody reads the body of a PUT or POST, and returns nil for other methods. It decodes nothing. Its
// errors are Problems: a body above maxBytes (413), one that ends early (400), one that is not empty and
// has another Content-Type than application/json (415).
func ReadBody(w http.ResponseWriter, r *http.Request, maxBytes int64) ([]byte, error) {
	if r.Method != http.MethodPut && r.Method != http.MethodPost {
		return nil, nil
	}
	defer LimitBodyTime(w)()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, NewProblem(http.StatusRequestEntityTooLarge, "a body has at most %d bytes", maxBytes)
	}
	if err != nil {
		return nil, NewProblem(http.StatusBadRequest, "the body cannot be read")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); len(body) > 0 && (err != nil || kind != "application/json") {
		return nil, NewProblem(http.StatusUnsupportedMediaType, "the Content-Type of a body must be application/json")
	}
	return body, nil
}
