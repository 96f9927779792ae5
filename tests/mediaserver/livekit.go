package mediaserver

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/freeport"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// Key and Secret are the API key of each LiveKit.
const (
	Key    = "devkey"
	Secret = "secret-of-at-least-32-characters"
)

// liveKitConfig leaves a server one port for each transport. Candidates on loopback are off by default.
const liveKitConfig = `
port: %d
bind_addresses: [127.0.0.1]
keys: {%s: %s}
logging: {level: error, pion_level: error}
rtc: {udp_port: %d, tcp_port: %d, node_ip: 127.0.0.1, use_external_ip: false, enable_loopback_candidate: true, stun_servers: []}
`

// LiveKit is a running LiveKit server.
type LiveKit struct {
	URL string // of its signalling: ws://

	process        *browser.Process
	config, health string
}

// StartLiveKit starts a server and waits until it answers.
func StartLiveKit(t *testing.T) *LiveKit {
	t.Helper()
	port := freePort(t)
	config := fmt.Sprintf(liveKitConfig, port, Key, Secret, freePort(t), freePort(t))
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	l := &LiveKit{URL: "ws://" + address, config: config, health: "http://" + address}
	l.start(t)
	return l
}

func (l *LiveKit) start(t *testing.T) {
	t.Helper()
	l.process = start(t, l.health, testenv.Program(t, "livekit-server"), "--config-body", l.config)
}

// Restart kills the server and starts it anew, without its rooms.
func (l *LiveKit) Restart(t *testing.T) {
	t.Helper()
	l.process.Kill()
	l.start(t)
}

// Process returns the server's process.
func (l *LiveKit) Process() *browser.Process { return l.process }

// Token returns the access token of a participant, who may join the room, publish and subscribe for a day.
func (*LiveKit) Token(t *testing.T, room, identity string) string {
	t.Helper()
	now := time.Now()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": Key, "sub": identity, "name": identity, "nbf": now.Unix(), "exp": now.Add(24 * time.Hour).Unix(),
		"video": map[string]any{"room": room, "roomJoin": true, "canPublish": true, "canSubscribe": true, "canPublishData": true},
	}).SignedString([]byte(Secret))
	require.NoError(t, err)
	return token
}

// StartGuest starts a guest that joins a room.
func (l *LiveKit) StartGuest(t *testing.T, room, identity string) *browser.Process {
	t.Helper()
	return startGuest(t, "livekit", l.URL, room, identity)
}

func freePort(t *testing.T) int {
	t.Helper()
	address, err := freeport.Address()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	return n
}

// start starts a program, which ends with the test, and waits until a URL answers.
func start(t *testing.T, url, program string, args ...string) *browser.Process {
	t.Helper()
	process, out, err := browser.StartProcess(t.TempDir(), program, args...)
	require.NoError(t, err)
	t.Cleanup(func() {
		process.Kill()
		if t.Failed() {
			t.Logf("%s:\n%s", program, out)
		}
	})
	browser.Eventually(t, browser.Patience, program+" answers", func() (bool, string) {
		resp, err := http.Get(url)
		if err != nil {
			return false, err.Error() + "\n" + out.String()
		}
		return resp.Body.Close() == nil, ""
	})
	return process
}
