package network

import (
	"encoding/binary"
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pion/stun/v3"
	"github.com/stretchr/testify/require"
)

// Line is the only network path to a TURN server, as that of a participant at home: what all its clients
// send shares one direction, what they receive the other.
type Line struct {
	Up, Down *Link

	address string // host and port
}

// StartLine starts a TURN server over UDP and the line to it, without harm.
func StartLine(t *testing.T) *Line {
	t.Helper()
	behind := startTURN(t)
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	l := &Line{
		address: front.LocalAddr().String(),
		Up:      NewLink(t, 0), Down: NewLink(t, 0),
	}
	l.Up.loses, l.Down.loses = isRelayedData, isRelayedData
	l.Up.chance, l.Down.chance = evenly(), evenly()
	var wg sync.WaitGroup
	wg.Go(func() { l.forward(front, behind, &wg) })
	t.Cleanup(func() {
		require.NoError(t, front.Close())
		wg.Wait()
	})
	return l
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

// lineTimeout ends a test whose line does not answer.
const lineTimeout = 2 * time.Minute

// RoundTrips measures the line itself, beside what is tested through it, by STUN requests (RFC 8489). The
// returned function ends the measurement and returns the median in ms.
func (l *Line) RoundTrips(t *testing.T) (medianMs func() float64) {
	t.Helper()
	conn, err := net.Dial("udp4", l.address)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(lineTimeout)))
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

// URL returns the URL of TURN.
func (l *Line) URL() string { return "turn:" + l.address + "?transport=udp" }

// Set harms both directions alike.
func (l *Line) Set(h Harm) {
	l.Up.Set(h)
	l.Down.Set(h)
}

// forward gives each client a socket of its own towards the server, as a NAT does.
func (l *Line) forward(front *net.UDPConn, behind *net.UDPAddr, wg *sync.WaitGroup) {
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
		l.Up.Send(p, func() { _, _ = c.Write(p) }) // it may be closed by then
	}
}

// back passes on what the server sends to one client.
func (l *Line) back(c, front *net.UDPConn, to *net.UDPAddr) {
	buffer := make([]byte, 65536)
	for {
		n, err := c.Read(buffer)
		if err != nil {
			return
		}
		p := append([]byte(nil), buffer[:n]...)
		l.Down.Send(p, func() { _, _ = front.WriteToUDP(p, to) })
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
