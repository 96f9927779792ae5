package fleet

import "time"

// Scope selects sessions. An empty field selects all.
type Scope struct {
	App, Site, ApplicationVersion string
	Browser                       string // family
	BrowserMajor                  int
	From, To                      time.Duration // of the day; To is excluded; both 0: the whole day
}

func (s *Scope) contains(p *Session, atMs, dayMs int64) bool {
	at := time.Duration(atMs-dayMs) * time.Millisecond
	return (s.App == "" || s.App == p.AppID) && (s.Site == "" || s.Site == p.SiteID) &&
		(s.ApplicationVersion == "" || s.ApplicationVersion == p.ApplicationVersion) &&
		(s.Browser == "" || s.Browser == p.Browser.Family) && (s.BrowserMajor == 0 || s.BrowserMajor == p.Browser.Major) &&
		(s.To == 0 || s.From <= at && at < s.To)
}

// Effect describes a fault. The zero value of a field changes nothing.
type Effect struct {
	FailureFactor    float64 // of the probability that a fabric is not set up
	RelaysFail       bool    // a session that needs a TURN server is not connected
	ErrorFactor      float64 // of the probability that createOffer fails
	SetupFactor      float64 // of the setup delay
	DisruptionFactor float64 // of the probability of an ICE disruption
	LossFraction     float64 // added, in both directions
	JitterMs, RTTMs  float64 // added
}

// Planted is a cause of faults, and the truth about it.
type Planted struct {
	Name  string
	Scope Scope
	Effect

	Sessions int // sessions that joined in the scope
	Fabrics  int // fabrics that were added in the scope
	Failed   int // of them failed to connect
	Errors   int // failures of createOffer that were reported in the scope
}

// DefaultPlanted returns the causes of DefaultConfig.
func DefaultPlanted() []Planted {
	return []Planted{
		{
			Name:   "firefox 144 fails at berlin",
			Scope:  Scope{Site: SiteBerlin, Browser: "firefox", BrowserMajor: 144, From: 14 * time.Hour, To: 15 * time.Hour},
			Effect: Effect{FailureFactor: 6},
		},
		{
			Name:   "TURN outage at oslo",
			Scope:  Scope{Site: SiteOslo, From: 10 * time.Hour, To: 11 * time.Hour},
			Effect: Effect{RelaysFail: true},
		},
		{
			Name:   "shop 4.2.0 doubles createOffer errors",
			Scope:  Scope{App: AppShop, ApplicationVersion: versionShopNew},
			Effect: Effect{ErrorFactor: 2},
		},
		{
			Name:   "congestion at porto",
			Scope:  Scope{Site: SitePorto, From: 16 * time.Hour, To: 18 * time.Hour},
			Effect: Effect{LossFraction: 0.08, JitterMs: 45, RTTMs: 250},
		},
		{
			Name:   "clinic 2.1.0 sets up slowly",
			Scope:  Scope{App: AppClinic, ApplicationVersion: versionClinicNew},
			Effect: Effect{SetupFactor: 4},
		},
		{
			Name:   "chrome 142 loses connections at paris",
			Scope:  Scope{Site: SiteParis, Browser: "chrome", BrowserMajor: 142, From: 12 * time.Hour, To: 14 * time.Hour},
			Effect: Effect{DisruptionFactor: 6},
		},
	}
}

// effect combines the causes whose scope contains a session at a time, and returns their indexes.
func (d *Day) effect(p *Session, atMs int64) (sum Effect, of []int) {
	sum = Effect{FailureFactor: 1, ErrorFactor: 1, SetupFactor: 1, DisruptionFactor: 1}
	for i := range d.Planted {
		c := &d.Planted[i]
		if !c.Scope.contains(p, atMs, d.startMs()) {
			continue
		}
		of = append(of, i)
		for _, factor := range [...]struct {
			into *float64
			by   float64
		}{
			{&sum.FailureFactor, c.FailureFactor},
			{&sum.ErrorFactor, c.ErrorFactor},
			{&sum.SetupFactor, c.SetupFactor},
			{&sum.DisruptionFactor, c.DisruptionFactor},
		} {
			if factor.by != 0 {
				*factor.into *= factor.by
			}
		}
		sum.RelaysFail = sum.RelaysFail || c.RelaysFail
		sum.LossFraction += c.LossFraction
		sum.JitterMs += c.JitterMs
		sum.RTTMs += c.RTTMs
	}
	return sum, of
}
