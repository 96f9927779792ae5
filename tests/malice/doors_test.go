package malice

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
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

// refusals are the counters of what the receiver refuses and closes.
var refusals = []string{"connections_closed", "frames_refused", "requests_refused"}

// refused returns the samples of these counters that are not 0, such as frames_refused:malformed.
func refused(c *harness.Collector) map[string]int {
	found := map[string]int{}
	for sample, value := range c.Metrics() {
		for _, name := range refusals {
			labels, ok := strings.CutPrefix(sample, "otelcol_receiver_qoswss_"+name+"{")
			if match := reason.FindStringSubmatch(labels); ok && value > 0 {
				found[name+":"+match[1]] += int(value)
			}
		}
	}
	return found
}

var reason = regexp.MustCompile(`(?:code|status)="(\w+)"`)

// TestDoors goes through what can be done at the receiver's doors without permission, and with a token. Each attack ends
// with its own code or status, all that it counts is what the attack returns, and another application is served after each.
//
// spec: SRV-01, SRV-02, SRV-04, AUTH-02
func TestDoors(t *testing.T) {
	t.Parallel()
	c := start(t)
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	served := honest(t, c)
	before := metric(c, "otelcol_process_memory_rss")
	require.Positive(t, before)
	for i, attack := range []struct {
		name string
		do   func(*testing.T, *harness.Collector) map[string]int
	}{
		{"slow requests", slowRequests},
		{"sockets without a hello", idleSockets},
		{"names of applications", applicationNames},
		{"compression", compressedBodies},
		{"nesting, numbers and bytes", oddMessages},
		{"a message without an end", endlessMessage},
		{"the session of another", sessionOfAnother},
		{"a forbidden frame", forbiddenFrame},
		{"pings", pings},
	} {
		t.Run(attack.name, func(t *testing.T) {
			want := refused(c)
			for counter, n := range attack.do(t, c) {
				want[counter] += n
			}
			require.Equal(t, want, refused(c))
		})
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
func slowRequests(t *testing.T, c *harness.Collector) map[string]int {
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
	return map[string]int{"requests_refused:429": 1}
}

// idleSockets: upgrades without a hello.
func idleSockets(t *testing.T, c *harness.Collector) map[string]int {
	t.Helper()
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
	return map[string]int{"connections_closed:hello_expected": 50}
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
func applicationNames(t *testing.T, c *harness.Collector) map[string]int {
	t.Helper()
	statuses := map[int]int{}
	for n := range 3000 {
		text := fmt.Sprintf(`{"type":%q,"appID":"app %d","userID":"u","scram":"n,,n=app %d,r=%024d"}`, protocol.TypeScramFirst, n, n, n)
		statuses[post(t, c, stranger, []byte(text), http.Header{})]++
	}
	require.Positive(t, statuses[http.StatusTooManyRequests], "%v", statuses)
	delete(statuses, http.StatusOK)
	require.Len(t, statuses, 1, "%v", statuses)
	return map[string]int{"requests_refused:429": statuses[http.StatusTooManyRequests]}
}

// compressedBodies: a body that would grow is not unpacked.
func compressedBodies(t *testing.T, c *harness.Collector) map[string]int {
	t.Helper()
	for _, coding := range []string{"gzip", "br", "zstd", "deflate"} {
		require.Equal(t, http.StatusUnsupportedMediaType, post(t, c, stranger, []byte("\x1f\x8b\x08"), http.Header{"Content-Encoding": {coding}}), coding)
	}
	return map[string]int{"requests_refused:415": 4}
}

// oddMessages: each is refused alone, and the connection goes on.
func oddMessages(t *testing.T, c *harness.Collector) map[string]int {
	t.Helper()
	p := welcomed(t, c, attacker, "mallory", address)
	require.True(t, p.say(fabric("c")))
	counts := map[string]int{}
	for _, text := range []string{
		strings.Repeat("[", 60_000), strings.Repeat(`{"a":`, 12_000), `{"type":"log","seq":1e999}`,
		`{"type":"log","seq":` + strings.Repeat("9", 60_000) + `}`, `{"type":"log","text":"` + "\xff\xfe" + `"}`,
		`{"type":"log","text":"\ud800"`, "\x00", "", `{"type":"log","type":"log"}`,
	} {
		require.True(t, p.say(text))
		m, ok := p.hear()
		require.True(t, ok, "%.20q", text)
		require.Equal(t, "nack", m.Type, "%.20q", text)
		counts["frames_refused:"+m.Code]++
	}
	isServed(t, p, 1)
	return counts
}

// endlessMessage: fragments of one message without end. The connection ends when the message is larger than any.
func endlessMessage(t *testing.T, c *harness.Collector) map[string]int {
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
	return map[string]int{"frames_refused:frame_too_large": 1, "connections_closed:frame_too_large": 1}
}

// sessionOfAnother: a token of one user with the session of another.
func sessionOfAnother(t *testing.T, c *harness.Collector) map[string]int {
	t.Helper()
	grant, other := login(t, c, attacker, "mallory", address), login(t, c, attacker, "ada", "203.0.113.20")
	grant.Session = other.Session
	p := connect(t, c, grant, address)
	m, _ := p.hear()
	require.Equal(t, said{Type: "bye", Code: string(protocol.CodeAuthFailed)}, said{Type: m.Type, Code: m.Code})
	_, _, err := p.ws.ReadMessage()
	require.True(t, websocket.IsCloseError(err, websocket.ClosePolicyViolation), "%v", err)
	return map[string]int{"connections_closed:auth_failed": 1}
}

// forbiddenFrame: a text with RSV1, which no extension allows. The connection ends with the code of RFC 6455.
func forbiddenFrame(t *testing.T, c *harness.Collector) map[string]int {
	t.Helper()
	p := welcomed(t, c, attacker, "mallory", address)
	_, err := p.ws.NetConn().Write([]byte{0xc1, 0x80, 0, 0, 0, 0})
	require.NoError(t, err)
	_, _, err = p.ws.ReadMessage()
	require.True(t, websocket.IsCloseError(err, websocket.CloseProtocolError), "%v", err)
	_, _ = io.Copy(io.Discard, p.ws.NetConn()) // closed, or reset, after it is counted
	return map[string]int{"connections_closed:protocol": 1}
}

// pings: they count as frames; a connection that does not slow down ends.
func pings(t *testing.T, c *harness.Collector) map[string]int {
	t.Helper()
	p := connect(t, c, login(t, c, attacker, "mallory", address), address)
	heard := p.listen()
	var err error
	for n := 0; err == nil && n < 1_000_000; n++ {
		err = p.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(harness.Patience))
	}
	require.Error(t, err, "a million pings were answered")
	require.Equal(t, 1, (<-heard)["byethrottled"])
	return map[string]int{"connections_closed:throttled": 1}
}
