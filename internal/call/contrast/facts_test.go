package contrast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
)

func TestSizeClass(t *testing.T) {
	for participants, want := range map[int]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 8: 3, 9: 4, 1000: 10} {
		require.Equal(t, want, sizeClass(participants), participants)
	}
}

// Facts are those of the participant that has them; what is unknown is no fact.
func TestOf(t *testing.T) {
	d := &digest.Digest{Participants: 2, Members: []digest.Member{
		{
			SiteID: "berlin", ApplicationVersion: "4.2.0", Browser: "firefox", BrowserVersion: "144", OS: "linux", Devices: []string{"Headset (0b0e:030a)"},
			Fabrics: []digest.Fabric{{
				Usage: "multiplex", LocalCandidateType: "relay", RemoteCandidateType: "host", RelayProtocol: "tls", NetworkType: "wifi", LocalAddress: "192.0.2.0", Codecs: "VP8 opus",
			}},
		},
		{Browser: "other"},
	}}
	require.Equal(t, Item{InSet: true, Stratum: 1, Members: [][]Fact{
		{
			{App, "shop"},
			{Site, "berlin"},
			{ApplicationVersion, "4.2.0"},
			{Browser, "firefox"},
			{BrowserVersion, "firefox 144"},
			{OS, "linux"},
			{Device, "Headset (0b0e:030a)"},
			{Usage, "multiplex"},
			{LocalCandidateType, "relay"},
			{RemoteCandidateType, "host"},
			{RelayProtocol, "tls"},
			{NetworkType, "wifi"},
			{LocalAddress, "192.0.2.0"},
			{Codec, "VP8"},
			{Codec, "opus"},
		},
		{{App, "shop"}, {Browser, "other"}},
	}}, Of("shop", d, true))
}
