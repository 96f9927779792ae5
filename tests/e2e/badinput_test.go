package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/browser"
)

// client speaks the protocol by hand.
type client struct {
	t     *testing.T
	conn  *websocket.Conn
	last  string    // event that was sent
	heard chan said // closed when the connection has ended
	gone  error     // why, once heard is closed
}

// said is what the collector said.
type said struct {
	Type    string `json:"type"`
	Seq     uint64 `json:"seq"`
	Code    string `json:"code"`
	CSError string `json:"csError"`
	Field   string `json:"field"`
	Limit   int    `json:"limit"`
	Message string `json:"message"`

	RetryAfterMs int64 `json:"retryAfterMs"` // of a slow-down
}

func (c *collector) login(origin, app, secret, user string) (*protocol.TokenReply, error) {
	return authtest.Login(c.t.Context(), http.DefaultClient, c.receiver+"/", origin, app, secret, protocol.UserID{Name: user, Alias: user})
}

// connect logs a user in and says hello.
func (c *collector) connect(user string) *client {
	c.t.Helper()
	grant, err := c.login(c.demo, appID, appSecret, user)
	require.NoError(c.t, err)
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Subprotocol}}
	conn, resp, err := dialer.DialContext(c.t.Context(), strings.Replace(c.receiver, "http", "ws", 1)+"/ws", http.Header{"Origin": {c.demo}})
	require.NoError(c.t, err)
	require.NoError(c.t, resp.Body.Close())
	one := &client{t: c.t, conn: conn, heard: make(chan said, 100)}
	go one.listen()
	c.t.Cleanup(func() {
		_ = conn.Close()
		for range one.heard { // until listen has ended
		}
	})
	one.say(fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":0,"at":%d}`, grant.Token, grant.Session, time.Now().UnixMilli()))
	one.hears("welcome")
	one.say(fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":"by hand","addedAt":%d,"remoteUserID":"other","fabricUsage":"multiplex"}`, time.Now().UnixMilli()))
	return one
}

func (c *client) say(text string) {
	c.t.Helper()
	require.NoError(c.t, c.conn.WriteMessage(websocket.TextMessage, []byte(text)))
}

// listen reads all the time, as browsers do: a client that answers no ping is disconnected.
func (c *client) listen() {
	defer close(c.heard)
	for {
		var m said
		if c.gone = c.conn.ReadJSON(&m); c.gone != nil {
			return
		}
		c.heard <- m
	}
}

// next waits for a message.
func (c *client) next(what string) said {
	c.t.Helper()
	select {
	case m, ok := <-c.heard:
		if !ok {
			require.NoError(c.t, c.gone, "waiting for %s", what)
		}
		return m
	case <-time.After(patience):
		require.FailNow(c.t, "nothing was heard", "waiting for %s", what)
		return said{}
	}
}

// hears waits for a message of the type; acknowledgements in between are passed over.
func (c *client) hears(kind string) said {
	c.t.Helper()
	for {
		m := c.next(kind)
		if m.Type == kind {
			return m
		}
		require.Equal(c.t, "ack", m.Type, "%+v", m)
	}
}

// delivers sends an event and waits until the collector has it.
func (c *client) delivers(seq int) {
	c.t.Helper()
	c.event(seq)
	c.acked(seq)
}

// event sends an event.
func (c *client) event(seq int) {
	c.t.Helper()
	c.last = fmt.Sprintf(`{"type":"event","seq":%d,"at":%d,"fabric":1,"event":"customEvent","data":{}}`, seq, time.Now().UnixMilli())
	c.say(c.last)
}

// acked waits until the collector has all up to a number. After a slow-down it sends the last event again.
func (c *client) acked(seq int) {
	c.t.Helper()
	for {
		m := c.next(fmt.Sprint("the acknowledgement of ", seq))
		if m.Type == "ack" && m.Seq == uint64(seq) {
			return
		}
		if m.Type == "slow-down" {
			time.Sleep(time.Duration(m.RetryAfterMs) * time.Millisecond)
			c.say(c.last)
			continue
		}
		require.Equal(c.t, "ack", m.Type, "%+v", m)
	}
}

// TestBadInput: each kind of nonsense gets the documented answer from the real binary, is
// counted, and disturbs nobody else. The receiver's own tests have the rest.
//
// spec: SRV-02, AUTH-01, AUTH-03
func TestBadInput(t *testing.T) {
	browser.Require(t)
	c := startCollector(t)
	neighbour := c.connect("neighbour")
	neighbour.delivers(1)

	t.Run("Handshake", func(t *testing.T) { badHandshakes(t, c) })
	t.Run("Frames", func(t *testing.T) { badFrames(t, c) })

	neighbour.delivers(2)
	counted := samples(t, c.read(c.telemetry+"/metrics"))
	for _, name := range []string{
		`otelcol_receiver_qoswss_auth_requests{result="auth_failed"}`,
		`otelcol_receiver_qoswss_auth_requests{result="origin_denied"}`,
		`otelcol_receiver_qoswss_frames_refused{code="malformed"}`,
		`otelcol_receiver_qoswss_frames_refused{code="field_too_long"}`,
		`otelcol_receiver_qoswss_frames_refused{code="frame_too_large"}`,
	} {
		require.Positive(t, counted[name], name)
	}
	require.NotContains(t, c.out.String(), appSecret)
}

func badHandshakes(t *testing.T, c *collector) {
	t.Helper()
	_, unknown := c.login(c.demo, "nobody", appSecret, "mallory")
	require.ErrorContains(t, unknown, "auth_failed")
	_, wrong := c.login(c.demo, appID, "guessed", "mallory")
	require.Error(t, wrong)
	require.Equal(t, wrong.Error(), unknown.Error(), "from outside they are the same")
	_, foreign := c.login("http://evil.example.org", appID, appSecret, "mallory")
	require.ErrorContains(t, foreign, "origin_denied")

	// A browser must be able to read the refusal.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.receiver+"/auth", strings.NewReader(`{"type":"scram-first",`))
	require.NoError(t, err)
	req.Header.Set("Origin", "http://evil.example.org")
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	var refusal said
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&refusal))
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	require.Equal(t, "malformed", refusal.Code)
	require.NotEmpty(t, resp.Header.Get("Access-Control-Allow-Origin"))
	require.Empty(t, resp.Header.Get("Access-Control-Allow-Credentials"))
}

func badFrames(t *testing.T, c *collector) {
	t.Helper()
	one := c.connect("clumsy")
	one.delivers(1)
	f := func(frame, code, field string, limit int) {
		t.Helper()
		one.say(frame)
		got := one.hears("nack")
		require.Equal(t, code, got.Code)
		require.Equal(t, string(protocol.CSProtoError), got.CSError)
		require.Equal(t, field, got.Field)
		require.Equal(t, limit, got.Limit)
		require.NotEmpty(t, got.Message)
	}
	f(`{"type":"event",`, "malformed", "", 0)
	f(fmt.Sprintf(`{"type":"event","seq":2,"at":1,"fabric":1,"event":"customEvent","data":{"x":%q}}`, strings.Repeat("x", protocol.MaxEventDataBytes)),
		"field_too_long", "data", protocol.MaxEventDataBytes)
	f(fmt.Sprintf(`{"type":"log","seq":3,"at":1,"fabric":1,"text":%q}`, strings.Repeat("x", 10<<20)),
		"frame_too_large", "", protocol.MaxFrameBytes)
	one.delivers(4)
}
