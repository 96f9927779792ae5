package qoswssreceiver

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
)

// connection is one WebSocket. One goroutine reads, translates, calls the pipeline and answers: if
// frames arrive faster than the pipeline accepts them, they wait in the network. All its timers are
// read deadlines, so an idle connection costs one goroutine with a small stack, and no buffer.
type connection struct {
	sockets *sockets
	shared  *shared
	session *session
	ws      *websocket.Conn
	network throttle.Key    // of the client; 0: not known
	refusal *protocol.Error // sent instead of serving the client; nil: it is served

	app atomic.Pointer[string] // AppID; nil until the client was welcomed

	rawMu sync.Mutex // guards raw against wake and cut during the upgrade
	raw   net.Conn

	inbox inbox

	started      time.Time
	lastRead     time.Time
	busy         bool      // the last read followed the one before within timing.rest
	pingedAt     time.Time // when the client was pinged since lastRead; zero: it was not
	overdueSince time.Time // since when a read after a deadline is repeated; zero: no deadline has passed
	end          *ending   // set within read, because gorilla cannot return it
}

func (c *connection) wake() {
	c.rawMu.Lock()
	defer c.rawMu.Unlock()
	if c.raw != nil {
		_ = c.raw.SetReadDeadline(pastDeadline)
	}
}

func (c *connection) cut() {
	c.rawMu.Lock()
	defer c.rawMu.Unlock()
	if c.raw != nil {
		_ = c.raw.Close()
	}
}

// run serves until the connection ends or should rest (await).
func (c *connection) run(rested bool) {
	quiet := false
	defer func() {
		if quiet {
			c.session.rest()
			go c.rest()
			return
		}
		_ = c.raw.Close()
		c.session.pay(time.Now())
		c.session.close()
		c.sockets.leave(c)
	}()
	defer c.recover()
	if rested {
		c.await(true)
	}
	end := c.serve()
	if quiet = end == nil; !quiet {
		c.finish(end)
	}
}

// recover limits a panic, which one client's message may cause, to this connection.
func (c *connection) recover() {
	if fault := recover(); fault != nil {
		c.shared.log.Error("connection ended by a fault", zap.Any("fault", fault), zap.ByteString("stack", debug.Stack()))
		end := c.session.end(&protocol.Error{Code: protocol.CodeInternal, Message: "a fault of the server"})
		c.setEnd(end)
		c.sendBye(end)
	}
}

// serve reads messages until the connection ends. It returns nil if the connection should rest.
func (c *connection) serve() *ending {
	if c.refusal != nil {
		return c.session.end(c.refusal)
	}
	for {
		if c.end == nil && !c.await(false) {
			return nil
		}
		if c.end != nil {
			return c.end
		}
		kind, r, err := c.ws.NextReader()
		if err == nil {
			err = c.receive(kind, r)
		}
		if c.end != nil {
			return c.end
		}
		if errors.Is(err, websocket.ErrReadLimit) { // there is no read limit: gorilla returns it for a negative length
			return c.session.end(&protocol.Error{Code: protocol.CodeMalformed, Message: "a frame has a length that RFC 6455 does not allow"})
		}
		if _, closed := errors.AsType[*websocket.CloseError](err); closed {
			return &ending{}
		}
		if err != nil { // read and write have ended the connection if the network broke
			return c.shared.countEnd(endProtocol)
		}
	}
}

// finish delivers the frames that were read before the end, sends a bye and closes.
func (c *connection) finish(e *ending) {
	c.setEnd(e) // a write that fails from now on is not counted
	if c.session.due() {
		c.session.flush(time.Now())
	}
	c.sendBye(e)
}

// sendBye ends the WebSocket, and waits for the client to close its half for timing.drain: an
// immediate close with unread data would reset the connection, and the client would lose the bye.
func (c *connection) sendBye(e *ending) {
	if e.bye != nil {
		c.write(protocol.AppendBye(nil, *e.bye))
	}
	deadline := time.Now().Add(c.shared.timing.write)
	err := c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(e.closeCode(), ""), deadline)
	if err != nil {
		return
	}
	if half, ok := c.raw.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_ = c.raw.SetReadDeadline(time.Now().Add(c.shared.timing.drain))
	_, _ = io.Copy(io.Discard, c.raw)
}

// write sends one text message. A failed write ends the connection.
func (c *connection) write(msg []byte) {
	_ = c.ws.SetWriteDeadline(time.Now().Add(c.shared.timing.write))
	if err := c.ws.WriteMessage(websocket.TextMessage, msg); err != nil {
		c.writeFailed(err)
	}
}

// writeFailed ends the connection after a failed write. It counts a client that does not read, but not a broken network.
func (c *connection) writeFailed(err error) {
	if c.end != nil {
		return
	}
	c.end = &ending{}
	if isTimeout(err) {
		c.end = c.shared.countEnd(endWrite)
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// pong answers a ping, which counts as a message.
func (c *connection) pong(text string) error {
	if err := c.countControl(text); err != nil {
		return err
	}
	err := c.ws.WriteControl(websocket.PongMessage, []byte(text), time.Now().Add(c.shared.timing.write))
	if err == nil || errors.Is(err, websocket.ErrCloseSent) {
		return nil
	}
	c.writeFailed(err)
	return errEnded
}

// countControl counts a control frame as a message.
func (c *connection) countControl(string) error {
	c.session.pace.refill(float64(c.session.framesPerSecond), c.shared.throttles.bytes.connection.rate, time.Now())
	if e := c.session.countMessage(); e != nil {
		c.setEnd(e)
		return errEnded
	}
	return nil
}

// receive reads one message and passes it to the session.
func (c *connection) receive(kind int, r io.Reader) error {
	buf := newBuffer()
	defer freeBuffer(buf)
	room := reservation{holder: c.session}
	defer room.giveBack()
	n, err := fill(r, buf, room.grow)
	if errors.Is(err, errNoRoom) {
		c.setEnd(c.session.end(noRoom()))
	}
	if err != nil {
		return err
	}
	msg := (*buf)[:n]
	size := int64(n)
	switch {
	case n > protocol.MaxFrameBytes:
		size, err = c.discard(r, msg)
	case kind != websocket.TextMessage:
		c.setEnd(c.session.refuse(&protocol.Error{Code: protocol.CodeMalformed, Message: "binary messages are not taken"}))
	default:
		c.take(msg)
	}
	c.shared.metrics.ReceiverQoswssReceivedBytes.Add(context.Background(), size)
	return err
}

// take passes a message to the session.
func (c *connection) take(msg []byte) {
	now := time.Now()
	if e := c.session.checkExpiry(now); e != nil {
		c.setEnd(e)
		return
	}
	c.setEnd(c.session.message(msg, now))
	if c.app.Load() == nil && c.session.translator != nil {
		c.app.Store(&c.session.identity.AppID)
	}
}

func (c *connection) setEnd(e *ending) {
	if c.end == nil {
		c.end = e
	}
}

// discard reads the rest of a message that is too large, and drops it.
func (c *connection) discard(r io.Reader, head []byte) (size int64, err error) {
	const most = protocol.MaxDiscardBytes - protocol.MaxFrameBytes
	rest, err := io.Copy(io.Discard, io.LimitReader(r, most))
	size = int64(len(head)) + rest
	if err != nil {
		return size, err
	}
	tooLarge := &protocol.Error{
		Code: protocol.CodeFrameTooLarge, Limit: protocol.MaxFrameBytes, Seq: protocol.PeekSeq(head[:1<<10]),
		Message: "a message has at most 65536 bytes",
	}
	c.setEnd(c.session.refuse(tooLarge)) // before the end, so that the client does not send it again
	if rest == most {
		c.setEnd(c.session.end(tooLarge))
	}
	return size, nil
}
