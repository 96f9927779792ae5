package qoswssreceiver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// canary is what no answer and no line of the log may repeat.
const canary = "kanarienvogel"

// spoiled yields v with each of its parts replaced by values that hold the canary.
func spoiled(v any, yield func(any)) {
	long := strings.Repeat(canary, 1800)
	for _, bad := range []any{canary, long, []any{canary}, map[string]any{canary: canary}, canary + "\xff", canary + `"}`} {
		yield(bad)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, part := range v {
			spoiled(part, func(bad any) { yield(with2(v, name, bad)) })
		}
		yield(with2(v, canary, canary))
	case []any:
		for i, part := range v {
			spoiled(part, func(bad any) {
				other := append([]any{}, v...)
				other[i] = bad
				yield(other)
			})
		}
	}
}

func with2(m map[string]any, name string, v any) map[string]any {
	other := map[string]any{name: v}
	for n, old := range m {
		if n != name {
			other[n] = old
		}
	}
	return other
}

// clientMessages are the messages of the test vectors that a client sends.
func clientMessages(t *testing.T) (frames, handshakes []map[string]any) {
	t.Helper()
	names, err := filepath.Glob("../../protocol/testdata/good_*.json")
	require.NoError(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var vector struct {
			From, Endpoint string
			Message        map[string]any
		}
		require.NoError(t, json.Unmarshal(text, &vector))
		switch {
		case vector.From != "client" || vector.Message == nil || len(text) > 2000:
		case vector.Endpoint == "auth":
			handshakes = append(handshakes, vector.Message)
		default:
			frames = append(frames, vector.Message)
		}
	}
	require.Greater(t, len(frames), 20)
	require.GreaterOrEqual(t, len(handshakes), 3)
	return frames, handshakes
}

// logged starts a collector whose log is kept, the audit's apart: it names who was let in.
func logged(t *testing.T) (c *collector, lines func() string) {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	c = startCollector(t, with(func(r *wssReceiver) { r.set.Logger = zap.New(core) }))
	return c, func() string {
		var text strings.Builder
		for _, entry := range logs.All() {
			if entry.LoggerName != "audit" {
				fmt.Fprintln(&text, entry.Message, entry.ContextMap())
			}
		}
		return text.String()
	}
}

// A refusal names the field, the limit and the kind of what came, never a part of it: what
// came may be anybody's.
//
// spec: SRV-02
func TestRefusalsOfMessagesRepeatNothing(t *testing.T) {
	c, lines := logged(t)
	d := c.receiver.shared
	frames, handshakes := clientMessages(t)
	now, said := time.Now(), 0
	check := func(answer []byte) {
		said++
		require.NotContains(t, string(answer), canary[:8])
	}
	text := func(v any) []byte {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		return b
	}
	for _, message := range frames {
		spoiled(message, func(bad any) {
			for _, welcome := range []bool{false, true} {
				s := newSession(d, canary, check)
				if welcome {
					s = welcomed(d, check)
					require.Nil(t, s.message([]byte(strings.ReplaceAll(fabricText, "%d", "1")), now))
					require.Nil(t, s.message([]byte(columnText), now))
				}
				for _, line := range [][]byte{text(bad), bytes.TrimSuffix(text(bad), []byte("}"))} {
					if e := s.message(line, now); e != nil && e.bye != nil {
						check([]byte(e.bye.Message))
					}
				}
			}
		})
	}
	for _, message := range handshakes {
		spoiled(message, func(bad any) {
			if _, refusal := d.handshake(context.Background(), text(bad), canary, 0, now); refusal != nil {
				check([]byte(refusal.Field + refusal.Message))
			}
		})
	}
	require.Greater(t, said, 5000)
	require.NotContains(t, lines(), canary[:8])
}

// spec: SRV-02
func TestRefusalsOfRequestsRepeatNothing(t *testing.T) {
	c, lines := logged(t)
	address := c.receiver.listener.Addr().String()
	statuses := map[int]bool{}
	for _, request := range []string{
		"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET //%s HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /a/../%s HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /./ws?%s HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /ws?token=%s HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: %s\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n",
		"POST /auth HTTP/1.1\r\nHost: x\r\nContent-Encoding: %s\r\nContent-Length: 2\r\n\r\n{}",
		"POST /auth?%s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
		"POST /frames HTTP/1.1\r\nHost: x\r\nOrigin: %[1]s\r\nCookie: %[1]s\r\nUser-Agent: %[1]s\r\nContent-Length: 13\r\n\r\n%[1]s",
		"POST /frames HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 2\r\n\r\n{}",
		"%s /auth HTTP/1.1\r\nHost: x\r\n\r\n",
		"OPTIONS /auth HTTP/1.1\r\nHost: x\r\nOrigin: %[1]s\r\nAccess-Control-Request-Headers: %[1]s\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: %s /\r\n\r\n",
		"GET / %s\r\nHost: x\r\n\r\n",
		"POST /auth HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: %s\r\n\r\n",
		"POST /auth HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n",
		"POST /auth HTTP/1.1\r\nHost: x\r\nExpect: %s\r\nContent-Length: 2\r\n\r\n{}",
	} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = fmt.Fprintf(conn, request, canary)
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NotContains(t, string(answer), canary, request)
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
		require.NoError(t, err, request)
		require.NoError(t, resp.Body.Close())
		statuses[resp.StatusCode] = true
	}
	require.NotContains(t, lines(), canary)
	for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusBadRequest} {
		require.True(t, statuses[status], status)
	}
}
