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

// gorillaBytes is the size of gorilla's own buffer, the least that it takes over. What arrives is in a common one, from which
// larger reads are served.
const gorillaBytes = 512

// wrappingHijacker lets the connection see the reads of gorilla's connection.
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

// watchedConn is a net.Conn whose reads end in quiet moments to let the connection work.
type watchedConn struct {
	net.Conn
	c *connection
}

func (w watchedConn) Read(p []byte) (int, error) { return w.c.read(p) }

// inboxBytes is how much is read at once.
const inboxBytes = 4 << 10

var inboxes = sync.Pool{New: func() any { return new([inboxBytes]byte) }}

// inbox is what has arrived and was not read by gorilla so far.
type inbox struct {
	gorilla *bufio.Reader
	socket  syscall.RawConn // beneath the connection; nil: not known
	tls     bool            // between socket and connection
	unread  []byte          // of buf
	buf     *[inboxBytes]byte

	// drained reports that the last read had room for more than the socket held. TLS returns a record at a time, so
	// there it is never set.
	drained bool
}

func newInbox(gorilla *bufio.Reader, raw net.Conn) inbox {
	secure, isTLS := raw.(*tls.Conn)
	if isTLS {
		raw = secure.NetConn()
	}
	return inbox{gorilla: gorilla, socket: socketOf(raw), tls: isTLS}
}

// holds reports whether anything has arrived and was not read.
func (i *inbox) holds() bool { return i.gorilla.Buffered() > 0 || len(i.unread) > 0 }

// take copies what is unread.
func (i *inbox) take(p []byte) (n int) {
	n = copy(p, i.unread)
	if i.unread = i.unread[n:]; len(i.unread) == 0 && i.buf != nil {
		inboxes.Put(i.buf)
		i.buf, i.unread = nil, nil
	}
	return n
}

// fetch reads what arrives. A connection that rests, or whose client may have stopped within a message, takes the buffer for
// it only when something is there.
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

// held reads what TLS has read together with the record before, and returns at once.
func (i *inbox) held(raw net.Conn) int {
	if !i.tls {
		return 0
	}
	_ = raw.SetReadDeadline(passed)
	n, _ := i.fetch(raw, false)
	return n
}

// errEnded makes gorilla give up a connection that ended inside read.
var errEnded = errors.New("connection ended")

// passed is a deadline that ends a read at once, and one that waits.
var passed = time.Unix(1, 0) //nolint:gochecknoglobals // a constant

// errQuiet reports that nothing has come for a moment.
var errQuiet = errors.New("nothing has come")

// rest waits for bytes in a goroutine of its own, whose stack stays small: decoding and the pipeline have made the other's
// large. run finds out what there is to do.
func (c *connection) rest() {
	c.sleep()
	c.run(true)
}

func (c *connection) sleep() {
	if c.inbox.socket == nil {
		return
	}
	_ = c.raw.SetReadDeadline(c.nextDuty(time.Now()))
	if c.shared.closing.Load() || c.session.rechecks() { // after SetReadDeadline: wake comes before or is seen here
		return
	}
	_ = c.inbox.socket.Read(canRead)
}

// await waits for the next message. It returns false if the connection should rest: where messages follow each other,
// after a moment without any, and else at once. A connection that rests waits for as long as it takes. The connection may
// have ended when await returns.
func (c *connection) await(rests bool) bool {
	if c.inbox.holds() {
		return true
	}
	limit := time.Duration(0)
	switch {
	case rests:
		limit = forever
	case c.brisk:
		limit = c.shared.timing.rest
	}
	err := c.poll(limit, rests)
	if errors.Is(err, errQuiet) {
		return false
	}
	if err != nil {
		c.ends(&ending{}) // the client closed, or the network broke
	}
	return true
}

// read is the Read of the WebSocket, which waits for the rest of a message, or for a message after a control frame.
func (c *connection) read(p []byte) (int, error) {
	if len(c.inbox.unread) == 0 {
		if err := c.poll(forever, true); err != nil {
			c.ends(&ending{}) // the client closed, or the network broke
			return 0, err
		}
	}
	return c.inbox.take(p), nil
}

// poll reads what arrives into the inbox. Where nothing has arrived it does what is due: the batch, the ping, the end of a
// silent connection. A batch of frames is what had arrived together: the store, not the connection, waits for more
// (storage/internal/group), since frames of one connection are few and those of all are many.
func (c *connection) poll(limit time.Duration, rests bool) error {
	for c.end == nil {
		if c.inbox.drained && c.session.due() {
			c.session.flush(time.Now())
			continue
		}
		n, err := c.fetch(limit, rests)
		switch {
		case n > 0:
			c.arrived(n, time.Now())
			return c.ended()
		case c.end != nil:
		case !isTimeout(err):
			return err
		default:
			c.silence(time.Now())
		}
	}
	return errEnded
}

// fetch reads, and waits until there is something to do, or nothing for so long.
func (c *connection) fetch(limit time.Duration, rests bool) (int, error) {
	now := time.Now()
	due := c.session.due()
	quiet := !due && now.Sub(c.lastRead) >= limit && now.Before(c.deadline())
	if quiet || rests {
		if n := c.inbox.held(c.raw); n > 0 {
			return n, nil
		}
	}
	if quiet {
		return 0, errQuiet
	}
	deadline := c.nextDuty(now)
	if early := c.lastRead.Add(limit); !due && early.Before(deadline) {
		deadline = early
	}
	_ = c.raw.SetReadDeadline(deadline)
	if c.shared.closing.Load() { // after SetReadDeadline: wake comes before or is seen here
		c.end = c.session.end(&protocol.Error{Code: protocol.CodeGoingAway, Message: "the collector stops"})
		return 0, nil
	}
	if c.end = c.session.recheck(now); c.end != nil {
		return 0, nil
	}
	return c.inbox.fetch(c.raw, rests)
}

// arrived notes bytes from the network.
func (c *connection) arrived(n int, now time.Time) {
	c.brisk = now.Sub(c.lastRead) < c.shared.timing.rest
	c.lastRead, c.pinged = now, time.Time{}
	c.end = c.session.arrived(n, now)
}

// ended returns errEnded if the connection has ended.
func (c *connection) ended() error {
	if c.end != nil {
		return errEnded
	}
	return nil
}

// nextDuty is when silence must be acted on.
func (c *connection) nextDuty(now time.Time) time.Time {
	t := &c.shared.timing
	switch {
	case c.session.due():
		return now.Add(t.quiet)
	case !c.overdue.IsZero():
		return c.overdue.Add(t.grace)
	}
	return c.deadline()
}

// deadline is until when the client has to send something: the hello, or the answer to the
// ping, or else what saves it the ping.
func (c *connection) deadline() time.Time {
	t := &c.shared.timing
	switch {
	case c.session.translator == nil:
		return c.started.Add(t.hello)
	case !c.pinged.IsZero():
		return c.pinged.Add(t.idle - t.ping)
	}
	return c.lastRead.Add(t.ping)
}

// silence does what is due when nothing came for a while.
func (c *connection) silence(now time.Time) {
	c.session.decoder.Release()
	switch {
	case c.session.due():
		c.session.flush(now)
	case now.Before(c.deadline()): // woken
		c.overdue = time.Time{}
	case c.session.translator != nil && c.pinged.IsZero():
		c.ping(now)
	case !c.heardOut(now):
	case c.session.translator == nil:
		c.end = c.session.end(&protocol.Error{Code: protocol.CodeHelloExpected, Message: "no hello came in time"})
	default:
		c.end = c.shared.ended(endIdle)
	}
}

// heardOut reports whether the socket was read after the deadline and held nothing more. A
// read whose deadline passed while the process did not run fails without reading, whatever
// has arrived. One that ended late says nothing for the same reason, and is made again.
func (c *connection) heardOut(now time.Time) bool {
	since := now.Sub(c.overdue)
	if c.overdue.IsZero() || since >= 2*c.shared.timing.grace {
		c.overdue = now
		return false
	}
	return since >= c.shared.timing.grace
}

// ping asks a silent client for a sign of life.
func (c *connection) ping(now time.Time) {
	c.pinged = now
	if e := c.session.expired(now); e != nil {
		c.end = e
	} else if err := c.ws.WriteControl(websocket.PingMessage, nil, now.Add(c.shared.timing.write)); err != nil {
		c.unwritten(err)
	}
}
