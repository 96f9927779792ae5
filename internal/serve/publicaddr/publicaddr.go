// Package publicaddr checks addresses that a client chose: the server may connect only to public ones, so
// that a client cannot reach internal networks, this machine or metadata services through it.
package publicaddr

import (
	"fmt"
	"net/netip"
)

// refused are the networks that are not public and that netip does not classify: shared and reserved
// addresses, addresses that embed others (NAT64, 6to4, Teredo, IPv4-compatible), documentation and
// benchmarks, and the address of Azure's virtual machine services.
var refused = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4", "168.63.129.16/32", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
	"3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// Reachable reports whether an address is public or in an allowed network. An IPv4 address that is mapped
// into IPv6 counts as the IPv4 address.
func Reachable(addr netip.Addr, allowed []netip.Prefix) bool {
	addr = addr.Unmap().WithZone("")
	if Within(addr, allowed) {
		return true
	}
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && !Within(addr, refused)
}

// Within reports whether one of the networks contains an address.
func Within(addr netip.Addr, networks []netip.Prefix) bool {
	for _, p := range networks {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// Networks parses the CIDR prefixes of a setting. The error names the first invalid one by name and index.
func Networks(name string, texts []string) (out []netip.Prefix, err error) {
	for i, text := range texts {
		prefix, bad := netip.ParsePrefix(text)
		if bad != nil {
			return nil, fmt.Errorf("%s[%d] must be a CIDR prefix (got %d bytes)", name, i, len(text))
		}
		out = append(out, prefix)
	}
	return out, nil
}
