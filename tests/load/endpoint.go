package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/fleet"
)

const (
	// aheadOfFirst is how long before its first frame a page logs in.
	aheadOfFirst = 2 * time.Second
	// patience is how long a page waits for the last ack after its last frame.
	patience = time.Minute
	// backOff is the wait before another attempt to connect.
	backOff = time.Second
)

// endpoint is the page of one session.
type endpoint struct {
	*load
	session *fleet.Session
	steps   []fleet.Step
	shift   time.Duration // from the script's time to that of the load

	grant     *protocol.TokenReply
	account   *account       // of the session of grant
	sets      map[string]int // number of a column set, by statsType and mediaType
	announced []string       // fabrics and columns
	pending   []pending      // not acknowledged, ascending
	next      int            // of pending, the first that was not sent over the connection
	seq       uint64
	held      time.Time // by a slow-down
}

// pending is a frame that was not acknowledged.
type pending struct {
	seq  uint64
	text string
	due  time.Time
}

func (e *endpoint) run(ctx context.Context) {
	pause(ctx, time.Until(e.at(e.steps[0].AtMs).Add(-aheadOfFirst)))
	deadline := e.at(e.steps[len(e.steps)-1].AtMs).Add(patience)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for ctx.Err() == nil && !e.done() {
		if err := e.connect(ctx); err != nil {
			e.stats.fault(err)
			pause(ctx, backOff)
		}
	}
	unsent := e.due(time.Now())
	e.stats.add(&e.stats.frames, unsent)
	e.stats.add(&e.stats.unacknowledged, unsent+int64(len(e.pending)))
	e.stats.add(&e.stats.sessions, 1)
}

// due returns the number of steps whose time has passed, and for which there was no connection.
func (e *endpoint) due(now time.Time) (n int64) {
	for n < int64(len(e.steps)) && !e.at(e.steps[n].AtMs).After(now) {
		n++
	}
	return n
}

// at returns the load's time of a step.
func (e *endpoint) at(ms int64) time.Time { return time.UnixMilli(ms).Add(e.shift) }

func (e *endpoint) done() bool { return len(e.steps) == 0 && len(e.pending) == 0 }

// connect logs in if it must, opens a connection and uses it until it ends.
func (e *endpoint) connect(ctx context.Context) error {
	if e.grant == nil {
		user := protocol.UserID{Name: e.session.UserID, Alias: e.session.Alias}
		grant, err := authtest.Login(ctx, e.http, e.url, e.origin, e.app, e.secret, user)
		if err != nil {
			return fmt.Errorf("login: %w", err)
		}
		e.grant = grant
		e.account = e.ledger.open(grant.Session, e.account, e.acked()+1)
	}
	dialer := websocket.Dialer{HandshakeTimeout: time.Minute, ReadBufferSize: 512, WriteBufferSize: 2048}
	header := http.Header{}
	if e.origin != "" {
		header.Set("Origin", e.origin)
	}
	//nolint:bodyclose // gorilla: the body of an upgrade needs no close
	ws, _, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(strings.TrimSuffix(e.url, "/"), "http")+"/ws", header)
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	messages := make(chan any, 16)
	go read(ws, messages)
	err = e.talk(ctx, ws, messages)
	_ = ws.Close()
	for range messages { // until the reader has ended
	}
	return err
}

// read passes on the messages of the server, or the error that ended them.
func read(ws *websocket.Conn, messages chan<- any) {
	defer close(messages)
	for {
		_, text, err := ws.ReadMessage()
		if err != nil {
			messages <- err
			return
		}
		message, err := protocol.DecodeServer(text)
		if err != nil {
			messages <- err
			return
		}
		messages <- message
	}
}

// talk begins the session, or resumes it, and sends each frame at its time.
func (e *endpoint) talk(ctx context.Context, ws *websocket.Conn, messages <-chan any) error {
	e.next = 0
	lines := append([]string{hello(e.grant, e.acked())}, e.announced...)
	for _, line := range lines {
		if err := e.write(ws, line); err != nil {
			return err
		}
	}
	welcomed := false
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !e.done() {
		if welcomed {
			if err := e.send(ws); err != nil {
				return err
			}
		}
		timer.Reset(e.wait(welcomed))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case message, ok := <-messages:
			if !ok {
				return nil
			}
			end, err := e.handle(message)
			if end {
				return err
			}
			_, isWelcome := message.(*protocol.Welcome)
			welcomed = welcomed || isWelcome
		}
	}
	return nil
}

// acked returns the number of the last acknowledged frame.
func (e *endpoint) acked() uint64 {
	if len(e.pending) > 0 {
		return e.pending[0].seq - 1
	}
	return e.seq
}

// wait returns the time until something is to be sent.
func (e *endpoint) wait(welcomed bool) time.Duration {
	const long = time.Minute
	switch held := time.Until(e.held); {
	case !welcomed:
		return long
	case held > 0:
		return held
	case len(e.steps) > 0:
		return min(long, time.Until(e.at(e.steps[0].AtMs)))
	}
	return long
}

// send prepares the frames that are due, and sends as many as the window allows.
func (e *endpoint) send(ws *websocket.Conn) error {
	now := time.Now()
	for len(e.steps) > 0 && !e.at(e.steps[0].AtMs).After(now) {
		if err := e.prepare(ws, &e.steps[0]); err != nil {
			return err
		}
		e.steps = e.steps[1:]
	}
	for !e.held.After(now) && e.next < len(e.pending) && e.next < protocol.WindowFrames {
		e.account.sent = max(e.account.sent, e.pending[e.next].seq) // a write that fails may have sent it
		if err := e.write(ws, e.pending[e.next].text); err != nil {
			return err
		}
		e.next++
	}
	return nil
}

// prepare adds the frame of a step to those to be sent, and announces what it needs.
func (e *endpoint) prepare(ws *websocket.Conn, step *fleet.Step) error {
	known := len(e.announced)
	e.seq++
	text, records := e.frame(step, e.seq)
	for _, line := range e.announced[known:] {
		if err := e.write(ws, line); err != nil {
			return err
		}
	}
	e.account.prepared(records)
	e.pending = append(e.pending, pending{e.seq, text, e.at(step.AtMs)})
	e.stats.add(&e.stats.frames, 1)
	return nil
}

func (e *endpoint) write(ws *websocket.Conn, line string) error {
	if err := ws.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	return ws.WriteMessage(websocket.TextMessage, []byte(line))
}

// handle handles a message of the server. end reports that the connection is over, and err why.
func (e *endpoint) handle(message any) (end bool, err error) {
	switch m := message.(type) {
	case *protocol.Welcome:
	case *protocol.Ack:
		e.acknowledge(m.Seq)
	case *protocol.SlowDown:
		e.stats.add(&e.stats.slowed, 1)
		e.held, e.next = time.Now().Add(time.Duration(m.RetryAfterMs)*time.Millisecond), 0
	case *protocol.Nack:
		e.stats.add(&e.stats.refused, 1)
		e.account.refused(m.Seq)
		e.stats.fault(fmt.Errorf("nack: %s %s: %s", m.Code, m.Field, m.Message))
	case *protocol.Bye:
		if m.Code == protocol.CodeTokenExpired || m.Code == protocol.CodeAuthFailed {
			e.grant = nil
		}
		return true, fmt.Errorf("bye: %s", m.Code)
	case error:
		return true, fmt.Errorf("connection: %w", m)
	default:
		return true, fmt.Errorf("unexpected %T", m)
	}
	return false, nil
}

func (e *endpoint) acknowledge(seq uint64) {
	now := time.Now()
	for len(e.pending) > 0 && e.pending[0].seq <= seq {
		e.account.acked = e.pending[0].seq
		e.stats.acknowledged(now.Sub(e.pending[0].due), int64(e.account.of(e.account.acked)))
		e.pending, e.next = e.pending[1:], max(0, e.next-1)
	}
}
