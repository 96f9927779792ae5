package e2e

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// startRelayOver starts a TURN server that is reached over UDP, TCP or TLS. For TLS it has the
// certificate for qos.test that makeChain wrote into dir.
func startRelayOver(t *testing.T, transport, dir string) (url string) {
	t.Helper()
	config := turn.ServerConfig{}
	addresses := onLoopback()
	if transport == "udp" {
		socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
		require.NoError(t, err)
		url = "turn:" + socket.LocalAddr().String() + "?transport=udp"
		config.PacketConnConfigs = []turn.PacketConnConfig{{PacketConn: socket, RelayAddressGenerator: addresses}}
	} else {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		url = "turn:" + listener.Addr().String() + "?transport=tcp"
		if transport == "tls" {
			pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem"))
			require.NoError(t, err)
			url = "turns:" + strings.Replace(listener.Addr().String(), "127.0.0.1", "qos.test", 1) + "?transport=tcp"
			listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
		}
		config.ListenerConfigs = []turn.ListenerConfig{{Listener: listener, RelayAddressGenerator: addresses}}
	}
	serveRelay(t, config)
	return url
}

// relayOnly is the configuration of a PeerConnection that uses nothing but this relay.
func relayOnly(url string) string {
	return jsonOf(map[string]any{
		"iceTransportPolicy": "relay",
		"iceServers":         []any{map[string]string{"urls": url, "username": relayUser, "credential": relaySecret}},
	})
}

// relayed: the time-line says how a call that has no other way reaches its relay.
//
// spec: FAB-14
func relayed(transport string) labSubject {
	return func(t *testing.T, l *lab, b *browser.Browser) {
		t.Helper()
		p := l.open(t, b, "relayed over "+transport)
		p.logsIn("{}")
		p.does("await call(room, { config: " + relayOnly(startRelayOver(t, transport, l.chain)) + " })")
		p.sees(patience, "up(room) && count(room) > 1")
		p.does("hangUp(room)")
		whole := l.keeps(t, p.room, "the end", fabricEnded)
		setup := whole.events("fabricSetup")
		require.Len(t, setup, 1)
		require.Equal(t, []any{"relay", "relay", transport},
			[]any{setup[0]["localCandidateType"], setup[0]["remoteCandidateType"], setup[0]["relayProtocol"]})
		raw := jsonOf(whole.Timeline)
		require.NotContains(t, raw, "127.0.0.1", "candidates are reported by type, never by address")
	}
}
