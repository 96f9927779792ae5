package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/network"
)

// Remote describes another participant, or a server, to a participant's page.
type Remote struct {
	User         string          `json:"user"`
	Offers       bool            `json:"offers"`
	ICE          json.RawMessage `json:"ice,omitempty"`
	Type         string          `json:"type,omitempty"`
	Usage        string          `json:"usage,omitempty"`
	Direction    string          `json:"direction,omitempty"`
	Send         []string        `json:"send,omitempty"`
	Slots        []string        `json:"slots,omitempty"` // users behind a server, in the order of their transceivers
	NeverAnswers bool            `json:"neverAnswers,omitempty"`
	NoCandidates bool            `json:"noCandidates,omitempty"`
	Rejects      string          `json:"rejects,omitempty"` // the kind of media whose m-line the answer rejects
}

// Source describes a participant's media.
type Source struct {
	Audio  string `json:"audio,omitempty"` // microphone or silence
	Video  string `json:"video,omitempty"` // camera, canvas, still, slides or ended
	Height int    `json:"height,omitempty"`
	FPS    int    `json:"fps,omitempty"`
	// StartKbps is the bitrate with which Chromium begins; 0: its own.
	StartKbps int `json:"startKbps,omitempty"`
	// DTX: audio is sent with discontinuous transmission, in Chromium.
	DTX bool `json:"dtx,omitempty"`
	// The codecs that are preferred, as "PCMU" and "VP9"; empty: the browser's own choice.
	AudioCodec string `json:"audioCodec,omitempty"`
	VideoCodec string `json:"videoCodec,omitempty"`
	// PacketMs is the time of a packet of audio; 0: the browser's own, 20.
	PacketMs int `json:"packetMs,omitempty"`
}

// Member is a participant of a call, or a media server in a page.
type Member struct {
	User              string   `json:"user"`
	Room              string   `json:"room"`
	Backend           string   `json:"backend"`
	Remotes           []Remote `json:"remotes"`
	Media             Source   `json:"media"`
	Quiet             bool     `json:"quiet,omitempty"`    // without the library
	Forwards          bool     `json:"forwards,omitempty"` // a media server
	GetUserMediaError string   `json:"getUserMediaError,omitempty"`
	Sound             string   `json:"sound,omitempty"`     // of received sound, empty: it is played; none: there is no element; paused: it does not begin
	Encrypted         bool     `json:"encrypted,omitempty"` // received frames pass through a transform, which drops those for which the page has no key
	SDK               *SDK     `json:"sdk,omitempty"`       // of a media server; nil: the page makes its own connections

	AheadMs int           `json:"-"` // error of the machine's clock
	Page    *browser.Page `json:"-"` // set by Join
	Edge    *network.Edge `json:"-"` // that relays all of its media; nil: none
}

// Call is one call between participants.
type Call struct {
	T        *testing.T
	Stage    *Stage
	Room     string // the conference ID
	Topology Topology
	People   []*Member
	Server   *Member // of a Forwarder; else nil

	connected []func() // actions for the end of Connect
	paths     map[[2]string]*network.Edge
}

// Person returns a participant with a microphone and a camera of 240p.
func Person(user string) *Member {
	return &Member{User: user, Media: Source{Audio: "microphone", Video: "camera", Height: 240, FPS: 15}}
}

// Connect sets the remotes of each member.
func (c *Call) Connect() {
	for _, m := range c.People {
		m.Room, m.Backend = c.Room, c.Stage.Backend
	}
	c.Topology.Connect(c)
	for _, do := range c.connected {
		do()
	}
}

// Of returns the participant of a user.
func (c *Call) Of(user string) *Member {
	c.T.Helper()
	i := slices.IndexFunc(c.People, func(m *Member) bool { return m.User == user })
	require.GreaterOrEqual(c.T, i, 0, user)
	return c.People[i]
}

// members returns the server, if there is one, and the participants.
func (c *Call) members() []*Member {
	if c.Server == nil {
		return c.People
	}
	return append([]*Member{c.Server}, c.People...)
}

// Join opens the page of each member, in the shared browser or in one of the user's own.
func (c *Call) Join(shared *browser.Browser, own map[string]*browser.Browser) {
	c.T.Helper()
	for _, m := range c.members() {
		b := shared
		if own[m.User] != nil {
			b = own[m.User]
		}
		m.Page = browser.OpenPage(c.T, b, m.User, fmt.Sprintf("%s/?ahead=%d", c.Stage.URL, m.AheadMs))
		m.Page.Until(browser.Patience, "typeof start === 'function'")
		config, err := json.Marshal(m)
		require.NoError(c.T, err)
		m.Page.Run("start(" + string(config) + ")")
		m.Page.Until(browser.Patience, "call.joined")
	}
	for _, m := range c.People {
		if !m.Quiet {
			m.Page.Until(browser.Patience, "call.init.some(([csError]) => csError === 'success')")
		}
	}
}

// Flow waits until each participant receives these kinds of media.
func (c *Call) Flow(kinds ...string) {
	c.T.Helper()
	list, err := json.Marshal(kinds)
	require.NoError(c.T, err)
	for _, m := range c.People {
		m.Page.Until(browser.Patience, "await flows("+string(list)+")")
	}
}

// Continue returns after a part of the call, whose length is an input of what is measured.
func (c *Call) Continue(d time.Duration) {
	c.T.Helper()
	select {
	case <-time.After(d):
	case <-c.T.Context().Done():
		c.T.Fatal("the test was stopped")
	}
}

// HangUp ends the call for one participant.
func (c *Call) HangUp(m *Member) {
	c.T.Helper()
	m.Page.Run("leave()")
	m.Page.CloseTab()
}

// Leave ends the call for all members that have not left.
func (c *Call) Leave() {
	c.T.Helper()
	members := c.members()
	if c.Server != nil {
		members = append(slices.Clone(c.People), c.Server)
	}
	for _, m := range members {
		if m.Page.Context != "" {
			c.HangUp(m)
		}
	}
}
