package scenario

import (
	"encoding/json"
	"testing"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/mediaserver"
)

// SDK is how a participant joins through the SDK of a media server. The page attaches the library with one line.
type SDK struct {
	Name    string          `json:"name"`    // livekit or janus
	URL     string          `json:"url"`     // of the server's signalling
	Scripts []string        `json:"scripts"` // that the page loads first, in client/node_modules
	Token   string          `json:"token,omitempty"`
	ICE     json.RawMessage `json:"ice,omitempty"`
	Plain   bool            `json:"plain,omitempty"`   // the page hands over the connections itself, without the module for the SDK
	Options json.RawMessage `json:"options,omitempty"` // of LiveKit's Room, beside the page's
}

// MediaServer is a server that participants without a page join too.
type MediaServer interface {
	Topology
	StartGuest(t *testing.T, room, identity string) *browser.Process
	Process() *browser.Process
}

// LiveKit connects each participant with a LiveKit server, with simulcast, dynacast and adaptive streams.
type LiveKit struct{ *mediaserver.LiveKit }

// Connect implements Topology.
func (l LiveKit) Connect(c *Call) {
	for _, m := range c.People {
		m.SDK = &SDK{
			Name: "livekit", URL: l.URL, Token: l.Token(c.T, c.Room, m.User), ICE: Through(m.Edge),
			Scripts: []string{"livekit-client/dist/livekit-client.umd.js"},
		}
	}
}

// Janus connects each participant with a room of Janus's VideoRoom.
type Janus struct{ *mediaserver.Janus }

// Connect implements Topology.
func (j Janus) Connect(c *Call) {
	for _, m := range c.People {
		m.SDK = &SDK{
			Name: "janus", URL: j.URL, ICE: Through(m.Edge),
			Scripts: []string{"webrtc-adapter/out/adapter.js"}, // which Janus's module expects
		}
	}
}
