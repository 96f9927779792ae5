package qoswssreceiver

import (
	"bytes"
	"net"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// resting has connections rest whenever nothing has arrived.
var resting = with(func(r *wssReceiver) { r.timing.rest = 0 })

// awaitRest waits until the only connection of the tests rests.
func awaitRest(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		var stacks bytes.Buffer
		require.NoError(t, pprof.Lookup("goroutine").WriteTo(&stacks, 1))
		return bytes.Contains(stacks.Bytes(), []byte("(*connection).sleep"))
	}, patience, time.Millisecond)
}

// heldLine is a connection whose writes can be held back, and then are one.
type heldLine struct {
	net.Conn
	held  bool
	bytes []byte
}

func (l *heldLine) hold() { l.held = true }

func (l *heldLine) release(t *testing.T) {
	t.Helper()
	l.held = false
	_, err := l.Conn.Write(l.bytes)
	require.NoError(t, err)
}

func (l *heldLine) Write(p []byte) (int, error) {
	if l.held {
		l.bytes = append(l.bytes, p...)
		return len(p), nil
	}
	return l.Conn.Write(p)
}

// A connection that rests takes the next messages, notices that its client has gone, and asks a silent one for a sign of life.
//
// spec: SRV-04
func TestRest(t *testing.T) {
	f := func(name string, opts ...option) {
		t.Run(name, func(t *testing.T) {
			c := startCollector(t, append(opts, resting)...)
			var line *heldLine
			c.netDial = func(network, address string) (net.Conn, error) {
				conn, err := net.Dial(network, address)
				line = &heldLine{Conn: conn}
				return line, err
			}
			p := c.connect("demo")
			for seq := uint64(1); seq < 4; seq++ {
				awaitRest(t)
				p.say(statsText(seq))
				p.acked(seq)
			}
			line.hold() // messages arrive together: TLS reads them at once, and the first needs no answer
			p.say(columnText)
			p.say(statsText(4))
			line.release(t)
			p.acked(4)
			require.Equal(t, []int64{1, 2, 3, 4}, c.seqs())
			awaitRest(t)
			require.NoError(t, p.ws.Close())
			require.Eventually(t, func() bool { return c.counted("receiver_qoswss_connections", "") == 0 }, patience, time.Millisecond)
		})
	}
	f("plain")
	f("over TLS", overTLS(t))
}

// spec: SRV-04
func TestRestAtTheEnd(t *testing.T) {
	c := startCollector(t, resting, with(func(r *wssReceiver) { r.timing.ping, r.timing.idle = 20*time.Millisecond, patience }))
	p := c.connect("demo")
	pings := make(chan struct{}, 100)
	pong := p.ws.PingHandler()
	p.ws.SetPingHandler(func(data string) error {
		pings <- struct{}{}
		return pong(data)
	})
	ended := make(chan error, 1)
	go func() {
		_, _, err := p.ws.ReadMessage() // the bye
		ended <- err
	}()
	for range 3 {
		<-pings
	}
	c.receiver.sockets.closeAll() // as Shutdown does
	require.NoError(t, <-ended)
	p.closed(websocket.CloseGoingAway)
}
