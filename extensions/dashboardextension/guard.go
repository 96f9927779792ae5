package dashboardextension

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/qosrtc/qos/internal/loopback"
)

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
	hosts := d.cfg.hosts()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range securityHeaders {
			w.Header().Set(name, value)
		}
		if !hosts.allow(r.Host) {
			d.telemetry.QosdashboardRefused.Add(r.Context(), 1, reasonHost)
			http.Error(w, "The dashboard does not answer to this host name. If it should, add it to allowed_hosts.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostSet holds host names in lower case, beside loopback.
type hostSet map[string]bool

func (c *Config) hosts() hostSet {
	set := hostSet{}
	for _, host := range c.AllowedHosts {
		set[strings.ToLower(host)] = true
	}
	if host, _, err := net.SplitHostPort(c.NetAddr.Endpoint); err == nil && !unspecified(host) {
		set[strings.ToLower(host)] = true
	}
	return set
}

func (s hostSet) allow(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return loopback.Host(host) || s[host]
}

func unspecified(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "" || (err == nil && addr.IsUnspecified())
}
