package protocol

import "slices"

// PreCall is the result of one pre-call test (section 4.10). It belongs to no conference. A nil
// number has no result.
type PreCall struct {
	Header            // At: end of the test
	Trigger           string
	Status            string
	Reason            string
	Interrupted       bool // a call or the application stopped the test
	MediaConnectivity bool
	RTTMs             *float64
	LossFraction      *float64
	ThroughputBps     *float64
	NetworkType       string
	BytesSent         int64 // 0: not known
	DurationMs        float64
	Providers         []PreCallProvider // best first
}

// PreCallProvider is the result of one provider in a PreCall. A nil number has no result.
type PreCallProvider struct {
	Provider      string // label of the server, or the host of its first URL
	Acceptable    bool
	Reason        string // one of PreCallReasons; empty: none was given
	RTTMs         *float64
	JitterMs      *float64
	LossFraction  *float64
	ThroughputBps *float64
	Transports    []PreCallTransport
}

// PreCallTransport is the result of one relay protocol of a PreCallProvider.
type PreCallTransport struct {
	RelayProtocol string
	Connected     bool
	ConnectMs     *float64 // nil: not connected
	Error         string
}

var precallMembers = []member[PreCall]{
	typeMember[PreCall](),
	{"seq", true, func(s *scanner, p *PreCall) { p.Seq = s.seq() }},
	{"at", true, func(s *scanner, p *PreCall) { p.At = s.time() }},
	{"trigger", true, func(s *scanner, p *PreCall) { p.Trigger = s.enum(PreCallTriggers) }},
	{"status", true, func(s *scanner, p *PreCall) { p.Status = s.enum(PreCallStatuses) }},
	textMember("reason", MaxReasonBytes, func(p *PreCall) *string { return &p.Reason }),
	{"interrupted", true, func(s *scanner, p *PreCall) { p.Interrupted = s.bool() }},
	{"mediaConnectivity", true, func(s *scanner, p *PreCall) { p.MediaConnectivity = s.bool() }},
	numberMember("rttMs", maxMs, func(p *PreCall) **float64 { return &p.RTTMs }),
	numberMember("lossFraction", 1, func(p *PreCall) **float64 { return &p.LossFraction }),
	numberMember("throughputBps", maxCount, func(p *PreCall) **float64 { return &p.ThroughputBps }),
	textMember("networkType", MaxNetworkBytes, func(p *PreCall) *string { return &p.NetworkType }),
	{"bytesSent", false, func(s *scanner, p *PreCall) { p.BytesSent = s.int(0, MaxSeq) }},
	{"durationMs", true, func(s *scanner, p *PreCall) { p.DurationMs = s.float(0, maxMs) }},
	{"providers", false, func(s *scanner, p *PreCall) { p.Providers = s.precallProviders() }},
}

var precallProviderMembers = []member[PreCallProvider]{
	idMember("provider", MaxProviderBytes, func(p *PreCallProvider) *string { return &p.Provider }),
	{"acceptable", true, func(s *scanner, p *PreCallProvider) { p.Acceptable = s.bool() }},
	{"reason", false, func(s *scanner, p *PreCallProvider) { p.Reason = PreCallReason(s.str(MaxPreCallReasonBytes)) }},
	numberMember("rttMs", maxMs, func(p *PreCallProvider) **float64 { return &p.RTTMs }),
	numberMember("jitterMs", maxMs, func(p *PreCallProvider) **float64 { return &p.JitterMs }),
	numberMember("lossFraction", 1, func(p *PreCallProvider) **float64 { return &p.LossFraction }),
	numberMember("throughputBps", maxCount, func(p *PreCallProvider) **float64 { return &p.ThroughputBps }),
	{"transports", false, func(s *scanner, p *PreCallProvider) { p.Transports = s.precallTransports() }},
}

var precallTransportMembers = []member[PreCallTransport]{
	{"relayProtocol", true, func(s *scanner, t *PreCallTransport) { t.RelayProtocol = s.enum(RelayProtocols) }},
	{"connected", true, func(s *scanner, t *PreCallTransport) { t.Connected = s.bool() }},
	numberMember("connectMs", maxMs, func(t *PreCallTransport) **float64 { return &t.ConnectMs }),
	textMember("error", MaxRelayErrorBytes, func(t *PreCallTransport) *string { return &t.Error }),
}

// PreCallReason returns a text of PreCallReasons as it is, "" for "", and PreCallReasonOther for other texts, so that
// the result of a newer client is not lost.
func PreCallReason(text string) string {
	if text == "" || slices.Contains(PreCallReasons, text) {
		return text
	}
	return PreCallReasonOther
}

// numberMember returns an optional number from 0 to high.
func numberMember[T any](name string, high float64, field func(*T) **float64) member[T] {
	return member[T]{name, false, func(s *scanner, v *T) {
		n := s.float(0, high)
		*field(v) = &n
	}}
}

// precallProviders reads the providers of a test.
func (s *scanner) precallProviders() (providers []PreCallProvider) {
	s.array(MaxProviders, func() {
		var p PreCallProvider
		readObject(s, precallProviderMembers, &p)
		providers = append(providers, p)
	})
	return providers
}

// precallTransports reads the transports of a provider, at most one for each protocol.
func (s *scanner) precallTransports() (transports []PreCallTransport) {
	s.array(len(RelayProtocols), func() {
		var t PreCallTransport
		readObject(s, precallTransportMembers, &t)
		for i := range transports {
			if transports[i].RelayProtocol == t.RelayProtocol {
				s.fail(CodeFieldValue, 0, "is in another transport of the provider")
				s.inField("relayProtocol")
			}
		}
		transports = append(transports, t)
	})
	return transports
}
