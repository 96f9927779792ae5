package qoswssreceiver

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/gorilla/websocket"

	"github.com/qosrtc/qos/protocol"
)

// forever is longer than any silence.
const forever = 24 * time.Hour

// gorillaBytes is the smallest buffer size that gorilla accepts for its own reader. Received bytes are in a pooled
// buffer, which also serves larger reads.
const gorillaBytes = 512

// wrappingHijacker makes gorilla read through the connection.
type wrappingHijacker struct {
	http.ResponseWriter
	c *connection
}

// Hijack implements http.Hijacker.
func (h wrappingHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	raw, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.c.rawMu.Lock()
	h.c.raw = raw
	h.c.rawMu.Unlock()
	watched := watchedConn{raw, h.c}
	if rw.Reader.Buffered() == 0 { // else gorilla refuses it
		rw.Reader = bufio.NewReaderSize(watched, gorillaBytes)
	}
	h.c.inbox = newInbox(rw.Reader, raw)
	return watched, rw, nil
}

// watchedConn is a net.Conn whose reads are those of the connection, which handles deadlines within them.
type watchedConn struct {
	net.Conn
	c *connection
}

func (w watchedConn) Read(p []byte) (int, error) { return w.c.read(p) }

// inboxBytes is the size of one read.
const inboxBytes = 4 << 10

var inboxes = sync.Pool{New: func() any { return new([inboxBytes]byte) }}

// inbox holds received bytes that gorilla has not read yet.
type inbox struct {
	gorilla *bufio.Reader
	socket  syscall.RawConn // of the connection; nil: not known
	tls     bool            // the connection uses TLS
	unread  []byte          // part of buf
	buf     *[inboxBytes]byte

	// drained reports that the last read returned all that the socket held. TLS returns one record at a time, so it
	// is never set with TLS.
	drained bool
}

func newInbox(gorilla *bufio.Reader, raw net.Conn) inbox {
	secure, isTLS := raw.(*tls.Conn)
	if isTLS {
		raw = secure.NetConn()
	}
	return inbox{gorilla: gorilla, socket: socketOf(raw), tls: isTLS}
}

// holds reports whether there are received bytes that were not read.
func (i *inbox) holds() bool { return i.gorilla.Buffered() > 0 || len(i.unread) > 0 }

// take copies unread bytes.
func (i *inbox) take(p []byte) (n int) {
	n = copy(p, i.unread)
	if i.unread = i.unread[n:]; len(i.unread) == 0 && i.buf != nil {
		inboxes.Put(i.buf)
		i.buf, i.unread = nil, nil
	}
	return n
}

// fetch reads what arrives. For a connection that rests, or whose client may have stopped within a message, it gets a
// buffer only when there is something to read.
func (i *inbox) fetch(raw net.Conn, rests bool) (n int, err error) {
	if rests && i.socket != nil {
		if err := i.socket.Read(canRead); err != nil {
			return 0, err
		}
	}
	buf := inboxes.Get().(*[inboxBytes]byte)
	n, err = raw.Read(buf[:])
	if n == 0 {
		inboxes.Put(buf)
		return 0, err
	}
	i.buf, i.unread = buf, buf[:n]
	i.drained = i.socket != nil && !i.tls && n < inboxBytes
	return n, nil
}

// fetchBuffered reads what TLS has received together with the record before, without waiting.
func (i *inbox) fetchBuffered(raw net.Conn) int {
	if !i.tls {
		return 0
	}
	_ = raw.SetReadDeadline(pastDeadline)
	n, _ := i.fetch(raw, false)
	return n
}

// errEnded makes gorilla end a connection that ended within read.
var errEnded = errors.New("connection ended")

// pastDeadline is a deadline that ends current and later reads immediately.
var pastDeadline = time.Unix(1, 0)

// errQuiet means that no message arrived within a limit.
var errQuiet = errors.New("nothing has come")

// rest waits for bytes in a new goroutine with a small stack: decoding and the pipeline have grown the stack of the
// old one. run checks what is due.
func (c *connection) rest() {
	c.sleep()
	c.run(true)
}

func (c *connection) sleep() {
	if c.inbox.socket == nil {
		return
	}
	_ = c.raw.SetReadDeadline(c.nextDeadline(time.Now()))
	if c.shared.closing.Load() || c.session.needsRecheck() { // after SetReadDeadline: a wake before it is seen here, a later one ends the read
		return
	}
	_ = c.inbox.socket.Read(canRead)
}

// await waits for the next message. It returns false if the connection should rest: if messages followed each other,
// after timing.rest without one, and else immediately. A connection that rests waits without a limit. The connection
// may have ended when await returns.
func (c *connection) await(rests bool) bool {
	if c.inbox.holds() {
		return true
	}
	limit := time.Duration(0)
	switch {
	case rests:
		limit = forever
	case c.busy:
		limit = c.shared.timing.rest
	}
	err := c.poll(limit, rests)
	if errors.Is(err, errQuiet) {
		return false
	}
	if err != nil {
		c.setEnd(&ending{}) // the client closed, or the network broke
	}
	return true
}

// read is the Read of the WebSocket. It waits for the rest of a message, or for the message after a control frame.
func (c *connection) read(p []byte) (int, error) {
	if len(c.inbox.unread) == 0 {
		if err := c.poll(forever, true); err != nil {
			c.setEnd(&ending{}) // the client closed, or the network broke
			return 0, err
		}
	}
	return c.inbox.take(p), nil
}

// poll reads what arrives into the inbox. While nothing arrives, it does what is due: the batch, the ping, the end of
// a silent connection. A batch is the frames that arrived together: the store, not the connection, waits for more
// (storage/internal/group), since one connection sends few frames and all connections together many.
func (c *connection) poll(limit time.Duration, rests bool) error {
	for c.end == nil {
		if c.inbox.drained && c.session.due() {
			c.session.flush(time.Now())
			continue
		}
		n, err := c.fetch(limit, rests)
		switch {
		case n > 0:
			c.recordRead(n, time.Now())
			return c.endErr()
		case c.end != nil:
		case !isTimeout(err):
			return err
		default:
			c.onSilence(time.Now())
		}
	}
	return errEnded
}

// fetch reads, and waits until something is due, or for at most limit without a message.
func (c *connection) fetch(limit time.Duration, rests bool) (int, error) {
	now := time.Now()
	due := c.session.due()
	quiet := !due && now.Sub(c.lastRead) >= limit && now.Before(c.deadline())
	if quiet || rests {
		if n := c.inbox.fetchBuffered(c.raw); n > 0 {
			return n, nil
		}
	}
	if quiet {
		return 0, errQuiet
	}
	deadline := c.nextDeadline(now)
	if early := c.lastRead.Add(limit); !due && early.Before(deadline) {
		deadline = early
	}
	_ = c.raw.SetReadDeadline(deadline)
	if c.shared.closing.Load() { // after SetReadDeadline: a wake before it is seen here, a later one ends the read
		c.end = c.session.end(&protocol.Error{Code: protocol.CodeGoingAway, Message: "the collector stops"})
		return 0, nil
	}
	if c.end = c.session.recheck(now); c.end != nil {
		return 0, nil
	}
	return c.inbox.fetch(c.raw, rests)
}

// recordRead records bytes from the network.
func (c *connection) recordRead(n int, now time.Time) {
	c.busy = now.Sub(c.lastRead) < c.shared.timing.rest
	c.lastRead, c.pingedAt = now, time.Time{}
	c.end = c.session.receiveBytes(n, now)
}

// endErr returns errEnded if the connection has ended.
func (c *connection) endErr() error {
	if c.end != nil {
		return errEnded
	}
	return nil
}

// nextDeadline returns the time at which silence needs an action.
func (c *connection) nextDeadline(now time.Time) time.Time {
	t := &c.shared.timing
	switch {
	case c.session.due():
		return now.Add(t.quiet)
	case !c.overdueSince.IsZero():
		return c.overdueSince.Add(t.grace)
	}
	return c.deadline()
}

// deadline returns the time until which the client has to send something: the hello, or the answer
// to the ping, or anything before the ping.
func (c *connection) deadline() time.Time {
	t := &c.shared.timing
	switch {
	case c.session.translator == nil:
		return c.started.Add(t.hello)
	case !c.pingedAt.IsZero():
		return c.pingedAt.Add(t.idle - t.ping)
	}
	return c.lastRead.Add(t.ping)
}

// onSilence does what is due after a deadline without bytes.
func (c *connection) onSilence(now time.Time) {
	c.session.decoder.Release()
	switch {
	case c.session.due():
		c.session.flush(now)
	case now.Before(c.deadline()): // woken
		c.overdueSince = time.Time{}
	case c.session.translator != nil && c.pingedAt.IsZero():
		c.ping(now)
	case !c.silenceConfirmed(now):
	case c.session.translator == nil:
		c.end = c.session.end(&protocol.Error{Code: protocol.CodeHelloExpected, Message: "no hello came in time"})
	default:
		c.end = c.shared.countEnd(endIdle)
	}
}

// silenceConfirmed reports whether a read after the deadline found nothing in the socket. A read
// whose deadline passed while the process did not run fails without reading, even if bytes have
// arrived. So does one that ended late, and it is repeated.
func (c *connection) silenceConfirmed(now time.Time) bool {
	since := now.Sub(c.overdueSince)
	if c.overdueSince.IsZero() || since >= 2*c.shared.timing.grace {
		c.overdueSince = now
		return false
	}
	return since >= c.shared.timing.grace
}

// ping pings a silent client.
func (c *connection) ping(now time.Time) {
	c.pingedAt = now
	if e := c.session.checkExpiry(now); e != nil {
		c.end = e
	} else if err := c.ws.WriteControl(websocket.PingMessage, nil, now.Add(c.shared.timing.write)); err != nil {
		c.writeFailed(err)
	}
}
