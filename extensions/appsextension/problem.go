package appsextension

import (
	"errors"
	"net/http"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/storage"
)

// problemOf says what an error is to the client, and whether that is a failure of ours,
// whose cause stands in the log.
func problemOf(err error) (p *jsonapi.Problem, failed bool) {
	if p = jsonapi.BodyProblem(err); p != nil {
		return p, false
	}
	switch {
	case errors.As(err, &p):
		return p, false
	case errors.Is(err, storage.ErrNoSetting):
		return jsonapi.NewProblem(http.StatusNotFound, "there is no app of this id"), false
	case errors.Is(err, app.ErrNoCredential), errors.Is(err, app.ErrNoWebhook):
		return jsonapi.NewProblem(http.StatusNotFound, "%s", err), false
	case errors.Is(err, storage.ErrConflict):
		return jsonapi.NewProblem(http.StatusPreconditionFailed, "the app has changed meanwhile, or is there or gone: read it again"), false
	case errors.Is(err, storage.ErrFull):
		return jsonapi.NewProblem(http.StatusConflict, "the store takes no more than %d apps", storage.MaxSettings), false
	case errors.Is(err, errUnreadable):
		return jsonapi.NewProblem(http.StatusInternalServerError, "the app's document in the store cannot be read; the collector's log says why"), true
	}
	return jsonapi.NewProblem(http.StatusServiceUnavailable, "%s; a change may have been made all the same: read the app again", errStoreAway), true
}

// errUnreadable marks a document that is damaged, or that a newer program wrote.
var errUnreadable = errors.New("unreadable")
