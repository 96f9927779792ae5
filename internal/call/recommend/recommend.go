package recommend

import (
	"encoding/json"

	"github.com/qosrtc/qos/protocol"
)

// Codes of reasons.
const (
	CodeFreshCredentials = "freshCredentials" // servers with short-lived credentials were added
	CodeRanking          = "ranking"          // servers are in the order of the pre-call test's ranking
	CodeDirectPathsFail  = "directPathsFail"
	CodeThroughput       = "throughput"
)

// Members that a recommendation may change.
const (
	memberICEServers = "peerConnection.iceServers"
	memberPolicy     = "peerConnection.iceTransportPolicy"
	memberVideo      = "media.video"
)

// Known holds the known facts about a user's network and the servers for calls.
type Known struct {
	// Default is the default configuration of the application.
	Default protocol.CallConfig
	// Servers have short-lived credentials for the user. nil: none.
	Servers []Server
	// Test is the newest pre-call test. nil: none.
	Test *protocol.TestResult
	// Paths are the network paths of recent fabrics at the user's site.
	Paths Paths
}

// Config returns the recommended configuration. It is the default with the changed members, or, if none changes,
// two empty objects and no reason. Each changed member has at least one reason. A default that is not a pair of
// JSON objects is treated as empty.
func Config(k Known) protocol.RecommendedConfig {
	c := change{peerConnection: members(k.Default.PeerConnection), media: members(k.Default.Media)}
	c.servers(k)
	c.policy(k.Paths)
	c.video(k.Test)
	if len(c.reasons) == 0 {
		return protocol.RecommendedConfig{}
	}
	return protocol.RecommendedConfig{
		CallConfig: protocol.CallConfig{PeerConnection: c.peerConnection.json(), Media: c.media.json()},
		Reasons:    c.reasons,
	}
}

// change is a configuration that is being changed, with the reasons.
type change struct {
	peerConnection, media object
	reasons               []protocol.Reason
}

func (c *change) addReason(member, code, text string) {
	c.reasons = append(c.reasons, protocol.Reason{Member: member, Code: code, Text: text})
}

// object holds the members of a JSON object.
type object map[string]json.RawMessage

func members(raw json.RawMessage) object {
	var o object
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil || o == nil {
		return object{}
	}
	return o
}

// set sets a member to a value that can be written as JSON.
func (o object) set(name string, value any) {
	if text, err := json.Marshal(value); err == nil {
		o[name] = text
	}
}

func (o object) json() json.RawMessage {
	text, err := json.Marshal(o)
	if err != nil {
		return json.RawMessage("{}") // members were read as JSON
	}
	return text
}
