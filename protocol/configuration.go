package protocol

import (
	"encoding/json"
	"strconv"
)

// ConfigurationRequest is the body of a POST to configuration (section 11).
type ConfigurationRequest struct {
	Token       string
	SiteID      string
	NetworkType string
	PreCall     *TestResult // nil: no test has ended yet
}

// TestResult is the part of a ConfigurationRequest about the newest pre-call test. A nil number has no result.
type TestResult struct {
	RTTMs         *float64
	LossFraction  *float64
	ThroughputBps *float64
	Providers     []PreCallProvider // best first
}

var configurationMembers = []member[ConfigurationRequest]{
	typeMember[ConfigurationRequest](),
	idMember("token", MaxTokenBytes, func(r *ConfigurationRequest) *string { return &r.Token }),
	textMember("siteID", MaxSiteIDBytes, func(r *ConfigurationRequest) *string { return &r.SiteID }),
	textMember("networkType", MaxNetworkBytes, func(r *ConfigurationRequest) *string { return &r.NetworkType }),
	{"preCall", false, func(s *scanner, r *ConfigurationRequest) {
		r.PreCall = &TestResult{}
		readObject(s, testResultMembers, r.PreCall)
	}},
}

var testResultMembers = []member[TestResult]{
	numberMember("rttMs", maxMs, func(t *TestResult) **float64 { return &t.RTTMs }),
	numberMember("lossFraction", 1, func(t *TestResult) **float64 { return &t.LossFraction }),
	numberMember("throughputBps", maxCount, func(t *TestResult) **float64 { return &t.ThroughputBps }),
	{"providers", false, func(s *scanner, t *TestResult) { t.Providers = s.precallProviders() }},
}

// DecodeConfiguration parses and validates the body of a POST to configuration.
func DecodeConfiguration(body []byte) (*ConfigurationRequest, *Error) {
	return decodePost(body, func(s *scanner, kind Type) *ConfigurationRequest {
		if kind != TypeConfiguration {
			s.fail(CodeTypeUnknown, 0, "must be %s", TypeConfiguration)
			s.inField("type")
			return nil
		}
		return readFrame(s, configurationMembers, &ConfigurationRequest{})
	})
}

// Configuration answers a ConfigurationRequest.
type Configuration struct {
	At          int64
	Default     CallConfig
	Recommended RecommendedConfig
	ICEServers  []ICEServer
	ExpiresInMs int64         // until the first of the credentials expires; 0: none expires
	PreCall     *TestSettings // nil: no servers for tests
}

// CallConfig is the configuration of a call. Each member is a JSON object; nil: an empty one.
type CallConfig struct {
	PeerConnection json.RawMessage `json:"peerConnection"` // RTCConfiguration
	Media          json.RawMessage `json:"media"`          // MediaStreamConstraints
}

// RecommendedConfig is a CallConfig with a reason for each member that differs from the default.
type RecommendedConfig struct {
	CallConfig
	Reasons []Reason `json:"reasons"`
}

// Reason is why a member of a RecommendedConfig has its value.
type Reason struct {
	Member string `json:"member"` // path, like peerConnection.iceTransportPolicy
	Code   string `json:"code"`
	Text   string `json:"text"` // for people, in English
}

// ICEServer is an RTCIceServer. Servers without a credential have empty texts.
type ICEServer struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`
}

// TestSettings are the servers and the limits of pre-call tests.
type TestSettings struct {
	Servers          []TestServer `json:"servers"`
	MaxDurationMs    int64        `json:"maxDurationMs"`
	MaxBytes         int64        `json:"maxBytes"`
	MaxThroughputBps int64        `json:"maxThroughputBps"`
}

// TestServer is a server of pre-call tests.
type TestServer struct {
	Label string `json:"label"`
	ICEServer
}

// AppendConfiguration appends the answer to a ConfigurationRequest (section 11).
func AppendConfiguration(dst []byte, c *Configuration) []byte {
	servers := c.ICEServers
	if servers == nil {
		servers = []ICEServer{}
	}
	o := c.Default.append(begin(dst, TypeConfiguration).int("at", c.At).name("defaultConfig")).end()
	o = c.Recommended.append(object(o).name("recommendedConfig")).json("reasons", c.Recommended.reasons()).end()
	o = object(o).json("iceServers", servers).optionalInt("expiresInMs", c.ExpiresInMs)
	if c.PreCall != nil {
		o = object(o).json("preCall", c.PreCall)
	}
	return object(o).end()
}

// reasons returns an empty list for nil, which JSON would encode as null.
func (c *RecommendedConfig) reasons() []Reason {
	if c.Reasons == nil {
		return []Reason{}
	}
	return c.Reasons
}

// append begins an object with the members of a CallConfig.
func (c *CallConfig) append(o object) object {
	o = append(o, `{"peerConnection":`...)
	o = append(o, orEmpty(c.PeerConnection)...)
	return append(o.name("media"), orEmpty(c.Media)...)
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// json writes a member whose value encoding/json can encode.
func (o object) json(name string, v any) object {
	text, err := json.Marshal(v)
	if err != nil {
		text = strconv.AppendQuote(nil, "") // not reached: no value of this package fails
	}
	return append(o.name(name), text...)
}
