package dashboardextension

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/loopback"
)

// reasonHost is of requests to other host names.
var reasonHost = metric.WithAttributes(attribute.String("reason", "host"))

// strictTransport makes browsers use TLS for this host name only, on all its ports, for a year (RFC 6797). It is sent
// where this server ends TLS, but not on loopback, where other servers of the machine have none.
const strictTransport = "max-age=31536000"

// securityHeaders stand on every answer. Pages hold no inline script or style, so the
// policy needs no exception.
var securityHeaders = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
		"img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// guard sets the security headers and answers only to host names that are ours.
func (d *dashboard) guard(next http.Handler) http.Handler {
	refused := func(r *http.Request) { d.telemetry.QosdashboardRejectedRequests.Add(r.Context(), 1, reasonHost) }
	own := loopback.NewHosts(d.cfg.NetAddr.Endpoint, d.cfg.AllowedHosts).Guard("The dashboard", refused, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.cfg.BehindTLSProxy {
			r = r.WithContext(access.BehindTLSProxy(r.Context()))
		}
		if r.TLS != nil && !loopback.Hosts(nil).Allow(r.Host) {
			w.Header().Set("Strict-Transport-Security", strictTransport)
		}
		for name, value := range securityHeaders {
			w.Header().Set(name, value)
		}
		own.ServeHTTP(w, r)
	})
}
