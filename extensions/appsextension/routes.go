package appsextension

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/internal/serve/throttle"
)

// request is what a route answers.
type request struct {
	*http.Request
	ctx  context.Context // it lives as long as one call
	who  string          // the name of the token
	app  string          // the AppID in the path
	body []byte          // of a request that has one
	// lines writes an answer of JSON Lines in place of the reply, where the route sets it. An error ends the
	// connection.
	lines func(ctx context.Context, put func(any) error) error
}

// condition returns what the request demands of the app; it is refused without a condition if must is true.
func (req *request) condition(must bool) (jsonapi.Condition, error) {
	return jsonapi.ReadCondition(req.Request, "the app", must)
}

// route is one thing that the API does. README.md lists them; a test compares.
type route struct {
	method, path string
	serve        func(*management, *request) (jsonapi.Reply, error)
}

const apiApps = "/api/v1/apps"

func routes() []route {
	const one = apiApps + "/{app}"
	return []route{
		{http.MethodGet, apiApps, (*management).list},
		{http.MethodGet, one, (*management).get},
		{http.MethodPut, one, (*management).replace},
		{http.MethodDelete, one, (*management).remove},
		{http.MethodPost, one + "/secrets", (*management).addSecret},
		{http.MethodPut, one + "/secrets/{credential}", (*management).changeSecret},
		{http.MethodDelete, one + "/secrets/{credential}", (*management).deleteSecret},
		{http.MethodPost, one + "/keys", (*management).addKey},
		{http.MethodPut, one + "/keys/{credential}", (*management).changeKey},
		{http.MethodDelete, one + "/keys/{credential}", (*management).deleteKey},
		{http.MethodPost, one + "/revoke", (*management).revoke},
		{http.MethodPost, one + "/user-id-key", (*management).rotateUserIDKey},
		{http.MethodPost, one + "/webhooks/{webhook}/secret", (*management).rotateWebhook},
		{http.MethodGet, one + "/webhooks/{webhook}/deliveries", (*management).listDeliveries},
		{http.MethodPost, one + "/webhooks/{webhook}/deliveries/{delivery}/replay", (*management).replay},
		{http.MethodPost, one + "/webhooks/{webhook}/test", (*management).testWebhook},
		{http.MethodPost, one + "/users/export", (*management).exportUser},
		{http.MethodPost, one + "/users/erase", (*management).eraseUser},
		{http.MethodGet, one + "/users/erasures/{erasure}", (*management).getErasure},
	}
}

// headers stand on every answer. There are none for other origins: browsers refuse pages
// of these what is answered here.
var headers = map[string]string{
	"Cache-Control":           "no-store",
	"X-Content-Type-Options":  "nosniff",
	"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}

// handler is the API: who asks is looked at first, then the path, then the body.
func (m *management) handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range routes() {
		mux.HandleFunc(route.method+" "+route.path, m.answer(route))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		who, ok := m.tokens.name(r)
		if !ok {
			m.unauthorized(w, r, time.Now())
			return
		}
		if _, pattern := mux.Handler(r); pattern == "" {
			m.count(r.Context(), "refused")
			noRoute(mux, r).Write(w)
			return
		}
		mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, who)))
	})
}

// whoKey is the key of a request's context under which the name of its token stands: a
// file of tokens may change while a request is answered.
type whoKey struct{}

// strangerRate is how many lines strangers get in the logs for each of their kinds: one a
// second for long. Their requests are counted, all of them (qosapps_management_requests).
var strangerRate = throttle.PerSecond(1, 60)

// The kinds of lines that strangers cause.
const (
	strangerRequests throttle.Key = iota
	strangerConnections
	strangerKinds
)

// unauthorized refuses a request without a good token.
func (m *management) unauthorized(w http.ResponseWriter, r *http.Request, now time.Time) {
	m.count(r.Context(), "unauthorized")
	if m.strangers.Take(strangerRequests, strangerRate, now) == 0 {
		m.audit.Warn("a request to the management API without a good token was refused", zap.String("method", clip(r.Method)))
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	jsonapi.NewProblem(http.StatusUnauthorized, "a bearer token is needed, and this is none of those that are configured").Write(w)
}

// clip bounds what comes from outside and goes into the log.
func clip(text string) string { return text[:min(len(text), 100)] }

// noRoute tells a method that is not there from a path that is not.
func noRoute(mux *http.ServeMux, r *http.Request) *jsonapi.Problem {
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "" {
			return jsonapi.NewProblem(http.StatusMethodNotAllowed, "%s is not among the methods of this path", clip(r.Method))
		}
	}
	return jsonapi.NewProblem(http.StatusNotFound, "there is no such path")
}

// answer turns a route into a handler: the one place that makes errors answers.
func (m *management) answer(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
		defer cancel()
		who, _ := ctx.Value(whoKey{}).(string)
		req := &request{Request: r, ctx: ctx, who: who, app: r.PathValue("app")}
		var rep jsonapi.Reply
		var err error
		req.body, err = jsonapi.ReadBody(w, r, maxRequestBytes)
		if err == nil {
			rep, err = route.serve(m, req)
		}
		if err != nil {
			p, failed := problemOf(err)
			if failed {
				m.registry.logger.Error("the management API failed", zap.String("route", route.method+" "+route.path), zap.Error(err))
			}
			m.count(ctx, outcome(p, failed))
			p.Write(w)
			return
		}
		m.count(ctx, "ok")
		if req.lines != nil {
			m.writeLines(w, r, req.lines)
			return
		}
		if err := rep.Write(w); err != nil {
			m.registry.logger.Error("an answer cannot be written as JSON", zap.String("route", route.method+" "+route.path), zap.Error(err))
		}
	}
}

func outcome(p *jsonapi.Problem, failed bool) string {
	switch {
	case failed:
		return "failed"
	case p.Status == http.StatusPreconditionFailed || p.Status == http.StatusConflict:
		return "conflict"
	}
	return "refused"
}

func (m *management) count(ctx context.Context, outcome string) {
	m.registry.telemetry.QosappsManagementRequests.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}
