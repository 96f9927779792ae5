package delivery

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/qosrtc/qos/internal/auth/authtest"
	"github.com/qosrtc/qos/protocol"
)

const conferenceID = "delivery"

// sent is a numbered frame as the client keeps it until it is acknowledged.
type sent struct {
	seq     uint64
	text    string
	records int    // that it must come to
	mark    string // of logs, to know the content again
}

// client is one session that loses its connections.
type client struct {
	url     string
	dice    *rand.Rand
	http    *http.Client
	session string
	token   string
	addedAt int64

	frames []sent // all there ever were, by number
	acked  uint64
	cursor uint64 // the highest number on this connection's wire
	window uint64
	cuts   int
	posts  int
	slowed int
	leaked []net.Conn // connections left half-open
}

func newClient(url string, seed uint64, number int) *client {
	dice := rand.New(rand.NewPCG(seed, uint64(number)))
	now := time.Now().UnixMilli()
	return &client{
		url: url, dice: dice, addedAt: now, window: protocol.WindowFrames,
		http:    &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
		session: fmt.Sprintf("%08x-%04x-7%03x-8%03x-%012x", now>>16, now&0xffff, dice.IntN(1<<12), number, dice.Uint64()>>16),
	}
}

// run loads the collector until ctx ends, then drains.
func (c *client) run(ctx, drain context.Context) error {
	defer func() {
		for _, conn := range c.leaked {
			_ = conn.Close()
		}
	}()
	for drain.Err() == nil {
		if ctx.Err() != nil && c.acked == uint64(len(c.frames)) {
			return nil
		}
		if err := c.connection(ctx, drain); err != nil {
			return err
		}
		if c.dice.IntN(3) == 0 {
			if err := c.post(drain); err != nil {
				return err
			}
		}
		pause(drain, time.Duration(c.dice.IntN(60))*time.Millisecond)
	}
	return fmt.Errorf("session %s: %d of %d frames were acknowledged in time", c.session, c.acked, len(c.frames))
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// push makes the next frame: mostly measurements, some of each other kind.
func (c *client) push() {
	seq := uint64(len(c.frames) + 1)
	at := time.Now().UnixMilli()
	head := func(kind string) string { return fmt.Sprintf(`{"type":%q,"seq":%d,"at":%d,`, kind, seq, at) }
	f := sent{seq: seq, records: 1}
	switch c.dice.IntN(8) {
	case 0:
		f.mark = fmt.Sprintf("%s %d", c.session, seq)
		f.text = head("log") + fmt.Sprintf(`"fabric":1,"text":%q}`, f.mark)
	case 1:
		f.text = head("event") + `"fabric":1,"event":"audioMute"}`
	case 2:
		f.records = 2
		f.text = head("skip") + fmt.Sprintf(`"from":%d,"lost":[{"fabric":1,"stats":0,"events":1},{"fabric":2,"stats":1,"events":0}]}`, seq)
	default:
		f.records = 1 + c.dice.IntN(3)
		rows := strings.Repeat(`,[1,7,"opus",501,3.5]`, f.records)[1:]
		f.text = head("stats") + `"fabric":1,"intervalMs":2000,"rows":[` + rows + `]}`
	}
	c.frames = append(c.frames, f)
}

const fabric = `{"type":"fabric","fabric":%d,"conferenceID":%q,"addedAt":%d,"remoteUserID":"bob","fabricUsage":"multiplex"}`

// context is what a connection must hear first.
func (c *client) context() []string {
	return []string{
		fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":%d,"at":%d}`, c.token, c.session, c.acked, time.Now().UnixMilli()),
		fmt.Sprintf(fabric, 1, conferenceID, c.addedAt),
		fmt.Sprintf(fabric, 2, conferenceID, c.addedAt),
		`{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","codec","packets","jitterMs"]}`,
	}
}

// login gets a token; the collector may be away just now.
func (c *client) login(ctx context.Context) bool {
	if c.token == "" {
		c.token, _ = authtest.Login(ctx, c.http, c.url, origin, appID, appSecret, protocol.UserID{Name: c.session, Alias: c.session})
	}
	return c.token != ""
}

// connection opens a WebSocket and uses it until it is cut. An error is a broken promise
// of the collector, not a broken connection.
func (c *client) connection(ctx, drain context.Context) error {
	if !c.login(drain) {
		return nil
	}
	ws, _, err := websocket.DefaultDialer.DialContext(drain, "ws"+strings.TrimPrefix(c.url, "http")+"ws", http.Header{"Origin": {origin}})
	if err != nil {
		return nil //nolint:nilerr // the collector may be away just now
	}
	heard := make(chan any, 1024)
	go listen(ws, heard)
	defer func() {
		for range heard { // until the listener ended; what was heard after the cut is lost
		}
	}()
	defer c.cut(ws)
	for _, line := range c.context() {
		if ws.WriteMessage(websocket.TextMessage, []byte(line)) != nil {
			return nil
		}
	}
	c.cursor = c.acked
	return c.talk(ctx, drain, ws, heard)
}

func listen(ws *websocket.Conn, heard chan<- any) {
	defer close(heard)
	for {
		_, msg, err := ws.ReadMessage()
		if err != nil {
			return
		}
		message, err := protocol.DecodeServer(msg)
		if err != nil {
			heard <- err
			return
		}
		heard <- message
	}
}

// cut ends a connection in one of the ways in which connections end.
func (c *client) cut(ws *websocket.Conn) {
	c.cuts++
	tcp, ok := ws.NetConn().(*net.TCPConn)
	switch c.dice.IntN(4) {
	case 0:
		if ok {
			_ = tcp.SetLinger(0) // a reset: what the server did not read is lost
		}
	case 1: // half-open: the server does not know, and may still read what was sent
		if ok {
			_ = ws.SetReadDeadline(time.Unix(1, 0))
			c.leaked = append(c.leaked, tcp)
			return
		}
	case 2:
		_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	}
	_ = ws.Close()
}

// talk makes and sends frames until the dice cut the connection, or all is acknowledged.
func (c *client) talk(ctx, drain context.Context, ws *websocket.Conn, heard <-chan any) error {
	life := time.Duration(50+c.dice.IntN(600)) * time.Millisecond
	if c.dice.IntN(4) == 0 {
		life += 2 * time.Second // long enough to be slowed down and to go on
	}
	if ctx.Err() != nil {
		life = 5 * time.Second // the drain must come to an end, though its connections are slowed too
	}
	end := time.NewTimer(life)
	defer end.Stop()
	tick := time.NewTicker(4 * time.Millisecond)
	defer tick.Stop()
	var pausedUntil time.Time
	welcomed := false
	for {
		select {
		case <-end.C:
			return nil
		case <-drain.Done():
			return nil
		case <-tick.C:
			if ctx.Err() == nil {
				c.push()
				c.push()
			} else if c.acked == uint64(len(c.frames)) {
				return nil
			}
			if welcomed && time.Now().After(pausedUntil) && !c.send(ws) {
				return nil
			}
		case message, ok := <-heard:
			if !ok {
				return nil
			}
			switch m := message.(type) {
			case *protocol.Welcome:
				welcomed = true
			case *protocol.SlowDown:
				c.slowed++
				pausedUntil, c.cursor = time.Now().Add(time.Duration(m.RetryAfterMs)*time.Millisecond), c.acked
			default:
				if bye, err := c.answer(message); bye || err != nil {
					return err
				}
			}
		}
	}
}

// send puts what the window allows on the wire.
func (c *client) send(ws *websocket.Conn) bool {
	for c.cursor < uint64(len(c.frames)) && c.cursor-c.acked < c.window {
		if ws.WriteMessage(websocket.TextMessage, []byte(c.frames[c.cursor].text)) != nil {
			return false
		}
		c.cursor++
	}
	return true
}

// answer takes an acknowledgement; bye reports that the connection is over.
func (c *client) answer(message any) (bye bool, err error) {
	switch m := message.(type) {
	case *protocol.Ack:
		if m.Seq > uint64(len(c.frames)) {
			return false, fmt.Errorf("ack of %d, the last number is %d", m.Seq, len(c.frames))
		}
		c.acked = max(c.acked, m.Seq)
		c.cursor = max(c.cursor, c.acked)
	case *protocol.Welcome:
	case *protocol.Bye:
		if !m.Retry {
			return true, fmt.Errorf("bye for good: %s %s", m.Code, m.Message)
		}
		return true, nil
	default:
		return true, fmt.Errorf("unexpected %T: %+v", m, m)
	}
	return false, nil
}

// post sends what is not acknowledged through the other door, and listens to the answer
// half of the time, as a page that goes does not.
func (c *client) post(ctx context.Context) error {
	if !c.login(ctx) {
		return nil
	}
	c.posts++
	body := strings.Join(c.context(), "\n")
	for _, f := range c.frames[c.acked:] {
		if len(body)+1+len(f.text) > protocol.MaxFrameBytes {
			break
		}
		body += "\n" + f.text
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"frames", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Origin", origin)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil //nolint:nilerr // the collector may be away just now
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || c.dice.IntN(2) == 0 {
		return nil //nolint:nilerr // as above
	}
	for line := range bytes.Lines(answer) {
		message, err := protocol.DecodeServer(bytes.TrimSpace(line))
		if err != nil {
			return err
		}
		if _, err := c.answer(message); err != nil {
			return err
		}
	}
	return nil
}
