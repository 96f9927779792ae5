package loopback

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Hosts is the host names that a server answers to: loopback, its endpoint's own, and those of
// a list. A page of another origin that points its own name here (DNS rebinding) has none.
type Hosts map[string]bool

// NewHosts returns the hosts of a server at endpoint, host:port, with those that are allowed
// besides. An endpoint that binds every interface has no name of its own.
func NewHosts(endpoint string, allowed []string) Hosts {
	hosts := Hosts{}
	for _, host := range allowed {
		hosts[strings.ToLower(host)] = true
	}
	if host, _, err := net.SplitHostPort(endpoint); err == nil && !unspecified(host) {
		hosts[strings.ToLower(host)] = true
	}
	return hosts
}

// Allow reports whether a Host header, with or without a port, names one of the hosts.
func (h Hosts) Allow(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return Host(host) || h[host]
}

// Guard answers 421 to requests for other hosts, and calls refused, which may be nil, for each.
// What names the server in the answer.
func (h Hosts) Guard(what string, refused func(*http.Request), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.Allow(r.Host) {
			next.ServeHTTP(w, r)
			return
		}
		if refused != nil {
			refused(r)
		}
		http.Error(w, what+" does not answer to this host name. If it should, add it to allowed_hosts.", http.StatusMisdirectedRequest)
	})
}

// ValidateHosts reports a fault of an allowed_hosts list.
func ValidateHosts(allowed []string) error {
	for i, host := range allowed {
		if host == "" || strings.ContainsAny(host, "/*: ") {
			return fmt.Errorf("allowed_hosts must be host names without scheme, port or wildcard (entry %d is not)", i+1)
		}
	}
	return nil
}

func unspecified(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "" || (err == nil && addr.IsUnspecified())
}
