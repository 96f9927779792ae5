package fleet

import "fmt"

// App is an application of the fleet.
type App struct {
	ID       string
	Weight   float64 // share of the conferences
	Endpoint string  // remoteEndpointType of its fabrics: peer or server
	Usage    string  // fabricUsage of its fabrics
	Video    bool
	Sites    []string
	Versions []string // application versions, equally frequent
}

// Browser is a browser of the fleet in one major version.
type Browser struct {
	Family string // chrome, firefox, safari or edge
	Major  int
	Weight float64 // share of the sessions
}

// UserAgent returns the text that the browser sends.
func (b Browser) UserAgent() string {
	const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64"
	switch b.Family {
	case "firefox":
		return fmt.Sprintf("%s; rv:%d.0) Gecko/20100101 Firefox/%d.0", windows, b.Major, b.Major)
	case "safari":
		return fmt.Sprintf("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%d.0 Safari/605.1.15", b.Major)
	case "edge":
		return fmt.Sprintf("%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36 Edg/%d.0.0.0", windows, b.Major, b.Major)
	}
	return fmt.Sprintf("%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36", windows, b.Major)
}

// Applications of the fleet.
const (
	AppShop   = "shop"
	AppClinic = "clinic"
	AppSchool = "school"
)

// Sites of the fleet.
const (
	SiteBerlin = "berlin"
	SiteParis  = "paris"
	SiteOslo   = "oslo"
	SitePorto  = "porto"
)

// Functions that fail.
const (
	FunctionCreateOffer  = "createOffer"
	FunctionGetUserMedia = "getUserMedia"
)

const (
	versionShopNew   = "4.2.0"
	versionClinicNew = "2.1.0"
	server           = "server"
)

// Apps are the applications of the fleet.
func Apps() []App {
	return []App{
		{AppShop, 0.4, "peer", "multiplex", true, []string{SiteBerlin, SiteParis}, []string{"4.1.0", versionShopNew}},
		{AppClinic, 0.35, server, "audio", false, []string{SiteBerlin, SiteOslo}, []string{"2.0.3", versionClinicNew}},
		{AppSchool, 0.25, server, "multiplex", true, []string{SiteOslo, SitePorto}, []string{"7.0.0"}},
	}
}

// Browsers are the browsers of the fleet.
func Browsers() []Browser {
	return []Browser{
		{"chrome", 141, 0.2},
		{"chrome", 142, 0.35},
		{"firefox", 143, 0.05},
		{"firefox", 144, 0.15},
		{"safari", 18, 0.05},
		{"safari", 26, 0.1},
		{"edge", 141, 0.1},
	}
}

// hourWeights is the share of the conferences that begin in each hour of the day.
var hourWeights = [24]float64{
	0.5, 0.3, 0.2, 0.2, 0.3, 0.6, 1.5, 3, 6, 9, 10, 9, 6, 8, 10, 9, 8, 6, 4, 3, 2.5, 2, 1.5, 1,
}

// siteRTTMs is the usual round-trip time of a site.
var siteRTTMs = map[string]float64{SiteBerlin: 18, SiteParis: 25, SiteOslo: 40, SitePorto: 55}
