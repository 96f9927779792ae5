package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// keepAliveInterval is the time between keepalives. Janus ends a session that is silent for 60 s.
const keepAliveInterval = 25 * time.Second

// jsep is a session description of Janus.
type jsep struct {
	Type string `json:"type"`
	SDP  string `json:"sdp"`
}

// janusRequest is a message to Janus.
type janusRequest struct {
	Janus       string         `json:"janus"`
	Transaction string         `json:"transaction"`
	Session     uint64         `json:"session_id,omitempty"`
	Handle      uint64         `json:"handle_id,omitempty"`
	Plugin      string         `json:"plugin,omitempty"`
	Body        map[string]any `json:"body,omitempty"`
	Candidate   map[string]any `json:"candidate,omitempty"`
	Jsep        *jsep          `json:"jsep,omitempty"`
}

// janusMessage is a message of Janus.
type janusMessage struct {
	Janus       string `json:"janus"`
	Transaction string `json:"transaction"`
	Sender      uint64 `json:"sender"`
	Data        struct {
		ID uint64 `json:"id"`
	} `json:"data"`
	Plugin struct {
		Data videoRoomEvent `json:"data"`
	} `json:"plugindata"`
	Jsep  *jsep       `json:"jsep"`
	Error *janusError `json:"error"`
}

// janusError is an error that Janus or the plugin returned.
type janusError struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

func (e *janusError) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Reason) }

// janusSession is a session of Janus's JSON API over a WebSocket.
type janusSession struct {
	guest *guest
	ws    *websocket.Conn
	id    uint64
	// events has the messages that answer no request. The queue is bounded: a full one fails the guest.
	events  chan janusMessage
	mu      sync.Mutex
	last    int
	pending map[string]chan janusMessage
	leaving chan struct{}
	workers sync.WaitGroup
}

// dialJanus opens a WebSocket and creates a session.
func dialJanus(ctx context.Context, g *guest) (*janusSession, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"janus-protocol"}, HandshakeTimeout: answerTimeout}
	ws, response, err := dialer.DialContext(ctx, g.url, nil)
	if err != nil {
		return nil, refusal(err, response)
	}
	s := &janusSession{
		guest: g, ws: ws, events: make(chan janusMessage, 256), pending: map[string]chan janusMessage{}, leaving: make(chan struct{}),
	}
	s.workers.Go(s.read)
	created, err := s.request(ctx, janusRequest{Janus: "create"})
	if err != nil {
		s.close()
		return nil, fmt.Errorf("create a session: %w", err)
	}
	s.id = created.Data.ID
	s.workers.Go(s.keepAlive)
	return s, nil
}

// attach returns a new handle of the VideoRoom.
func (s *janusSession) attach(ctx context.Context) (handle uint64, err error) {
	attached, err := s.request(ctx, janusRequest{Janus: "attach", Session: s.id, Plugin: "janus.plugin.videoroom"})
	return attached.Data.ID, err
}

// message sends a request to the plugin of a handle and returns the event that answers it.
func (s *janusSession) message(ctx context.Context, handle uint64, body map[string]any, description *jsep) (janusMessage, error) {
	answer, err := s.request(ctx, janusRequest{Janus: "message", Session: s.id, Handle: handle, Body: body, Jsep: description})
	if err != nil {
		return answer, fmt.Errorf("%s: %w", body["request"], err)
	}
	return answer, nil
}

// request sends a request and returns the answer that is not an ack. It returns an error that Janus or the plugin returned.
func (s *janusSession) request(ctx context.Context, r janusRequest) (answer janusMessage, err error) {
	answers := make(chan janusMessage, 1)
	s.mu.Lock()
	s.last++
	r.Transaction = strconv.Itoa(s.last)
	s.pending[r.Transaction] = answers
	err = s.write(r)
	s.mu.Unlock()
	defer s.forget(r.Transaction)
	if err != nil {
		return answer, err
	}
	answer, err = await(ctx, s.guest, answers)
	switch failure := answer.Plugin.Data; {
	case err != nil:
		return answer, err
	case answer.Error != nil:
		return answer, answer.Error
	case failure.ErrorCode != 0:
		return answer, &janusError{failure.ErrorCode, failure.Error}
	}
	return answer, nil
}

// notify sends a request whose answer is only an ack.
func (s *janusSession) notify(r janusRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Transaction = r.Janus
	return s.write(r)
}

// write sends a request. The caller holds mu. Janus refuses the line break that WriteJSON appends.
func (s *janusSession) write(r janusRequest) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.ws.WriteMessage(websocket.TextMessage, data)
}

// forget removes a transaction that has its answer or needs none.
func (s *janusSession) forget(transaction string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, transaction)
}

// read delivers messages of Janus until the WebSocket is closed.
func (s *janusSession) read() {
	for {
		var m janusMessage
		_, data, err := s.ws.ReadMessage()
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err == nil {
			err = s.route(m)
		}
		if err != nil {
			s.guest.fail(fmt.Errorf("signalling: %w", err))
			return
		}
	}
}

// route delivers one message of Janus. An ack precedes the event that answers a request.
func (s *janusSession) route(m janusMessage) error {
	if m.Janus == "ack" && m.Transaction != "" {
		return nil
	}
	s.mu.Lock()
	answers := s.pending[m.Transaction]
	s.mu.Unlock()
	switch {
	case answers != nil:
		return deliver(answers, m)
	case m.Janus == "timeout":
		return errors.New("the server ended the session")
	case m.Error != nil && m.Transaction == "trickle":
		// Janus closed the handle before it read the request.
		return nil
	case m.Error != nil:
		return m.Error
	}
	return deliver(s.events, m)
}

// keepAlive sends keepalives until the guest leaves. Janus answers them with an ack.
func (s *janusSession) keepAlive() {
	ticker := time.NewTicker(keepAliveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.leaving:
			return
		case <-ticker.C:
			if err := s.notify(janusRequest{Janus: "keepalive", Session: s.id}); err != nil {
				s.guest.fail(err)
				return
			}
		}
	}
}

// close closes the WebSocket and waits for the session's goroutines.
func (s *janusSession) close() {
	close(s.leaving)
	_ = s.ws.Close() // it may be closed
	s.workers.Wait()
}
