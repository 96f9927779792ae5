package publicaddr

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// Addresses that are not public, in all their spellings, are refused unless their network is allowed.
//
// spec: OUT-03
func TestReachable(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
		"100.100.100.200", "192.0.0.8", "198.18.0.1", "224.0.0.1", "239.1.1.1", "255.255.255.255", "240.0.0.1", "168.63.129.16", "203.0.113.7",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
		"::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "100::1",
		"2001:db8::1%eth0", "fec0::1%eth0", "64:ff9b::7f00:1%1",
	} {
		require.False(t, Reachable(netip.MustParseAddr(text), nil), text)
	}
	for _, text := range []string{"1.1.1.1", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"} {
		require.True(t, Reachable(netip.MustParseAddr(text), nil), text)
	}
	allowed := prefixes("10.0.0.0/8", "fd00::/8")
	for text, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "fd00::5": true, "fd00::5%eth0": true, "11.0.0.1": true, "192.168.0.1": false, "127.0.0.1": false} {
		require.Equal(t, want, Reachable(netip.MustParseAddr(text), allowed), text)
	}
}

func TestNetworks(t *testing.T) {
	networks, err := Networks("allowed_networks", []string{"10.0.0.0/8", "fd00::/8"})
	require.NoError(t, err)
	require.Equal(t, prefixes("10.0.0.0/8", "fd00::/8"), networks)
	_, err = Networks("allowed_networks", []string{"10.0.0.0/8", "10.0.0.1"})
	require.EqualError(t, err, "allowed_networks[1] must be a CIDR prefix (got 8 bytes)")
}
