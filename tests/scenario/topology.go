package scenario

import (
	"encoding/json"

	"github.com/qosrtc/qos/tests/network"
)

// Topology is how the participants of a call are connected.
type Topology interface {
	// Connect sets the remotes of each participant, whose Edge may relay. It sets the call's Server if that is a page.
	Connect(c *Call)
}

// Mesh connects each participant with each other. The first of two in the call's order offers.
type Mesh struct{}

// Connect implements Topology.
func (Mesh) Connect(c *Call) {
	for i, m := range c.People {
		for j, o := range c.People {
			if i != j {
				m.Remotes = append(m.Remotes, Remote{User: o.User, Offers: i < j, ICE: Through(m.Edge)})
			}
		}
	}
}

// Forwarder connects each participant with a page that forwards each track to all others, as a media server does.
type Forwarder struct{}

// Connect implements Topology.
func (Forwarder) Connect(c *Call) {
	c.Server = &Member{User: "server", Room: c.Room, Quiet: true, Forwards: true}
	for _, m := range c.People {
		var others []string
		for _, o := range c.People {
			if o != m {
				others = append(others, o.User)
			}
		}
		m.Remotes = append(m.Remotes, Remote{User: c.Server.User, Offers: true, ICE: Through(m.Edge), Type: "server", Slots: others})
		c.Server.Remotes = append(c.Server.Remotes, Remote{User: m.User, Slots: others})
	}
}

// Through returns an RTCConfiguration that permits no candidates but those of an edge; nil if there is none.
func Through(e *network.Edge) json.RawMessage {
	if e == nil {
		return nil
	}
	return ThroughTURN(e.URL, network.TURNPassword)
}

// ThroughTURN returns an RTCConfiguration that permits no candidates but those of a TURN server.
func ThroughTURN(url, password string) json.RawMessage {
	raw, err := json.Marshal(map[string]any{
		"iceTransportPolicy": "relay",
		"iceServers":         []any{map[string]any{"urls": []string{url}, "username": network.TURNUser, "credential": password}},
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return raw
}
