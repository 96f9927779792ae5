package harness

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// Wire is one WebSocket.
type Wire struct {
	ws    *websocket.Conn
	heard chan any // messages of package protocol, or an error that none could be read of
	deaf  bool
}

// Dial opens a WebSocket to a back-end URL. A deaf one never reads: what the server says
// fills the buffers between them. The caller must call Close.
func Dial(ctx context.Context, url string, deaf bool) (*Wire, error) {
	dialer := websocket.Dialer{HandshakeTimeout: 2 * time.Second}
	//nolint:bodyclose // gorilla: the body of an upgrade needs no close
	ws, _, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(url, "http")+"ws", http.Header{"Origin": {Origin}})
	if err != nil {
		return nil, err
	}
	w := &Wire{ws: ws, heard: make(chan any, 1024), deaf: deaf}
	if deaf {
		close(w.heard)
	} else {
		go w.listen()
	}
	return w, nil
}

func (w *Wire) listen() {
	defer close(w.heard)
	for {
		_, msg, err := w.ws.ReadMessage()
		if err != nil {
			return
		}
		message, err := protocol.DecodeServer(msg)
		if err != nil {
			w.heard <- err
			return
		}
		w.heard <- message
	}
}

// Heard gives what the server says, and is closed when it says no more.
func (w *Wire) Heard() <-chan any { return w.heard }

// IsPace reports whether a message only changes how often a client measures. A collector sends it at any time: on a busy
// machine its store is slow.
func IsPace(message any) bool {
	s, ok := message.(*protocol.SlowDown)
	return ok && s.RetryAfterMs == 0
}

// Send writes lines, each a message. It reports whether they went out.
func (w *Wire) Send(lines ...string) bool {
	for _, line := range lines {
		_ = w.ws.SetWriteDeadline(time.Now().Add(2 * time.Second))
		if w.ws.WriteMessage(websocket.TextMessage, []byte(line)) != nil {
			return false
		}
	}
	return true
}

// Deliver sends frames until the one with the number last is acknowledged, again when the collector defers them.
func (w *Wire) Deliver(tb testing.TB, last uint64, frames ...string) {
	tb.Helper()
	require.True(tb, w.Send(frames...))
	deadline := time.After(Patience)
	for {
		select {
		case message, open := <-w.heard:
			require.True(tb, open, "the connection ended")
			switch m := message.(type) {
			case *protocol.Ack:
				if m.Seq == last {
					return
				}
			case *protocol.SlowDown:
				if !IsPace(m) {
					Pause(tb.Context(), time.Duration(m.RetryAfterMs)*time.Millisecond)
					require.True(tb, w.Send(frames...))
				}
			}
		case <-deadline:
			require.FailNow(tb, "no ack")
		}
	}
}

// Reset ends the connection so that what the other side did not read is lost.
func (w *Wire) Reset() {
	if tcp, ok := w.ws.NetConn().(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	w.Close()
}

// HalfClose ends only the way to the server, without a goodbye, and waits until the server
// ends the other.
func (w *Wire) HalfClose() {
	if tcp, ok := w.ws.NetConn().(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	w.outlast()
}

// outlast reads until the server has ended the connection.
func (w *Wire) outlast() {
	_ = w.ws.SetReadDeadline(time.Now().Add(5 * time.Second))
	w.drain()
}

// Goodbye starts the closing handshake of WebSockets.
func (w *Wire) Goodbye() {
	_ = w.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
}

// Finish says goodbye and waits until the server has read all and answered it.
func (w *Wire) Finish() {
	w.Goodbye()
	w.outlast()
}

// Abandon stops listening and leaves the connection half-open: the server does not know,
// and may still read what was sent. The caller closes what comes back.
func (w *Wire) Abandon() net.Conn {
	_ = w.ws.SetReadDeadline(time.Unix(1, 0))
	w.drain()
	return w.ws.NetConn()
}

// Close ends the connection and waits for the listener; what was heard since is lost.
func (w *Wire) Close() {
	_ = w.ws.Close()
	w.drain()
}

func (w *Wire) drain() {
	for range w.heard {
	}
}
