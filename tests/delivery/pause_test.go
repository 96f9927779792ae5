package delivery

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// pausedClient is a connection that outlives a pause of the collector. Several are of one
// session, each with numbers of its own, so that few logins do.
type pausedClient struct {
	*harness.Client
	wire *harness.Wire
	seq  uint64
	text string // of its last frame
}

func (c *pausedClient) greet(t *testing.T) {
	t.Helper()
	require.True(t, c.wire.Send(c.GreetingFrom(c.seq)...))
}

// says is what a client does before and while the collector is stopped.
type says int

const (
	helloLate says = iota // it says hello while the collector is stopped
	frameLate             // it is welcomed before, and sends a frame then
	nothing               // it is welcomed before, and has nothing to say
)

// hears waits for the next message, which must be a T: no connection may end.
func hears[T any](t *testing.T, c *pausedClient) T {
	t.Helper()
	select {
	case message, open := <-c.wire.Heard():
		require.True(t, open, "the connection ended")
		m, ok := message.(T)
		require.True(t, ok, "%T: %+v", message, message)
		return m
	case <-time.After(2 * harness.Patience):
		require.Fail(t, "nothing was heard")
		panic("unreachable")
	}
}

func (c *pausedClient) frame(t *testing.T) {
	t.Helper()
	c.seq++
	c.text = fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":"x"}`, c.seq, time.Now().UnixMilli())
	require.True(t, c.wire.Send(c.text))
}

// isAcked waits until the frame is acknowledged. A busy collector may ask for it once more.
func (c *pausedClient) isAcked(t *testing.T) {
	t.Helper()
	for {
		switch m := hears[any](t, c).(type) {
		case *protocol.Ack:
			require.Equal(t, c.seq, m.Seq)
			return
		case *protocol.SlowDown:
			if harness.IsPace(m) {
				continue
			}
			harness.Pause(t.Context(), time.Duration(m.RetryAfterMs)*time.Millisecond)
			require.True(t, c.wire.Send(c.text))
		default:
			require.Fail(t, "neither ack nor slow-down", "%T: %+v", m, m)
		}
	}
}

// TestAPauseOfTheCollectorEndsNoConnection stops the process for longer than it gives a
// client for its hello. What its sockets hold then is read before anybody is judged, so that
// each client goes on over the connection that it has.
//
// spec: SRV-04
func TestAPauseOfTheCollectorEndsNoConnection(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	clients := make([]*pausedClient, 300)
	for i := range clients {
		if i%30 == 0 {
			r.add(1, harness.Habits{})
			require.True(t, r.clients[i/30].Login(t.Context()))
		}
		clients[i] = &pausedClient{Client: r.clients[i/30], seq: uint64(10 * i)}
	}
	for i, c := range clients {
		wire, err := harness.Dial(t.Context(), r.collector.URL(), false)
		require.NoError(t, err)
		t.Cleanup(wire.Close)
		c.wire = wire
		if says(i%3) != helloLate {
			c.greet(t)
			hears[*protocol.Welcome](t, c)
		}
	}
	r.collector.Freeze()
	for i, c := range clients {
		switch says(i % 3) {
		case helloLate:
			c.greet(t)
		case frameLate:
			c.frame(t)
		case nothing:
		}
	}
	harness.Pause(t.Context(), 12*time.Second)
	r.collector.Thaw()
	for i, c := range clients {
		switch says(i % 3) {
		case helloLate:
			hears[*protocol.Welcome](t, c)
		case frameLate:
			c.isAcked(t)
		case nothing:
		}
	}
	for _, c := range clients {
		c.frame(t)
		c.isAcked(t)
	}
	r.collector.Stop()
}
