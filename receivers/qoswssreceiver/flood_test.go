package qoswssreceiver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/protocol"
)

// CPU that a collector with SQLite takes, rounded up. Reads: docs/benchmarks.md (a frame from the socket to an empty
// consumer). The pipeline: calls of a session in front of quality, conference and qosstore, 64 frames a call, 2026-11-27.
const (
	readTime   = 25 * time.Microsecond  // a read of up to 4 KiB from a socket, with the message in it
	commitTime = 250 * time.Microsecond // a transaction
	scopeTime  = 25 * time.Microsecond  // a conference in a call
	frameTime  = 10 * time.Microsecond
	recordTime = 8 * time.Microsecond
	byteTime   = 20 * time.Nanosecond // a byte of a text in a record
	storeWaits = 4 * time.Millisecond // for other frames, before a transaction (storage/internal/group)
)

// core is the one core of a collector. It does one piece of work after the other, in the order of their arrival, and the
// calls that have arrived during a transaction are the next one. It waits on channels: in a synctest bubble time does not
// advance while a goroutine waits for a mutex.
type core struct {
	busy  chan struct{}
	calls chan call
}

// call is a call of the pipeline.
type call struct {
	at   time.Time
	took time.Duration
	done chan struct{}
}

func newCore() *core { return &core{make(chan struct{}, 1), make(chan call, 1<<10)} }

func (c *core) work(d time.Duration) {
	c.busy <- struct{}{}
	time.Sleep(d)
	<-c.busy
}

// consume returns when records are committed.
func (c *core) consume(_ context.Context, logs plog.Logs) error {
	done := make(chan struct{})
	c.calls <- call{time.Now(), storeTime(logs), done}
	<-done
	return nil
}

// commit commits calls until there are no more.
func (c *core) commit() {
	for first := range c.calls {
		time.Sleep(time.Until(first.at.Add(storeWaits)))
		group, took := []call{first}, commitTime+first.took
		for range len(c.calls) {
			next := <-c.calls
			group, took = append(group, next), took+next.took
		}
		c.work(took)
		for _, one := range group {
			close(one.done)
		}
	}
}

// storeTime is what the pipeline and the store take for a call, beside the transaction.
func storeTime(logs plog.Logs) (d time.Duration) {
	frame := int64(-1)
	for _, resource := range logs.ResourceLogs().All() {
		d += time.Duration(resource.ScopeLogs().Len()) * scopeTime
	}
	for _, record := range records(logs) {
		if seq, _ := record.Attributes().Get(semconv.FrameSeq); seq.Int() != frame {
			d, frame = d+frameTime, seq.Int()
		}
		d += recordTime
		for _, value := range record.Attributes().All() {
			if value.Type() == pcommon.ValueTypeStr {
				d += time.Duration(len(value.Str())) * byteTime
			}
		}
	}
	return d
}

// coreConn is the collector's end of a connection whose reads take time of the core.
type coreConn struct {
	net.Conn
	core *core
}

func (c coreConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.core.work(readTime)
	}
	return n, err
}

// neighbours are two applications of one receiver in a synctest bubble, whose connections are in memory.
type neighbours struct {
	*collector
	sockets *sockets
	core    *core
	began   time.Time
	over    chan struct{} // closed when the flood ends
	wg      sync.WaitGroup
}

// grants are the logins of the two users. Logins need a real socket, outside of a bubble.
type grants struct{ alice, mallory *protocol.TokenReply }

// loginBoth starts a receiver and logs in both users.
func loginBoth(t *testing.T) (*collector, grants) {
	t.Helper()
	c := startCollector(t)
	mallory, err := authtest.Login(t.Context(), c.client, c.url, testOrigin, "strict", testSecret, protocol.UserID{Name: "mallory", Alias: "mallory"})
	require.NoError(t, err)
	return c, grants{c.login("demo", testOrigin), mallory}
}

// acksBeside returns how long the acks of one frame a second took beside a flood.
func (c *collector) acksBeside(t *testing.T, f attack, of grants, frames int) (waits []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := c.inBubble(t)
		for range f.connections {
			n.wg.Go(func() { n.flood(f, of.mallory) })
		}
		waits = n.acks(t, of.alice, frames)
		close(n.over)
		n.wg.Wait()
		n.sockets.wg.Wait()
		close(n.core.calls)
	})
	return waits
}

// inBubble gives the receiver what belongs to a bubble: the sockets, the throttles with their default limits, the pipeline.
func (c *collector) inBubble(t *testing.T) *neighbours {
	t.Helper()
	d := c.receiver.shared
	n := &neighbours{collector: c, sockets: newSockets(d), core: newCore(), began: time.Now(), over: make(chan struct{})}
	go n.core.commit()
	next, err := consumer.NewLogs(n.core.consume)
	require.NoError(t, err)
	may, err := newThrottles(d.cfg, d.apps, d.log, time.Now())
	require.NoError(t, err)
	outer := d.ctx
	t.Cleanup(func() { d.ctx = outer })
	d.next, d.throttles, d.ctx = next, may, t.Context()
	d.memory, d.pipeline = budget.NewLedger(d.cfg.Memory.limits()), backPressure{}
	return n
}

// connect connects a client at an address.
func (n *neighbours) connect(address string) (*websocket.Conn, error) {
	server, client := net.Pipe()
	n.wg.Go(func() {
		r, err := http.ReadRequest(bufio.NewReader(server))
		if err != nil {
			return
		}
		r.RemoteAddr = address + ":1"
		recorder := httptest.NewRecorder()
		n.sockets.ServeHTTP(hijacked{recorder, coreConn{server, n.core}}, r)
		if recorder.Code != http.StatusOK {
			_ = server.Close()
		}
	})
	dialer := websocket.Dialer{
		NetDial:         func(string, string) (net.Conn, error) { return client, nil },
		WriteBufferSize: 128 << 10, // a message is one write
	}
	ws, _, err := dialer.Dial("ws://collector/ws", http.Header{"Origin": {testOrigin}})
	if err != nil {
		_ = client.Close()
	}
	return ws, err
}

// acks sends one frame of five rows at each full second and returns how long its ack took.
func (n *neighbours) acks(t *testing.T, grant *protocol.TokenReply, frames int) (waits []time.Duration) {
	t.Helper()
	ws, err := n.connect("203.0.113.1")
	require.NoError(t, err)
	p := &peer{t, ws}
	p.hello(grant, 0)
	p.hear("welcome")
	p.announce()
	for seq := range uint64(frames) {
		sent := n.began.Add(time.Duration(seq+1) * time.Second)
		time.Sleep(time.Until(sent))
		p.say(rowsText(5)(seq + 1))
		for h := p.next(); h.Type != "ack" || h.Seq <= seq; h = p.next() {
			require.NotEqual(t, "bye", h.Type, "%+v", h)
		}
		waits = append(waits, time.Since(sent))
	}
	require.NoError(t, ws.Close())
	return waits
}

// attack is what one user does. It sends as much as the receiver reads, around each full second: between, its credit grows.
type attack struct {
	connections int
	fabrics     int        // announced beforehand
	messages    []template // repeated
	lead        time.Duration
	heeds       bool // waits after a slow-down
}

// floodLasts is longer than an ack may take.
const floodLasts = 20 * time.Millisecond

// template is one message with the next number, if it has one.
type template func(seq uint64) string

// flood opens one connection after the other.
func (n *neighbours) flood(f attack, grant *protocol.TokenReply) {
	for {
		select {
		case <-n.over:
			return
		case <-time.After(50 * time.Millisecond):
			if ws, err := n.connect("203.0.113.66"); err == nil {
				m := &malice{neighbours: n, attack: f, ws: ws, ended: make(chan struct{})}
				n.wg.Go(m.listen)
				m.send(grant)
				_ = ws.Close()
			}
		}
	}
}

// malice is one connection of the user who floods.
type malice struct {
	*neighbours
	attack
	ws    *websocket.Conn
	ended chan struct{} // closed when the receiver closed it

	mu    sync.Mutex
	until time.Time // of the last slow-down
}

// listen reads answers until the connection ends.
func (m *malice) listen() {
	defer close(m.ended)
	for {
		_, msg, err := m.ws.ReadMessage()
		if err != nil {
			_ = m.ws.Close()
			return
		}
		var h heard
		_ = json.Unmarshal(msg, &h)
		m.mu.Lock()
		m.until = time.Now().Add(time.Duration(h.RetryAfterMs) * time.Millisecond)
		m.mu.Unlock()
	}
}

// send sends messages until the connection or the flood ends.
func (m *malice) send(grant *protocol.TokenReply) {
	ok := m.say(helloText(grant, 0)) && m.say(columnText)
	for i := 0; ok && i < m.fabrics; i++ {
		ok = m.say(announceText(i + 1))
	}
	for seq := uint64(1); ok; {
		for _, message := range m.messages {
			if ok = m.waits() && m.say(message(seq)); !ok {
				return
			}
			if strings.Contains(message(0), `"seq":0`) {
				seq++
			}
		}
	}
}

// say sends one message, or a ping for an empty one.
func (m *malice) say(message string) bool {
	if message == "" {
		return m.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Hour)) == nil
	}
	return m.ws.WriteMessage(websocket.TextMessage, []byte(message)) == nil
}

// waits waits for the next full second, and after a slow-down. It returns false if the flood or the connection has ended.
func (m *malice) waits() bool {
	wait := time.Duration(0)
	if since := (time.Since(m.began) + m.lead) % time.Second; since > m.lead+floodLasts {
		wait = time.Second - since
	}
	if m.mu.Lock(); m.heeds {
		wait = max(wait, time.Until(m.until))
	}
	m.mu.Unlock()
	if wait <= 0 {
		return true
	}
	select {
	case <-m.over:
		return false
	case <-m.ended:
		return false
	case <-time.After(wait):
		return true
	}
}

func announceText(fabric int) string {
	return fmt.Sprintf(`{"type":"fabric","fabric":%d,"conferenceID":"c%d","addedAt":1,"remoteUserID":"bob","fabricUsage":"multiplex"}`, fabric, fabric)
}

// same is a message without a number.
func same(message string) template { return func(uint64) string { return message } }

// rowsText is a measurement of so many rows.
func rowsText(n int) template {
	rows := repeated(n, func(int) string { return `[1,1,"opus",1,3]` })
	return func(seq uint64) string {
		return fmt.Sprintf(`{"type":"stats","seq":%d,"at":1,"fabric":1,"intervalMs":1000,"rows":[%s]}`, seq, rows)
	}
}

// skipText is a skip of so many fabrics.
func skipText(n int) template {
	lost := repeated(n, func(i int) string { return fmt.Sprintf(`{"fabric":%d}`, i+1) })
	return func(seq uint64) string {
		return fmt.Sprintf(`{"type":"skip","seq":%d,"from":%d,"at":1,"lost":[%s]}`, seq, seq, lost)
	}
}

func repeated(n int, one func(int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = one(i)
	}
	return strings.Join(all, ",")
}

// longText is a log of so many bytes.
func longText(n int) template {
	long := strings.Repeat("x", n)
	return func(seq uint64) string {
		return fmt.Sprintf(`{"type":"log","seq":%d,"at":1,"fabric":1,"text":%q}`, seq, long)
	}
}
