package malice

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

func TestMain(m *testing.M) {
	harness.TestsAtOnce(8)
	harness.VerifyMain(m)
}

const (
	victim, attacker = "victim", "attacker"
	secret           = "malice-secret"
)

// limitMiB is the limit of the memory limiter. Each attack exceeded it before memory had an owner.
const limitMiB = 96

// conferencesMiB is the limit of the conference processor, as its README recommends.
const conferencesMiB = limitMiB * 3 / 8

// start starts a collector with two applications that knows the addresses of its clients.
func start(t *testing.T) *harness.Collector {
	t.Helper()
	return startLimited(t, "{}")
}

// startLimited gives the attacker's application limits of its own.
func startLimited(t *testing.T, limits string) *harness.Collector {
	t.Helper()
	dir := t.TempDir()
	c := harness.NewCollector(t, harness.Options{
		Storage: harness.SQLite(dir), FramesPerSecond: 200,
		Apps: fmt.Sprintf(`{key_file: %q, storage: qosstorage, apps: [{id: %s, secrets: [%s]}, {id: %s, secrets: [%s], limits: %s}]}`,
			dir+"/key", victim, secret, attacker, secret, limits),
		More: fmt.Sprintf("receivers: {qoswss: {trusted_proxies: [127.0.0.1], read_header_timeout: 2s, read_timeout: 5s}}\nprocessors: {memory_limiter: {limit_mib: %d}, conference: {memory_mib: %d}}\n", limitMiB, conferencesMiB),
	})
	c.Start()
	t.Cleanup(func() { // first the answers that tests may wait for
		if !t.Failed() {
			c.Stop()
		}
	})
	return c
}

// from adds the address of a client to its requests, as a proxy does.
type from string

func (f from) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", string(f))
	return http.DefaultTransport.RoundTrip(r)
}

func login(t *testing.T, c *harness.Collector, app, user, address string) *protocol.TokenReply {
	t.Helper()
	client := &http.Client{Transport: from(address)}
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	grant, err := authtest.Login(context.Background(), client, c.URL(), "", app, secret, protocol.UserID{Name: user, Alias: user})
	require.NoError(t, err)
	return grant
}

// peer is one connection.
type peer struct {
	t  *testing.T
	ws *websocket.Conn
}

// upgrade is a connection without a hello.
func upgrade(t *testing.T, c *harness.Collector, address string) *peer {
	t.Helper()
	ws, resp, err := websocket.DefaultDialer.Dial("ws://"+c.Address()+"/ws", http.Header{"X-Forwarded-For": {address}})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	t.Cleanup(func() { _ = ws.Close() })
	return &peer{t, ws}
}

func connect(t *testing.T, c *harness.Collector, grant *protocol.TokenReply, address string) *peer {
	t.Helper()
	p := upgrade(t, c, address)
	require.True(t, p.say(fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":0,"at":%d}`, grant.Token, grant.Session, now())))
	return p
}

// welcomed is a connection after its welcome.
func welcomed(t *testing.T, c *harness.Collector, app, user, address string) *peer {
	t.Helper()
	p := connect(t, c, login(t, c, app, user, address), address)
	m, _ := p.hear()
	require.Equal(t, "welcome", m.Type)
	return p
}

func now() int64 { return time.Now().UnixMilli() }

// say reports whether the connection took a message.
func (p *peer) say(text string) bool {
	_ = p.ws.SetWriteDeadline(time.Now().Add(harness.Patience))
	return p.ws.WriteMessage(websocket.TextMessage, []byte(text)) == nil
}

// said is a message of the server.
type said struct {
	Type string `json:"type"`
	Code string `json:"code"`
	Seq  uint64 `json:"seq"`

	RetryAfterMs    int64 `json:"retryAfterMs"`
	StatsIntervalMs int   `json:"statsIntervalMs"`
}

// hear returns the next message, false when the connection has ended.
func (p *peer) hear() (m said, ok bool) {
	_ = p.ws.SetReadDeadline(time.Now().Add(harness.Patience))
	_, text, err := p.ws.ReadMessage()
	if err != nil {
		return m, false
	}
	require.NoError(p.t, json.Unmarshal(text, &m))
	return m, true
}

// listen counts what the server says until the connection ends. Texts are types, and codes of refusals.
func (p *peer) listen() <-chan map[string]int {
	heard := make(chan map[string]int, 1)
	go func() {
		count := map[string]int{}
		for m, ok := p.hear(); ok; m, ok = p.hear() {
			count[m.Type+m.Code]++
		}
		heard <- count
	}()
	return heard
}

// isServed requires that the victim's frames are accepted at once.
func isServed(t *testing.T, p *peer, seq uint64) {
	t.Helper()
	require.True(t, p.say(fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":"x"}`, seq, now())))
	require.Equal(t, said{Type: "ack", Seq: seq}, p.hearAck(t))
}

// hearAck returns the next message, but for the pace: on a busy machine the store is slow.
func (p *peer) hearAck(t *testing.T) said {
	t.Helper()
	for {
		m, ok := p.hear()
		require.True(t, ok)
		if m.Type != "slow-down" || m.RetryAfterMs > 0 {
			return m
		}
	}
}

// accepted sends a frame until it is acknowledged, and returns how often the collector deferred it.
func (p *peer) accepted(t *testing.T, seq uint64, frame string) (deferred int) {
	t.Helper()
	for {
		require.True(t, p.say(frame))
		m := p.hearAck(t)
		if m.Type != "slow-down" {
			require.Equal(t, said{Type: "ack", Seq: seq}, m)
			return deferred
		}
		deferred++
		harness.Pause(t.Context(), time.Duration(m.RetryAfterMs)*time.Millisecond)
	}
}

// honest connects a client of the victim.
func honest(t *testing.T, c *harness.Collector) *peer {
	t.Helper()
	p := welcomed(t, c, victim, "bob", "203.0.113.9")
	require.True(t, p.say(fabric("standup")))
	return p
}

func fabric(conference string) string {
	return fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":%q,"addedAt":%d,"remoteUserID":"bob","fabricUsage":"multiplex"}`, conference, now())
}

// metric reads one of the collector's own metrics.
func metric(c *harness.Collector, name string, labels ...string) float64 {
	return c.Metrics().Sum(name, labels...)
}
