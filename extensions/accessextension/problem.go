package accessextension

import (
	"errors"
	"net/http"

	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/storage"
)

// problemOf returns what an error is to the client, and whether it is a failure of the store.
func problemOf(err error) (p *jsonapi.Problem, failed bool) {
	if p = jsonapi.BodyProblem(err); p != nil {
		return p, false
	}
	switch {
	case errors.As(err, &p):
		return p, false
	case errors.Is(err, storage.ErrNoSetting):
		return jsonapi.NewProblem(http.StatusNotFound, "there is no user of this name"), false
	case errors.Is(err, storage.ErrConflict):
		return jsonapi.NewProblem(http.StatusPreconditionFailed, "the user has changed meanwhile, or is there or gone: read it again"), false
	case errors.Is(err, storage.ErrFull):
		return jsonapi.NewProblem(http.StatusConflict, "the store takes no more than %d users", storage.MaxSettings), false
	case errors.Is(err, throttle.ErrFull):
		return jsonapi.NewProblem(http.StatusServiceUnavailable, "too many passwords are hashed at the moment: try again"), false
	}
	return jsonapi.NewProblem(http.StatusServiceUnavailable, "the store does not answer; a change may have been made all the same"), true
}
