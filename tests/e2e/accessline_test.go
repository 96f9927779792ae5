package e2e

import (
	"encoding/binary"
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pion/stun/v3"
	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// accessLine is the only network path to a TURN server, as that of a participant at home: what all its clients
// send shares one direction, what they receive the other.
type accessLine struct {
	address  string // host and port
	up, down *access
}

// startAccessLine starts a TURN server over UDP and the link to it, which harms nothing yet.
func startAccessLine(t *testing.T) *accessLine {
	t.Helper()
	behind := startRelaySocket(t)
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	l := &accessLine{
		address: front.LocalAddr().String(),
		up:      newAccess(t, 0), down: newAccess(t, 0),
	}
	l.up.loses, l.down.loses = isRelayedData, isRelayedData
	l.up.chance, l.down.chance = evenly(), evenly()
	var wg sync.WaitGroup
	wg.Go(func() { l.forward(front, behind, &wg) })
	t.Cleanup(func() {
		require.NoError(t, front.Close())
		wg.Wait()
	})
	return l
}

// startRelaySocket starts a TURN server over UDP that harms nothing.
func startRelaySocket(t *testing.T) *net.UDPAddr {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	serveRelay(t, turn.ServerConfig{
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn:            socket,
			RelayAddressGenerator: onLoopback(),
		}},
	})
	return socket.LocalAddr().(*net.UDPAddr)
}

// evenly loses what is lost without chance: of a hundred packets of one length the share that the line is set to, and
// of every fifth of them too (the fractional parts of multiples of the golden ratio are equidistributed).
func evenly() func(p []byte) float64 {
	next := map[int]float64{}
	return func(p []byte) float64 {
		_, next[len(p)] = math.Modf(next[len(p)] + math.Phi)
		return next[len(p)]
	}
}

// roundTrips measures the line itself, beside what is tested through it: STUN requests (RFC 8489), which the server
// answers. The function that it returns ends that, and has the median in ms.
func (l *accessLine) roundTrips(t *testing.T) (medianMs func() float64) {
	t.Helper()
	conn, err := net.Dial("udp4", l.address)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	var tookMs []float64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		answer := make([]byte, 1500)
		for {
			select {
			case <-stop:
				return
			case <-time.After(25 * time.Millisecond):
			}
			sentAt := time.Now()
			if _, err := conn.Write(stun.MustBuild(stun.TransactionID, stun.BindingRequest).Raw); err != nil {
				return
			}
			if _, err := conn.Read(answer); err != nil {
				return
			}
			tookMs = append(tookMs, float64(time.Since(sentAt))/1e6)
		}
	})
	return func() float64 {
		close(stop)
		wg.Wait()
		require.NoError(t, conn.Close())
		require.Greater(t, len(tookMs), 5)
		slices.Sort(tookMs)
		return tookMs[len(tookMs)/2]
	}
}

func (l *accessLine) url() string { return "turn:" + l.address + "?transport=udp" }

// set harms both directions alike.
func (l *accessLine) set(h harm) {
	l.up.set(h)
	l.down.set(h)
}

// forward gives each client a socket of its own towards the server, as a NAT does.
func (l *accessLine) forward(front *net.UDPConn, behind *net.UDPAddr, wg *sync.WaitGroup) {
	clients := map[string]*net.UDPConn{}
	defer func() {
		for _, c := range clients {
			_ = c.Close()
		}
	}()
	buffer := make([]byte, 65536)
	for {
		n, from, err := front.ReadFromUDP(buffer)
		if err != nil {
			return
		}
		c := clients[from.String()]
		if c == nil {
			if c, err = net.DialUDP("udp4", nil, behind); err != nil {
				return
			}
			clients[from.String()] = c
			wg.Go(func() { l.back(c, front, from) })
		}
		p := append([]byte(nil), buffer[:n]...)
		l.up.send(p, func() { _, _ = c.Write(p) }) // it may be closed by then
	}
}

// back passes on what the server sends to one client.
func (l *accessLine) back(c, front *net.UDPConn, to *net.UDPAddr) {
	buffer := make([]byte, 65536)
	for {
		n, err := c.Read(buffer)
		if err != nil {
			return
		}
		p := append([]byte(nil), buffer[:n]...)
		l.down.send(p, func() { _, _ = front.WriteToUDP(p, to) })
	}
}

// isRelayedData distinguishes relayed application data of DTLS from what sets a connection up. DTLS 1.3 has
// the epoch in its first byte, 3 for application data (RFC 9147, section 4).
func isRelayedData(p []byte) bool {
	data := relayedData(p)
	return len(data) > 0 && (data[0] == 23 || data[0]&0xe3 == 0x23)
}

// relayedData returns the data of ChannelData, which Chromium sends, or of a Send or Data indication, which
// Firefox sends (RFC 8656, sections 11 and 12); empty if the packet is another one.
func relayedData(p []byte) []byte {
	switch {
	case len(p) < 4:
		return nil
	case p[0] >= 0x40 && p[0] <= 0x4f:
		return p[4:]
	case p[0] != 0 || p[1] != 0x16 && p[1] != 0x17:
		return nil
	}
	for at := 20; at+4 <= len(p); {
		kind, length := binary.BigEndian.Uint16(p[at:]), int(binary.BigEndian.Uint16(p[at+2:]))
		if at+4+length > len(p) {
			return nil
		}
		if kind == 0x0013 {
			return p[at+4 : at+4+length]
		}
		at += 4 + (length+3)/4*4
	}
	return nil
}

// TestAccessLine holds the link against what it is set to.
func TestAccessLine(t *testing.T) {
	browser.Require(t)
	up := newAccess(t, 1)
	up.loses = isRelayedData
	data := []byte{0x40, 0, 0, 1, 23}
	setUp := []byte{0x40, 0, 0, 1, 22}
	up.chance = evenly()
	up.set(harm{loss: 0.05})
	for range 20 {
		lost := 0
		for i := range 500 {
			if _, passes := up.arrival(data, time.Now()); !passes && i%5 == 0 {
				lost++
			}
		}
		require.InDelta(t, 5, lost, 1, "of each hundred that are every fifth packet")
	}
	up.chance = func([]byte) float64 { return up.source.Float64() }
	up.set(harm{loss: 0.2})
	lost := 0
	for range 10_000 {
		if _, passes := up.arrival(data, time.Now()); !passes {
			lost++
		}
		_, passes := up.arrival(setUp, time.Now())
		require.True(t, passes)
	}
	require.InDelta(t, 2000, lost, 120)
	up.set(harm{delay: 40 * time.Millisecond, rateBps: 8e5}) // 100 bytes a ms
	begin := time.Now()
	first, _ := up.arrival(make([]byte, 1000), begin)
	second, _ := up.arrival(make([]byte, 1000), begin)
	require.Equal(t, []time.Duration{50 * time.Millisecond, 60 * time.Millisecond}, []time.Duration{first.Sub(begin), second.Sub(begin)})
}
