package e2e

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/network"
)

// darkRelay is a TURN server that nothing passes while it is dark.
type darkRelay struct {
	net.PacketConn
	url  string
	dark atomic.Bool
}

func startDarkRelay(t *testing.T) *darkRelay {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	r := &darkRelay{PacketConn: socket, url: "turn:" + socket.LocalAddr().String() + "?transport=udp"}
	network.ServeTURN(t, turn.ServerConfig{
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn:            r,
			RelayAddressGenerator: network.OnLoopback(),
		}},
	})
	return r
}

// ReadFrom implements net.PacketConn.
func (r *darkRelay) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := r.PacketConn.ReadFrom(p)
		if err != nil || !r.dark.Load() {
			return n, from, err
		}
	}
}

// WriteTo implements net.PacketConn.
func (r *darkRelay) WriteTo(p []byte, to net.Addr) (int, error) {
	if r.dark.Load() {
		return len(p), nil
	}
	return r.PacketConn.WriteTo(p, to)
}

// isDisrupted: each time a call loses its path the page hears of it once.
func (s *site) isDisrupted(t *testing.T, w *windows) {
	t.Helper()
	relay := startDarkRelay(t)
	v := w.visit(t, appOrigin, "disrupted", "")
	v.begin(appID, quote(appSecret), "eve", s.collector.receiver)
	v.connects()
	v.eval("call('disrupted', "+jsonOf(map[string]any{
		"iceTransportPolicy": "relay",
		"iceServers":         []any{map[string]string{"urls": relay.url, "username": network.TURNUser, "credential": network.TURNPassword}},
	})+")", nil)
	// Both ends notice each change: one that had no bright moment between two dark ones would end by RFC 7675 after 30 s.
	up := "[fabric, fabric.far].every((end) => end.connectionState === 'connected')" // DTLS too: before, a call is not disrupted but fails
	down := "[fabric, fabric.far].every((end) => end.connectionState === 'disconnected')"
	v.until(patience, up)
	reported := []string{"success"}
	for range 2 {
		relay.dark.Store(true)
		reported = append(reported, "appConnectivityError")
		v.until(patience, down)
		v.hears(reported...)
		relay.dark.Store(false)
		v.until(patience, up)
		v.hears(reported...)
	}
}

// until waits for a condition in the frame.
func (v *visit) until(within time.Duration, condition string) {
	v.t.Helper()
	v.page.Until(within, v.in("eval("+quote(condition)+")"))
}
