package access

import (
	"net/http"
	"net/netip"
	"strings"
)

// Network returns the network that a request comes from: an IPv4 address, or the /64 of an IPv6
// address. Addresses that trusted proxies append to X-Forwarded-For count, no others. On a Unix socket each peer is a
// proxy, if any is trusted. The network is not valid where there is none.
func Network(r *http.Request, trusted []netip.Prefix) netip.Prefix {
	at := hop(r.RemoteAddr)
	proxied := len(trusted) > 0 && !at.IsValid() // permissions say who connects to a Unix socket
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0 && (proxied || contains(trusted, at)); i-- {
		next := hop(strings.TrimSpace(forwarded[i]))
		if !next.IsValid() {
			break
		}
		at, proxied = next, false
	}
	bits := 64
	if at.Is4() {
		bits = 32
	}
	network, _ := at.Prefix(bits) // not valid where at is not
	return network
}

func hop(text string) netip.Addr {
	if port, err := netip.ParseAddrPort(text); err == nil {
		return port.Addr().Unmap().WithZone("")
	}
	addr, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return addr.Unmap().WithZone("")
}

func contains(networks []netip.Prefix, addr netip.Addr) bool {
	for _, n := range networks {
		if addr.IsValid() && n.Contains(addr) {
			return true
		}
	}
	return false
}

// widerBits are the lengths of the prefixes of IPv6 that one customer may have, the narrowest first: a host or a
// link (/64), a household (/56), an organisation or a tunnel (/48; RFC 6177).
var widerBits = []int{64, 56, 48}

// owners returns the networks that may have one owner with a network of a request, the narrowest first.
func owners(network netip.Prefix) []netip.Prefix {
	if !network.IsValid() || network.Addr().Is4() {
		return []netip.Prefix{network}
	}
	var all []netip.Prefix
	for _, bits := range widerBits {
		wider, _ := network.Addr().Prefix(bits)
		all = append(all, wider)
	}
	return all
}
