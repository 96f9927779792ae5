package agent

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// readBody returns the userID that the page names, or "" where it names none. A page cannot choose a user by it,
// only find out early that somebody else is logged in. The body may be empty; otherwise it is a JSON object, with the type that other sites' forms cannot send.
func readBody(w http.ResponseWriter, r *http.Request) (string, *problem) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return "", &problem{http.StatusRequestEntityTooLarge, ReasonTooLarge, "the body is too large", nil}
	}
	if err != nil {
		return "", badBody("the body did not arrive whole")
	}
	if len(text) == 0 {
		return "", nil
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return "", &problem{http.StatusUnsupportedMediaType, ReasonType, "Content-Type must be application/json", nil}
	}
	return wantedUser(text)
}

// wantedUser reads {"userID": "…"}; other members are the page's own affair.
func wantedUser(text []byte) (string, *problem) {
	members, err := jsonobject.Members(text)
	if err != nil {
		return "", badBody("the body must be a JSON object, with no member twice")
	}
	raw, named := members["userID"]
	if !named {
		return "", nil
	}
	var wanted string
	if err := json.Unmarshal(raw, &wanted); err != nil || wanted == "" || len(wanted) > MaxUserIDBytes {
		return "", badBody("userID must be a string of 1 to 256 bytes")
	}
	return wanted, nil
}

func badBody(text string) *problem {
	return &problem{http.StatusBadRequest, ReasonBody, text, nil}
}
