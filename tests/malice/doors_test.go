package malice

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// stranger is an address without a token.
const stranger = "198.51.100.8"

// TestDoors goes through what can be done at the receiver's doors without permission, and with a token. Each attack ends
// with its own code or status and is counted, and another application is served after each.
//
// spec: SRV-01, SRV-02, SRV-04, AUTH-02
func TestDoors(t *testing.T) {
	c := start(t)
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	served := honest(t, c)
	before := metric(c, "otelcol_process_memory_rss")
	require.Positive(t, before)
	for i, attack := range []struct {
		name string
		do   func(*testing.T, *harness.Collector)
	}{
		{"slow requests", slowRequests},
		{"sockets without a hello", idleSockets},
		{"names of applications", applicationNames},
		{"compression", compressedBodies},
		{"nesting, numbers and bytes", oddMessages},
		{"a message without an end", endlessMessage},
		{"the session of another", sessionOfAnother},
		{"pings", pings},
	} {
		t.Run(attack.name, func(t *testing.T) { attack.do(t, c) })
		isServed(t, served, uint64(i+1))
	}
	require.Less(t, metric(c, "otelcol_process_memory_rss"), before+float64(limitMiB<<20))
}

// raw opens a connection and sends bytes.
func raw(t *testing.T, c *harness.Collector, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", c.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(harness.Patience)))
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	return conn
}

// slowRequests: headers that never end, and a body of which one byte comes. The server gives them up; the second with
// a status.
func slowRequests(t *testing.T, c *harness.Collector) {
	t.Helper()
	var conns []net.Conn
	for range 200 {
		conns = append(conns, raw(t, c, "GET /ws HTTP/1.1\r\nHost: a\r\nX: "))
	}
	body := raw(t, c, "POST /auth HTTP/1.1\r\nHost: a\r\nOrigin: http://a.example\r\nContent-Type: text/plain\r\nContent-Length: 4000\r\n\r\n{")
	for _, conn := range conns {
		_, err := io.Copy(io.Discard, conn)
		require.NoError(t, err, "closed, not reset or kept")
	}
	answer, _ := io.ReadAll(body)
	require.Contains(t, string(answer), "429", "later, since a network may be that slow")
}

// idleSockets: upgrades without a hello.
func idleSockets(t *testing.T, c *harness.Collector) {
	t.Helper()
	before := metric(c, "otelcol_receiver_qoswss_connections_closed", `code="hello_expected"`)
	var wg sync.WaitGroup
	for range 50 {
		p := upgrade(t, c, address)
		wg.Go(func() {
			m, _ := p.hear()
			if m.Code != string(protocol.CodeHelloExpected) {
				t.Error(m)
			}
			_, _, err := p.ws.ReadMessage()
			if !websocket.IsCloseError(err, websocket.CloseProtocolError) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.InDelta(t, 50, metric(c, "otelcol_receiver_qoswss_connections_closed", `code="hello_expected"`)-before, 0)
}

// post returns the status of a request to /auth.
func post(t *testing.T, c *harness.Collector, address string, body []byte, header http.Header) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL()+"auth", bytes.NewReader(body))
	require.NoError(t, err)
	r.Header = header
	r.Header.Set("Content-Type", "text/plain")
	resp, err := from(address).RoundTrip(r)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// applicationNames: a login for each of many applications that do not exist. From some number on the address gets no
// answer but "later".
func applicationNames(t *testing.T, c *harness.Collector) {
	t.Helper()
	statuses := map[int]int{}
	for n := range 3000 {
		text := fmt.Sprintf(`{"type":%q,"appID":"app %d","userID":"u","scram":"n,,n=app %d,r=%024d"}`, protocol.TypeScramFirst, n, n, n)
		statuses[post(t, c, stranger, []byte(text), http.Header{})]++
	}
	require.Positive(t, statuses[http.StatusTooManyRequests], "%v", statuses)
	require.Zero(t, statuses[http.StatusInternalServerError], "%v", statuses)
}

// compressedBodies: a body that would grow is not unpacked.
func compressedBodies(t *testing.T, c *harness.Collector) {
	t.Helper()
	for _, coding := range []string{"gzip", "br", "zstd", "deflate"} {
		require.Equal(t, http.StatusUnsupportedMediaType, post(t, c, stranger, []byte("\x1f\x8b\x08"), http.Header{"Content-Encoding": {coding}}), coding)
	}
}

// oddMessages: each is refused alone, and the connection goes on.
func oddMessages(t *testing.T, c *harness.Collector) {
	t.Helper()
	p := welcomed(t, c, attacker, "mallory", address)
	require.True(t, p.say(fabric("c")))
	for _, text := range []string{
		strings.Repeat("[", 60_000), strings.Repeat(`{"a":`, 12_000), `{"type":"log","seq":1e999}`,
		`{"type":"log","seq":` + strings.Repeat("9", 60_000) + `}`, `{"type":"log","text":"` + "\xff\xfe" + `"}`,
		`{"type":"log","text":"\ud800"`, "\x00", "", `{"type":"log","type":"log"}`,
	} {
		require.True(t, p.say(text))
		m, ok := p.hear()
		require.True(t, ok, "%.20q", text)
		require.Equal(t, "nack", m.Type, "%.20q", text)
	}
	isServed(t, p, 1)
}

// endlessMessage: fragments of one message without end. The connection ends when the message is larger than any.
func endlessMessage(t *testing.T, c *harness.Collector) {
	t.Helper()
	p := welcomed(t, c, attacker, "mallory", address)
	w, err := p.ws.NextWriter(websocket.TextMessage)
	require.NoError(t, err)
	require.NoError(t, p.ws.SetWriteDeadline(time.Now().Add(harness.Patience)))
	part := bytes.Repeat([]byte(" "), 64<<10)
	for sent := 0; err == nil && sent < 2*protocol.MaxDiscardBytes; sent += len(part) {
		_, err = w.Write(part) // the server may close before
	}
	for _, want := range []said{{Type: "nack", Code: string(protocol.CodeFrameTooLarge)}, {Type: "bye", Code: string(protocol.CodeFrameTooLarge)}} {
		m, _ := p.hear()
		m.RetryAfterMs = 0 // of the bye: any
		require.Equal(t, want, m)
	}
}

// sessionOfAnother: a token of one user with the session of another.
func sessionOfAnother(t *testing.T, c *harness.Collector) {
	t.Helper()
	grant, other := login(t, c, attacker, "mallory", address), login(t, c, attacker, "ada", "203.0.113.20")
	grant.Session = other.Session
	p := connect(t, c, grant, address)
	m, _ := p.hear()
	require.Equal(t, said{Type: "bye", Code: string(protocol.CodeAuthFailed)}, said{Type: m.Type, Code: m.Code})
	_, _, err := p.ws.ReadMessage()
	require.True(t, websocket.IsCloseError(err, websocket.ClosePolicyViolation), "%v", err)
}

// pings: they count as frames; a connection that does not slow down ends.
func pings(t *testing.T, c *harness.Collector) {
	t.Helper()
	p := connect(t, c, login(t, c, attacker, "mallory", address), address)
	heard := p.listen()
	var err error
	for n := 0; err == nil && n < 1_000_000; n++ {
		err = p.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(harness.Patience))
	}
	require.Error(t, err, "a million pings were answered")
	require.Equal(t, 1, (<-heard)["byethrottled"])
}
