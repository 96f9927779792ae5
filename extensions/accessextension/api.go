package accessextension

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/access"
)

// maxBodyBytes bounds the body of a request.
const maxBodyBytes = 16 << 10

// call is one request to the API.
type call struct {
	*http.Request
	ctx     context.Context //nolint:containedctx // it lives as long as one call
	visitor *access.Visitor
	user    string // in the path
	body    []byte
}

// reply is an answer that is no refusal.
type reply struct {
	status   int
	body     any   // nil: none
	revision int64 // for the ETag; 0: none
}

// userAPI returns the handlers of users and the audit log, by pattern.
func (k *keeper) userAPI() map[string]http.HandlerFunc {
	const users = "/api/v1/users"
	return map[string]http.HandlerFunc{
		"GET " + users:                       k.answer(k.listUsers),
		"GET " + users + "/{user}":           k.answer(k.getUser),
		"PUT " + users + "/{user}":           k.answer(k.putUserAPI),
		"DELETE " + users + "/{user}":        k.answer(k.deleteUser),
		"POST " + users + "/{user}/password": k.answer(k.resetPassword),
		"POST " + users + "/{user}/signout":  k.answer(k.endLogins),
		"GET /api/v1/audit":                  k.answer(k.listAudit),
	}
}

// answer turns a function into a handler: it maps errors to answers. The server in front has
// checked the need; it is checked again, so that no server can forget it.
func (k *keeper) answer(serve func(*call) (reply, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
		defer cancel()
		c := &call{Request: r, ctx: ctx, visitor: access.From(ctx), user: r.PathValue("user")}
		if !access.Installation.Allows(c.visitor) {
			k.Refuse(w, r, c.visitor)
			return
		}
		var rep reply
		err := c.read(w)
		if err == nil {
			rep, err = serve(c)
		}
		if err != nil {
			p, failed := problemOf(err)
			if failed {
				k.telemetry.QosaccessStoreErrors.Add(ctx, 1)
				k.log.Error("a request to the users' API failed", zap.String("pattern", r.Pattern), zap.Error(err))
			}
			writeProblem(w, p)
			return
		}
		k.write(w, rep)
	}
}

func (c *call) read(w http.ResponseWriter) error {
	if c.Method != http.MethodPut && c.Method != http.MethodPost {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, c.Body, maxBodyBytes))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return newProblem(http.StatusRequestEntityTooLarge, "a body has at most %d bytes", maxBodyBytes)
	}
	if err != nil {
		return newProblem(http.StatusBadRequest, "the body cannot be read")
	}
	if kind, _, err := mime.ParseMediaType(c.Header.Get("Content-Type")); len(body) > 0 && (err != nil || kind != "application/json") {
		return newProblem(http.StatusUnsupportedMediaType, "the Content-Type of a body must be application/json")
	}
	c.body = body
	return nil
}

// decode reads the body. It refuses members that it does not know.
func (c *call) decode(into any) error {
	decoder := json.NewDecoder(bytes.NewReader(c.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil || decoder.More() {
		return newProblem(http.StatusBadRequest, "the body must be one JSON object with the members roles, scope and disabled")
	}
	return nil
}

// condition returns the revision of If-Match; 0 of If-None-Match: *.
func (c *call) condition() (revision int64, err error) {
	match, none := c.Header.Get("If-Match"), c.Header.Get("If-None-Match")
	switch {
	case match == "" && none == "*" && c.Method == http.MethodPut:
		return 0, nil
	case match == "" || none != "":
		return 0, newProblem(http.StatusPreconditionRequired, "If-Match with the user's ETag is needed, or If-None-Match: * to make a user")
	}
	revision, err = strconv.ParseInt(strings.Trim(match, `"`), 10, 64)
	if err != nil || revision <= 0 || match != etag(revision) {
		return 0, newProblem(http.StatusBadRequest, "If-Match must be the ETag of a user")
	}
	return revision, nil
}

func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

func (k *keeper) write(w http.ResponseWriter, rep reply) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if rep.revision != 0 {
		h.Set("ETag", etag(rep.revision))
	}
	if rep.body == nil {
		w.WriteHeader(rep.status)
		return
	}
	body, err := json.Marshal(rep.body)
	if err != nil {
		k.log.Error("an answer cannot be written as JSON", zap.Error(err))
		writeProblem(w, newProblem(http.StatusInternalServerError, "the answer cannot be written"))
		return
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(rep.status)
	_, _ = w.Write(append(body, '\n')) // the client has left
}
