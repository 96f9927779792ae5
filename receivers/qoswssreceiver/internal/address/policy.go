package address

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Mode is the treatment of addresses.
type Mode string

// The modes. Truncate is the default of the receiver.
const (
	Truncate Mode = "truncate" // IPv4 to /24, IPv6 to /48
	Drop     Mode = "drop"     // replaced by the unspecified address of its family
	Keep     Mode = "keep"     // unchanged
)

// Policy cuts the addresses in texts. Its zero value truncates.
//
// The unspecified address and those of the kept networks are unchanged in every mode. In a text so
// is loopback: it is in the origin of each SDP and in the stack of a page that is served locally,
// and identifies no user.
type Policy struct {
	mode         Mode
	keptNetworks []netip.Prefix
}

// New returns a policy. It returns an error for an unknown mode, and for a network that is neither
// an address nor in CIDR form.
func New(mode Mode, kept []string) (*Policy, error) {
	p := &Policy{mode: mode}
	switch mode {
	case Truncate, Drop, Keep:
	default:
		return nil, fmt.Errorf("addresses: must be truncate, drop or keep (got %q)", mode)
	}
	for i, text := range kept {
		network, err := parseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("keep_networks[%d]: %w", i, err)
		}
		p.keptNetworks = append(p.keptNetworks, network)
	}
	return p, nil
}

// parseNetwork reads an address or a network in CIDR form. It refuses a network of all addresses:
// mode keep is for that.
func parseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		a = a.Unmap().WithZone("")
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("must be an address or a network like 198.51.100.0/24; host names are never cut (got %q)", text)
	}
	if network.Bits() == 0 {
		return netip.Prefix{}, fmt.Errorf("must not be all addresses: set addresses to keep (got %q)", text)
	}
	return network.Masked(), nil
}

// keeps reports whether the policy leaves an address unchanged.
func (p *Policy) keeps(a netip.Addr) bool {
	return p.mode == Keep || a.IsUnspecified() ||
		slices.ContainsFunc(p.keptNetworks, func(network netip.Prefix) bool { return network.Contains(a) })
}

// keepsInText is keeps for an address in a text.
func (p *Policy) keepsInText(a netip.Addr) bool { return p.keeps(a) || a.IsLoopback() }

// Cut returns an address as the policy permits it: truncated and without a zone; an IPv4 address
// that is mapped into IPv6 becomes IPv4. It returns false for a text that is no address, and for
// an address that is dropped.
func (p *Policy) Cut(text string) (string, bool) {
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		return "", false
	case p.mode == Keep:
		return text, true
	}
	a = a.WithZone("").Unmap()
	if p.keeps(a) {
		return a.String(), true
	}
	return truncate(a).String(), p.mode != Drop
}

// Numbers of bits that truncated keeps.
const (
	bits4    = 24
	bits6    = 48
	bits6to4 = 16 + bits4 // 2002::/16 is followed by the IPv4 address (RFC 3056)
)

// sixToFour is the prefix of RFC 3056.
var sixToFour = netip.MustParsePrefix("2002::/16")

// truncate returns an address with its last bits set to 0.
func truncate(a netip.Addr) netip.Addr {
	bits := bits6
	switch {
	case a.Is4():
		bits = bits4
	case sixToFour.Contains(a):
		bits = bits6to4
	}
	prefix, _ := a.Prefix(bits) // bits fit the address
	return prefix.Addr()
}

// replacement returns the replacement of an IPv6 address in a text. An SDP names the family before
// the address, so a mapped address keeps its family there.
func (p *Policy) replacement(a netip.Addr, before string) string {
	mapped := a.Is4In6()
	a = a.WithZone("").Unmap()
	switch {
	case mapped && strings.HasSuffix(before, "IP6 "):
		return "::"
	case p.mode != Drop:
		return truncate(a).String()
	case mapped:
		return dropped4
	}
	return "::"
}

// dropped4 replaces each IPv4 address that is dropped.
const dropped4 = "0.0.0.0"
