package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	library "github.com/qosrtc/qos/client"
	"github.com/qosrtc/qos/tests/browser"
)

// remote is what a participant's page knows about somebody else in the call.
type remote struct {
	User         string          `json:"user"`
	Offers       bool            `json:"offers"`
	ICE          json.RawMessage `json:"ice,omitempty"`
	Type         string          `json:"type,omitempty"`
	Usage        string          `json:"usage,omitempty"`
	Direction    string          `json:"direction,omitempty"`
	Send         []string        `json:"send,omitempty"`
	Slots        []string        `json:"slots,omitempty"` // who is in which place, behind a server
	NeverAnswers bool            `json:"neverAnswers,omitempty"`
	NoCandidates bool            `json:"noCandidates,omitempty"`
}

// source is where a participant's media come from.
type source struct {
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

// member is a participant of a call, or the media server.
type member struct {
	User              string   `json:"user"`
	Room              string   `json:"room"`
	Backend           string   `json:"backend"`
	Remotes           []remote `json:"remotes"`
	Media             source   `json:"media"`
	Quiet             bool     `json:"quiet,omitempty"`    // not monitored
	Forwards          bool     `json:"forwards,omitempty"` // the media server
	GetUserMediaError string   `json:"getUserMediaError,omitempty"`

	aheadMs int // by which the machine's clock is wrong

	page *page
	edge *edge // through which all of its media go; nil: direct
}

// causeStage is what scenes of harmed calls are played on.
type causeStage struct {
	*collector
	pages string // base URL of the participants' page
}

func newCauseStage(t *testing.T, c *collector) *causeStage {
	t.Helper()
	s := &causeStage{collector: c}
	html, err := os.ReadFile("testdata/cause.html")
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html)
	})
	mux.Handle("GET /dist/", http.FileServerFS(library.Dist))
	mux.Handle("/signal", new(mailboxes))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.pages = server.URL
	c.origins = append(c.origins, s.pages)
	return s
}

// mailboxes carry the signalling between pages.
type mailboxes struct {
	mu    sync.Mutex
	boxes map[string][]json.RawMessage
}

// ServeHTTP implements http.Handler.
func (m *mailboxes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Method == http.MethodPost {
		var message json.RawMessage
		if json.NewDecoder(r.Body).Decode(&message) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if m.boxes == nil {
			m.boxes = make(map[string][]json.RawMessage)
		}
		m.boxes[query.Get("to")] = append(m.boxes[query.Get("to")], message)
		return
	}
	after, _ := strconv.Atoi(query.Get("after"))
	box := m.boxes[query.Get("me")]
	_ = json.NewEncoder(w).Encode(append([]json.RawMessage{}, box[min(after, len(box)):]...))
}

// causeCall is one call between people who all see each other, or who all see a server.
type causeCall struct {
	t      *testing.T
	stage  *causeStage
	room   string
	server *member
	people []*member
	// arranged is done once everybody knows everybody.
	arranged []func()
}

// person is who takes part when nothing is arranged.
func person(user string) *member {
	return &member{User: user, Media: source{Audio: "microphone", Video: "camera", Height: 240, FPS: 15}}
}

// arrange makes everybody know everybody. The first of two people offers.
func (c *causeCall) arrange() {
	for i, m := range c.people {
		m.Room, m.Backend = c.room, c.stage.receiver
		for j, o := range c.people {
			if c.server == nil && i != j {
				m.Remotes = append(m.Remotes, remote{User: o.User, Offers: i < j, ICE: through(m.edge)})
			}
		}
		if c.server != nil {
			slots := c.others(m)
			m.Remotes = append(m.Remotes, remote{User: c.server.User, Offers: true, ICE: through(m.edge), Type: "server", Slots: slots})
			c.server.Remotes = append(c.server.Remotes, remote{User: m.User, Slots: slots})
		}
	}
	if c.server != nil {
		c.server.Room, c.server.Quiet, c.server.Forwards, c.server.Media = c.room, true, true, source{}
	}
	for _, do := range c.arranged {
		do()
	}
}

func (c *causeCall) others(m *member) []string {
	var users []string
	for _, o := range c.people {
		if o != m {
			users = append(users, o.User)
		}
	}
	return users
}

// through is the RTCConfiguration that leaves only the way through an edge.
func through(e *edge) json.RawMessage {
	if e == nil {
		return nil
	}
	return throughTURN(e.url, relaySecret)
}

func throughTURN(url, password string) json.RawMessage {
	raw, err := json.Marshal(map[string]any{
		"iceTransportPolicy": "relay",
		"iceServers":         []any{map[string]any{"urls": []string{url}, "username": relayUser, "credential": password}},
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return raw
}

// join opens the page of each member in its browser.
func (c *causeCall) join(in map[string]*browser.Browser, otherwise *browser.Browser) {
	c.t.Helper()
	members := c.people
	if c.server != nil {
		members = append([]*member{c.server}, members...)
	}
	for _, m := range members {
		b := otherwise
		if own := in[m.User]; own != nil {
			b = own
		}
		m.page = openPage(c.t, b, m.User, fmt.Sprintf("%s/?ahead=%d", c.stage.pages, m.aheadMs))
		m.page.Until(patience, "typeof start === 'function'")
		config, err := json.Marshal(m)
		require.NoError(c.t, err)
		m.page.Run("start(" + string(config) + ")")
		m.page.Until(patience, "call.joined")
	}
	for _, m := range c.people {
		if m.Quiet {
			continue
		}
		m.page.Until(patience, "call.init.some(([csError]) => csError === 'success')")
	}
}

// flow waits until each member receives these kinds of media.
func (c *causeCall) flow(kinds ...string) {
	c.t.Helper()
	list, err := json.Marshal(kinds)
	require.NoError(c.t, err)
	for _, m := range c.people {
		m.page.Until(patience, "await flows("+string(list)+")")
	}
}

// lasts lets the call go on: what is measured is a time of it.
func (c *causeCall) lasts(d time.Duration) {
	c.t.Helper()
	select {
	case <-time.After(d):
	case <-c.t.Context().Done():
		c.t.Fatal("the test was stopped")
	}
}

func (c *causeCall) leave() {
	c.t.Helper()
	members := c.people
	if c.server != nil {
		members = append(slices.Clone(members), c.server)
	}
	for _, m := range members {
		if m.page.Context != "" { // else the participant left before
			c.hangUp(m)
		}
	}
}

// hangUp ends the call for one participant.
func (c *causeCall) hangUp(m *member) {
	c.t.Helper()
	m.page.Run("leave()")
	m.page.CloseTab()
}

func (c *causeCall) of(user string) *member {
	c.t.Helper()
	i := slices.IndexFunc(c.people, func(m *member) bool { return m.User == user })
	require.GreaterOrEqual(c.t, i, 0, user)
	return c.people[i]
}
