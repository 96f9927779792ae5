package contrast

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/call/digest"
)

// Attributes of facts, named as in the interface and in the summary.
const (
	App                 = "appID"
	Site                = "siteID"
	ApplicationVersion  = "applicationVersion"
	Browser             = "browser"
	BrowserVersion      = "browserVersion" // family and major version: "firefox 144"
	OS                  = "os"
	Device              = "device" // model of a USB device that activeDeviceList named
	Usage               = "usage"  // of a fabric
	LocalCandidateType  = "localCandidateType"
	RemoteCandidateType = "remoteCandidateType"
	RelayProtocol       = "relayProtocol"
	NetworkType         = "networkType"  // of the local candidate: wifi, ethernet, cellular, vpn, …
	LocalAddress        = "localAddress" // prefix of the selected candidate's address, as it is stored
	Codec               = "codec"
)

// Attributes returns all attributes.
func Attributes() []string {
	return []string{
		App, Site, ApplicationVersion, Browser, BrowserVersion, OS, Device, Usage, LocalCandidateType, RemoteCandidateType,
		RelayProtocol, NetworkType, LocalAddress, Codec,
	}
}

// Has reports whether one member of a conference has all of some facts.
func (i *Item) Has(facts []Fact) bool {
	return slices.ContainsFunc(i.Members, func(member []Fact) bool {
		return !slices.ContainsFunc(facts, func(f Fact) bool { return !slices.Contains(member, f) })
	})
}

// Of returns the item of a conference of an app. Members that the digest omits are missing. The stratum is
// the class of the number of participants: 1, 2, 3 and 4, 5 to 8, and so on.
func Of(appID string, d *digest.Digest, inSet bool) Item {
	item := Item{InSet: inSet, Stratum: sizeClass(d.Participants), Members: make([][]Fact, len(d.Members))}
	for i := range d.Members {
		item.Members[i] = factsOf(appID, &d.Members[i])
	}
	return item
}

// sizeClass returns 0, 1, 2, 3, … for up to 1, 2, 4, 8, … participants.
func sizeClass(participants int) int { return bits.Len(uint(max(participants, 1) - 1)) }

func factsOf(appID string, m *digest.Member) []Fact {
	out := make([]Fact, 0, 16)
	add := func(attribute, value string) {
		if value != "" {
			out = append(out, Fact{attribute, value})
		}
	}
	add(App, appID)
	add(Site, m.SiteID)
	add(ApplicationVersion, m.ApplicationVersion)
	add(Browser, m.Browser)
	if m.BrowserVersion != "" {
		add(BrowserVersion, m.Browser+" "+m.BrowserVersion)
	}
	add(OS, m.OS)
	for _, device := range m.Devices {
		add(Device, device)
	}
	for i := range m.Fabrics {
		f := &m.Fabrics[i]
		add(Usage, f.Usage)
		add(LocalCandidateType, f.LocalCandidateType)
		add(RemoteCandidateType, f.RemoteCandidateType)
		add(RelayProtocol, f.RelayProtocol)
		add(NetworkType, f.NetworkType)
		add(LocalAddress, f.LocalAddress)
		for codec := range strings.FieldsSeq(f.Codecs) {
			add(Codec, codec)
		}
	}
	return out
}
