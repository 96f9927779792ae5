package contrast

import "github.com/qosrtc/qos/internal/conference"

// Attributes of facts, named as in the interface and in the summary.
const (
	App                 = "appID"
	Site                = "siteID"
	ApplicationVersion  = "applicationVersion"
	Browser             = "browser"
	BrowserVersion      = "browserVersion" // family and major version: "firefox 144"
	Usage               = "usage"          // of a fabric
	LocalCandidateType  = "localCandidateType"
	RemoteCandidateType = "remoteCandidateType"
	RelayProtocol       = "relayProtocol"
	LocalAddress        = "localAddress" // prefix of the selected candidate's address, as it is stored
	Codec               = "codec"
)

// Of returns the item of a summary. A client describes the end of a session, by the session's ID. The
// stratum is the class of the number of participants: 1, 2, 3 and 4, 5 to 8, and so on.
func Of(s *conference.Summary, client func(session string) conference.Client, inSet bool) Item {
	item := Item{InSet: inSet, Stratum: sizeClass(len(s.Participants))}
	for i := range s.Participants {
		p := &s.Participants[i]
		item.Members = append(item.Members, factsOf(s.AppID, client(p.Session), p))
	}
	return item
}

// sizeClass returns 0, 1, 2, 3, … for up to 1, 2, 4, 8, … participants.
func sizeClass(participants int) int {
	class := 0
	for size := 1; size < participants; size *= 2 {
		class++
	}
	return class
}

func factsOf(appID string, c conference.Client, p *conference.Participant) (out []Fact) {
	add := func(attribute, value string) {
		if value != "" {
			out = append(out, Fact{attribute, value})
		}
	}
	add(App, appID)
	add(Site, c.SiteID)
	add(ApplicationVersion, c.ApplicationVersion)
	add(Browser, c.Browser)
	if c.BrowserVersion != "" {
		add(BrowserVersion, c.Browser+" "+c.BrowserVersion)
	}
	for i := range p.Fabrics {
		f := &p.Fabrics[i]
		add(Usage, f.Usage)
		add(LocalCandidateType, f.LocalCandidateType)
		add(RemoteCandidateType, f.RemoteCandidateType)
		add(RelayProtocol, f.RelayProtocol)
		add(LocalAddress, f.LocalAddress)
		for j := range f.Streams {
			add(Codec, f.Streams[j].Codec)
		}
	}
	return out
}
