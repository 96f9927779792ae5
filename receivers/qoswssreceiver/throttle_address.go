package qoswssreceiver

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// The headers in which a proxy can report the address of its client.
const (
	headerXForwardedFor = "X-Forwarded-For"
	headerForwarded     = "Forwarded" // RFC 7239
)

// maxHops bounds the elements of a header that are read.
const maxHops = 16

// addresses determines the client address of a request.
//
// A proxy appends the address of its peer to the header that it received, which the client may have
// written. So only the end of the header counts, as far as trusted proxies wrote it, and only the
// one header that they are configured to write.
type addresses struct {
	trusted []netip.Prefix
	header  string // canonical
	proxied bool   // a proxy is in front
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

// client returns the client address of a request. It is not valid if it is not known: behind a
// proxy that is not listed; a peer on loopback may be one.
func (a *addresses) client(r *http.Request) netip.Addr {
	peer := parseHop(r.RemoteAddr) // not valid on a Unix socket, whose permissions decide who is trusted
	switch {
	case len(a.trusted) > 0 && (!peer.IsValid() || a.trusts(peer)):
		return a.walkHops(peer, r.Header[a.header])
	case len(a.trusted) == 0 && (a.proxied || peer.IsLoopback()):
		return netip.Addr{}
	}
	return peer
}

func (a *addresses) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(a.trusted, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// walkHops walks from the peer towards the client, as far as the hops are trusted. It ends at a hop
// that cannot be parsed: any client may have written the part before it.
func (a *addresses) walkHops(peer netip.Addr, lines []string) netip.Addr {
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

// cutLast splits the last element off a list.
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

// forwardedFor returns the node of the "for" parameter of a forwarded-element. It is empty if there
// is none or more than one, and if the number of quotes is odd: then the element was cut out of a
// quoted text.
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

// parseHop parses an address with or without a port. The result is not valid for other texts.
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

// nat64 holds the IPv4 addresses that translators present to IPv6 servers (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// networkOf returns the network that counts as one address: an IPv4 address, or an IPv6 /64, all of
// which one host can have.
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
		return netip.Prefix{} // the address is not valid
	}
	return network
}
