package demoextension

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	maxNameBytes   = 256      // of a room or a user, as in the interface document
	maxSignalBytes = 64 << 10 // of one message; an offer is some 5 KiB
	sendTimeout    = 5 * time.Second
	closeTimeout   = 1 * time.Second // for the browser's close frame
	sendQueue      = 64              // messages queued for a slow browser; a call needs some 20
)

// upgrader keeps the default check of the origin: only the demo's own page may connect.
var upgrader = websocket.Upgrader{HandshakeTimeout: sendTimeout}

// signal serves one browser in a room.
func (d *demo) signal(w http.ResponseWriter, r *http.Request) {
	d.connections.Add(1)
	defer d.connections.Done()
	name, user := r.URL.Query().Get("room"), r.URL.Query().Get("user")
	if !validName(name) || !validName(user) {
		d.refuse(r.Context(), "bad_request")
		http.Error(w, "room and user must have 1 to 256 bytes", http.StatusBadRequest)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		d.refuse(r.Context(), "bad_request") // Upgrade has answered
		return
	}
	link := newSocketLink(conn)
	defer func() { _ = conn.Close() }() // the browser may have closed it first
	defer link.finish()
	m := &member{user: user, link: link}
	deadline, err := d.rooms.join(name, m, time.Now())
	if err != nil {
		d.refuse(r.Context(), reasonOf(err))
		link.send(message{Type: "error", Message: err.Error()})
		return
	}
	defer d.rooms.leave(name, m)
	d.telemetry.QosdemoJoins.Add(r.Context(), 1)
	// Only the link sets the connection's read deadline: one set here for the room could
	// replace that of a link that was just closed.
	defer time.AfterFunc(time.Until(deadline), link.close).Stop()
	d.relaySignals(conn, name, m)
}

// relaySignals relays signals until the link is closed or the browser sends another message.
func (d *demo) relaySignals(conn *websocket.Conn, name string, m *member) {
	conn.SetReadLimit(maxSignalBytes)
	for {
		var msg message
		if err := conn.ReadJSON(&msg); err != nil || msg.Type != "signal" {
			return
		}
		d.rooms.relay(name, m, message{Type: "signal", Data: msg.Data})
	}
}

func (d *demo) refuse(ctx context.Context, reason string) {
	d.telemetry.QosdemoRefusals.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", reason)))
}

func validName(s string) bool { return s != "" && len(s) <= maxNameBytes }

func reasonOf(err error) string {
	switch {
	case errors.Is(err, errRoomFull):
		return "room_full"
	case errors.Is(err, errTooManyRooms):
		return "too_many_rooms"
	default:
		return "stopping"
	}
}

// socketLink writes in its own goroutine, so that a browser that does not read delays no other
// browser.
type socketLink struct {
	conn  *websocket.Conn
	queue chan message
	done  chan struct{}
	once  sync.Once
	wg    sync.WaitGroup
}

func newSocketLink(conn *websocket.Conn) *socketLink {
	l := &socketLink{conn: conn, queue: make(chan message, sendQueue), done: make(chan struct{})}
	l.wg.Go(l.write)
	return l
}

// send queues a message. If the queue is full, it closes the link.
func (l *socketLink) send(m message) {
	select {
	case l.queue <- m:
	default:
		l.close()
	}
}

// close ends the connection, and so its reader.
func (l *socketLink) close() {
	l.once.Do(func() { close(l.done) })
}

// finish sends the queued messages and a close frame, and waits for the browser's close frame: a
// browser drops the last messages if the connection ends too early. Only the reader may call it.
func (l *socketLink) finish() {
	l.close()
	l.wg.Wait()
	for {
		if _, _, err := l.conn.NextReader(); err != nil {
			return
		}
	}
}

func (l *socketLink) write() {
	for {
		select {
		case m := <-l.queue:
			l.put(m)
		case <-l.done:
			l.drain()
			bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			_ = l.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(sendTimeout)) // the connection may be closed
			_ = l.conn.SetReadDeadline(time.Now().Add(closeTimeout))                          // ends the reader
			return
		}
	}
}

// drain sends the messages that were queued before the end.
func (l *socketLink) drain() {
	for {
		select {
		case m := <-l.queue:
			l.put(m)
		default:
			return
		}
	}
}

// put writes one message. A failed write closes the connection, which ends its reader.
func (l *socketLink) put(m message) {
	if l.conn.SetWriteDeadline(time.Now().Add(sendTimeout)) != nil || l.conn.WriteJSON(m) != nil {
		_ = l.conn.Close()
	}
}
