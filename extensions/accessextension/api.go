package accessextension

import (
	"context"
	"net/http"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
)

// maxBodyBytes bounds the body of a request.
const maxBodyBytes = 16 << 10

// call is one request to the API.
type call struct {
	*http.Request
	ctx     context.Context // it lives as long as one call
	visitor *access.Visitor
	user    string // in the path
	body    []byte
}

// userAPI returns the handlers of users, API tokens and the audit log, by pattern.
func (k *keeper) userAPI() map[string]http.HandlerFunc {
	const users = "/api/v1/users"
	return map[string]http.HandlerFunc{
		"GET " + users:                       k.answer(access.Installation, k.listUsers),
		"GET " + users + "/{user}":           k.answer(access.Installation, k.getUser),
		"PUT " + users + "/{user}":           k.answer(access.Installation, k.putUserAPI),
		"DELETE " + users + "/{user}":        k.answer(access.Installation, k.deleteUser),
		"POST " + users + "/{user}/password": k.answer(access.Installation, k.resetPassword),
		"POST " + users + "/{user}/signout":  k.answer(access.Installation, k.endLogins),
		"GET /api/v1/tokens":                 k.answer(access.Settings, k.listTokens),
		"POST /api/v1/tokens":                k.answer(access.Settings, k.makeToken),
		"DELETE /api/v1/tokens/{token}":      k.answer(access.Settings, k.revokeToken),
		"GET /api/v1/audit":                  k.answer(access.Installation, k.listAudit),
	}
}

// answer turns a function into a handler: it maps errors to answers. The server in front has
// checked the need; it is checked again, so that no server can forget it.
func (k *keeper) answer(need access.Need, serve func(*call) (jsonapi.Reply, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), k.timeout)
		defer cancel()
		c := &call{Request: r, ctx: ctx, visitor: access.From(ctx), user: r.PathValue("user")}
		if !need.Allows(c.visitor) {
			k.Refuse(w, r, c.visitor)
			return
		}
		var rep jsonapi.Reply
		var err error
		c.body, err = jsonapi.ReadBody(w, r, maxBodyBytes)
		if err == nil {
			rep, err = serve(c)
		}
		if err != nil {
			p, failed := problemOf(err)
			if failed {
				k.telemetry.QosaccessStoreErrors.Add(ctx, 1)
				k.log.Error("a request to the users' API failed", zap.String("pattern", r.Pattern), zap.Error(err))
			}
			p.Write(w)
			return
		}
		if err := rep.Write(w); err != nil {
			k.log.Error("an answer cannot be written as JSON", zap.String("pattern", r.Pattern), zap.Error(err))
		}
	}
}
