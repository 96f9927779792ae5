package qoswssreceiver

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// The headers in which a proxy can tell whom it speaks for.
const (
	headerXForwardedFor = "X-Forwarded-For"
	headerForwarded     = "Forwarded" // RFC 7239
)

// maxHops bounds how much of a header is looked at.
const maxHops = 16

// addresses finds out where a request comes from.
//
// A proxy appends the address that it saw to what was in the header before, which is
// whatever the client wrote. So only the end of the header counts, as far as proxies that
// are trusted wrote it, and only the one header that they are configured to write.
type addresses struct {
	trusted []netip.Prefix
	header  string // canonical
	proxied bool   // some proxy is in front
}

func newAddresses(cfg *Config) (addresses, error) {
	a := addresses{header: http.CanonicalHeaderKey(cfg.ForwardedHeader), proxied: cfg.BehindTLSProxy}
	for i, text := range cfg.TrustedProxies {
		network, err := parseNetwork(text)
		if err != nil {
			return a, fmt.Errorf("trusted_proxies[%d]: %w", i, err)
		}
		a.trusted = append(a.trusted, network)
	}
	return a, nil
}

// parseNetwork reads an address or a network in CIDR form.
func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap().WithZone("")
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("must be an address or a network like 10.0.0.0/8 (got %q)", text)
	}
	if network.Bits() == 0 {
		return netip.Prefix{}, fmt.Errorf("must not be all addresses: every client could write its own (got %q)", text)
	}
	return network.Masked(), nil
}

// client is the address that a request comes from. It is not valid where it is not known:
// behind a proxy that is not listed, of which a peer on loopback may be one.
func (a *addresses) client(r *http.Request) netip.Addr {
	peer := parseHop(r.RemoteAddr) // not valid on a Unix socket, where permissions say who is trusted
	switch {
	case len(a.trusted) > 0 && (!peer.IsValid() || a.trusts(peer)):
		return a.behind(peer, r.Header[a.header])
	case len(a.trusted) == 0 && (a.proxied || peer.IsLoopback()):
		return netip.Addr{}
	}
	return peer
}

func (a *addresses) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(a.trusted, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// behind walks from the peer towards the client, as far as the hops are trusted. A hop
// that cannot be read ends the walk: what is left of it anybody may have written.
func (a *addresses) behind(peer netip.Addr, lines []string) netip.Addr {
	hops := 0
	for _, line := range slices.Backward(lines) {
		for rest, more := line, true; more; hops++ {
			var hop string
			rest, hop, more = cutLast(rest)
			addr := a.parse(hop)
			if !addr.IsValid() || hops == maxHops {
				return peer
			}
			if peer = addr; !a.trusts(addr) {
				return peer
			}
		}
	}
	return peer
}

// cutLast cuts the last element off a list.
func cutLast(list string) (rest, last string, more bool) {
	comma := strings.LastIndexByte(list, ',')
	if comma < 0 {
		return "", list, false
	}
	return list[:comma], list[comma+1:], true
}

func (a *addresses) parse(hop string) netip.Addr {
	if a.header == headerForwarded {
		hop = forwardedFor(hop)
	}
	return parseHop(strings.TrimSpace(hop))
}

// forwardedFor returns the node of the one "for" of a forwarded-element. It is empty where
// there is none or more than one, and where quotes do not come in pairs: then the element
// was cut out of a quoted text.
func forwardedFor(element string) (node string) {
	if strings.Count(element, `"`)%2 != 0 {
		return ""
	}
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if !strings.EqualFold(name, "for") {
			continue
		}
		if node != "" {
			return ""
		}
		node = strings.Trim(value, `"`)
	}
	return node
}

// parseHop reads an address, with or without a port; one that is not valid where it is
// something else.
func parseHop(text string) netip.Addr {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr().Unmap().WithZone("")
	}
	if inside, ok := strings.CutPrefix(text, "["); ok {
		text, ok = strings.CutSuffix(inside, "]")
		if !ok {
			return netip.Addr{}
		}
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// nat64 holds the IPv4 addresses that translators show to IPv6 servers (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// networkOf is what counts as one place: an IPv4 address, and of IPv6 a /64, all of which
// one host can have.
func networkOf(addr netip.Addr) netip.Prefix {
	if nat64.Contains(addr) {
		bytes := addr.As16()
		addr, _ = netip.AddrFromSlice(bytes[12:])
	}
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // it is not valid
	}
	return network
}
