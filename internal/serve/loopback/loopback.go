// Package loopback says whether a listening endpoint is reachable from this machine alone.
// Components that serve without TLS or sign-in ask it before they listen.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Endpoint reports whether host:port binds to this machine alone: an address of 127.0.0.0/8
// or ::1, or the name localhost (RFC 6761). An empty host means every interface, so it is
// not; neither is what cannot be parsed.
func Endpoint(endpoint string) bool {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return false
	}
	return Host(host)
}

// Host is Endpoint for a bare host name or address.
func Host(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
