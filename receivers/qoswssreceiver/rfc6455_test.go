package qoswssreceiver

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Opcodes (RFC 6455, section 5.2).
const (
	opContinuation = 0x0
	opText         = 0x1
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
)

const (
	final = 0x80 // FIN
	rsv1  = 0x40
	rsv2  = 0x20
	rsv3  = 0x10
)

// rawFrame is a frame of a client; the fields are those of the wire.
type rawFrame struct {
	first    byte // FIN, reserved bits and opcode
	payload  string
	unmasked bool
	length   []byte // in place of the shortest encoding
}

// whole is a text message in one frame.
func whole(payload string) rawFrame { return rawFrame{first: final | opText, payload: payload} }

func (f rawFrame) bytes() []byte {
	out := []byte{f.first}
	mask := byte(0x80)
	if f.unmasked {
		mask = 0
	}
	switch n := len(f.payload); {
	case f.length != nil:
		out = append(out, f.length[0]|mask)
		out = append(out, f.length[1:]...)
	case n < 126:
		out = append(out, byte(n)|mask)
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 126|mask), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 127|mask), uint64(n))
	}
	if f.unmasked {
		return append(out, f.payload...)
	}
	key := []byte{0x37, 0xfa, 0x21, 0x3d} // of the example in section 5.7
	out = append(out, key...)
	for i := range len(f.payload) {
		out = append(out, f.payload[i]^key[i%4])
	}
	return out
}

// rawPeer is a client of a test, at the level of bytes.
type rawPeer struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (c *collector) rawDial(t *testing.T) *rawPeer {
	t.Helper()
	conn, err := net.Dial("tcp", c.receiver.listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	return &rawPeer{t, conn, bufio.NewReader(conn)}
}

// upgrade requests a WebSocket with some headers in place of those of the example in section 1.3.
func (p *rawPeer) upgrade(requestLine string, headers map[string]string) *http.Response {
	p.t.Helper()
	all := map[string]string{
		"Host": "server.example.com", "Upgrade": "websocket", "Connection": "Upgrade", "Origin": testOrigin,
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13",
	}
	maps.Copy(all, headers)
	var request strings.Builder
	request.WriteString(requestLine + "\r\n")
	for name, value := range all {
		if value != "" {
			fmt.Fprintf(&request, "%s: %s\r\n", name, value)
		}
	}
	_, err := io.WriteString(p.conn, request.String()+"\r\n")
	require.NoError(p.t, err)
	resp, err := http.ReadResponse(p.in, nil)
	require.NoError(p.t, err)
	return resp
}

// frame is the next frame of the server, "opcode payload"; "end" at the end of the connection. The code of a close frame
// is a number.
func (p *rawPeer) frame() string {
	p.t.Helper()
	head := make([]byte, 2)
	if _, err := io.ReadFull(p.in, head); err != nil {
		return "end"
	}
	require.Zero(p.t, head[1]&0x80, "a server does not mask (section 5.1)")
	require.EqualValues(p.t, final, head[0]&0xf0, "one whole frame a message")
	n := int(head[1])
	if n == 126 {
		long := make([]byte, 2)
		_, err := io.ReadFull(p.in, long)
		require.NoError(p.t, err)
		n = int(binary.BigEndian.Uint16(long))
	}
	payload := make([]byte, n)
	_, err := io.ReadFull(p.in, payload)
	require.NoError(p.t, err)
	switch opcode := head[0] & 0xf; {
	case opcode == opClose && n >= 2:
		return fmt.Sprintf("close %d", binary.BigEndian.Uint16(payload))
	case opcode == opClose:
		return "close"
	case opcode == opPong:
		return "pong " + string(payload)
	default:
		require.EqualValues(p.t, opText, opcode)
		return string(payload)
	}
}

// closing is the payload of a close frame.
func closing(code uint16, reason string) string {
	return string(binary.BigEndian.AppendUint16(nil, code)) + reason
}

// TestRFC6455 sends frames of every kind that RFC 6455 allows or forbids to a connection that is served. Connections that
// end for those that it forbids are counted.
//
// spec: SRV-01, SRV-02
func TestRFC6455(t *testing.T) {
	const ack, bye, end = `{"type":"ack","seq":1`, `{"type":"bye","code":"malformed"`, "end"
	violation := []string{"close 1002", end}
	one := logText(1)
	for name, c := range map[string]struct {
		frames []rawFrame
		want   []string
	}{
		"5.1 not masked":                {[]rawFrame{{first: final | opText, payload: one, unmasked: true}}, violation},
		"5.1 a ping that is not masked": {[]rawFrame{{first: final | opPing, unmasked: true}}, violation},

		"5.2 RSV1 without an extension": {[]rawFrame{{first: final | rsv1 | opText, payload: one}}, violation},
		"5.2 RSV2":                      {[]rawFrame{{first: final | rsv2 | opText, payload: one}}, violation},
		"5.2 RSV3 of a ping":            {[]rawFrame{{first: final | rsv3 | opPing}}, violation},
		"5.2 opcode 3":                  {[]rawFrame{{first: final | 0x3, payload: one}}, violation},
		"5.2 opcode 7":                  {[]rawFrame{{first: final | 0x7, payload: one}}, violation},
		"5.2 opcode 11":                 {[]rawFrame{{first: final | 0xb}}, violation},
		"5.2 opcode 15":                 {[]rawFrame{{first: final | 0xf}}, violation},
		"5.2 a length of 2^63":          {[]rawFrame{{first: final | opText, length: []byte{127, 0x80, 0, 0, 0, 0, 0, 0, 0}}}, []string{bye, "close 1002", end}},

		"5.2 a longer length than needed": {[]rawFrame{{first: final | opText, payload: one, length: []byte{127, 0, 0, 0, 0, 0, 0, 0, byte(len(one))}}}, []string{ack}},
		"5.2 RSV1 of a continuation":      {[]rawFrame{{first: opText, payload: one[:5]}, {first: final | rsv1 | opContinuation, payload: one[5:]}}, violation},

		"5.4 three fragments": {[]rawFrame{
			{first: opText, payload: one[:5]}, {first: opContinuation, payload: one[5:20]}, {first: final | opContinuation, payload: one[20:]},
		}, []string{ack}},
		"5.4 empty fragments": {[]rawFrame{
			{first: opText}, {first: opContinuation, payload: one}, {first: opContinuation}, {first: final | opContinuation},
		}, []string{ack}},
		"5.4 a fragment of each byte": {bytewise(one), []string{ack}},
		"5.4 a ping between fragments": {[]rawFrame{
			{first: opText, payload: one[:5]}, {first: final | opPing, payload: "are you there"}, {first: final | opContinuation, payload: one[5:]},
		}, []string{"pong are you there", ack}},
		"5.4 nothing to continue":        {[]rawFrame{{first: final | opContinuation, payload: one}}, violation},
		"5.4 continued after the end":    {[]rawFrame{whole(one), {first: opContinuation, payload: one}}, []string{"close 1002", end}},
		"5.4 a message inside a message": {[]rawFrame{{first: opText, payload: one[:5]}, whole(one)}, violation},

		"5.5 a fragment of a ping":               {[]rawFrame{{first: opPing, payload: "x"}}, violation},
		"5.5 a ping of 126 bytes":                {[]rawFrame{{first: final | opPing, payload: strings.Repeat("x", 126)}}, violation},
		"5.5.2 a ping of 125 bytes":              {[]rawFrame{{first: final | opPing, payload: strings.Repeat("x", 125)}}, []string{"pong " + strings.Repeat("x", 125)}},
		"5.5.2 a ping of bytes that no text has": {[]rawFrame{{first: final | opPing, payload: "\x00\xff"}}, []string{"pong \x00\xff"}},
		"5.5.3 a pong that nobody asked for":     {[]rawFrame{{first: final | opPong, payload: "x"}, whole(one)}, []string{ack}},

		"5.5.1 close":                    {[]rawFrame{{first: final | opClose, payload: closing(1000, "done")}}, []string{"close 1000", end}},
		"5.5.1 close without a code":     {[]rawFrame{{first: final | opClose}}, []string{"close", end}},
		"5.5.1 close of one byte":        {[]rawFrame{{first: final | opClose, payload: "x"}}, []string{"close", end}}, // as one without a code, where 1002 is possible
		"5.5.1 after close nothing else": {[]rawFrame{{first: final | opClose, payload: closing(1001, "")}, whole(one)}, []string{"close 1001", end}},
		"7.4.1 code 1011":                {[]rawFrame{{first: final | opClose, payload: closing(1011, "")}}, []string{"close 1011", end}},
		"7.4.1 code 1004":                {[]rawFrame{{first: final | opClose, payload: closing(1004, "")}}, violation},
		"7.4.1 code 1005":                {[]rawFrame{{first: final | opClose, payload: closing(1005, "")}}, violation},
		"7.4.1 code 1006":                {[]rawFrame{{first: final | opClose, payload: closing(1006, "")}}, violation},
		"7.4.1 code 1012":                {[]rawFrame{{first: final | opClose, payload: closing(1012, "")}}, []string{"close 1012", end}},
		"7.4.1 code 1015":                {[]rawFrame{{first: final | opClose, payload: closing(1015, "")}}, violation},
		"7.4.2 code 999":                 {[]rawFrame{{first: final | opClose, payload: closing(999, "")}}, violation},
		"7.4.2 code 3000":                {[]rawFrame{{first: final | opClose, payload: closing(3000, "")}}, []string{"close 3000", end}},
		"7.4.2 code 4999":                {[]rawFrame{{first: final | opClose, payload: closing(4999, "")}}, []string{"close 4999", end}},
		"7.4.2 code 5000":                {[]rawFrame{{first: final | opClose, payload: closing(5000, "")}}, violation},
		"8.1 a reason that is no UTF-8":  {[]rawFrame{{first: final | opClose, payload: closing(1000, "\xff")}}, violation},
		// Another rule than that of the RFC, which ends the connection: a bad message is refused alone.
		"8.1 a text that is no UTF-8": {[]rawFrame{whole(strings.Replace(one, "t1", "t\xff", 1)), whole(logText(2))}, []string{`{"type":"nack","seq":1,"code":"malformed"`, `{"type":"ack","seq":2`}},
	} {
		t.Run(name, func(t *testing.T) {
			server := startCollector(t)
			p := server.rawServed(t)
			var sent []byte
			for _, f := range c.frames {
				sent = append(sent, f.bytes()...)
			}
			_, err := p.conn.Write(sent)
			require.NoError(t, err)
			for _, want := range c.want {
				got := p.frame()
				if strings.HasPrefix(want, "{") {
					got = got[:min(len(got), len(want))]
				}
				require.Equal(t, want, got)
			}
			forbidden := int64(0)
			if slices.Contains(c.want, "close 1002") && !slices.Contains(c.want, bye) {
				forbidden = 1
			}
			require.Equal(t, forbidden, server.counted("receiver_qoswss_connections_closed", string(endProtocol)))
		})
	}
}

// bytewise is a message in frames of one byte.
func bytewise(message string) (frames []rawFrame) {
	for i := range len(message) {
		frames = append(frames, rawFrame{first: opContinuation, payload: message[i : i+1]})
	}
	frames[0].first |= opText
	frames[len(frames)-1].first |= final
	return frames
}

// rawServed is a connection after welcome and announcements.
func (c *collector) rawServed(t *testing.T) *rawPeer {
	t.Helper()
	p := c.rawDial(t)
	require.Equal(t, http.StatusSwitchingProtocols, p.upgrade("GET /ws HTTP/1.1", nil).StatusCode)
	for _, text := range []string{helloText(c.login("demo", testOrigin), 0), fmt.Sprintf(fabricText, time.Now().UnixMilli())} {
		_, err := p.conn.Write(whole(text).bytes())
		require.NoError(t, err)
	}
	require.Contains(t, p.frame(), `"welcome"`)
	return p
}

// TestRFC6455Handshake: the example of section 1.3, and what is missing or wrong in requests.
//
// spec: SRV-01
func TestRFC6455Handshake(t *testing.T) {
	c := startCollector(t)
	resp := c.rawDial(t).upgrade("GET /ws HTTP/1.1", nil)
	require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	require.Equal(t, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", resp.Header.Get("Sec-WebSocket-Accept"))
	require.Equal(t, []string{"websocket", "Upgrade"}, []string{resp.Header.Get("Upgrade"), resp.Header.Get("Connection")})
	require.Empty(t, resp.Header.Get("Sec-WebSocket-Extensions"))
	require.Empty(t, resp.Header.Get("Sec-WebSocket-Protocol"), "none was asked for")

	for name, one := range map[string]struct {
		line    string
		headers map[string]string
		status  int
	}{
		"no upgrade":                        {"GET /ws HTTP/1.1", map[string]string{"Upgrade": ""}, http.StatusBadRequest},
		"another upgrade":                   {"GET /ws HTTP/1.1", map[string]string{"Upgrade": "h2c"}, http.StatusBadRequest},
		"no Connection":                     {"GET /ws HTTP/1.1", map[string]string{"Connection": "keep-alive"}, http.StatusBadRequest},
		"no key":                            {"GET /ws HTTP/1.1", map[string]string{"Sec-WebSocket-Key": ""}, http.StatusBadRequest},
		"a key of 15 bytes":                 {"GET /ws HTTP/1.1", map[string]string{"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25j"}, http.StatusBadRequest},
		"no version":                        {"GET /ws HTTP/1.1", map[string]string{"Sec-WebSocket-Version": ""}, http.StatusBadRequest},
		"version 8":                         {"GET /ws HTTP/1.1", map[string]string{"Sec-WebSocket-Version": "8"}, http.StatusBadRequest},
		"POST":                              {"POST /ws HTTP/1.1", nil, http.StatusMethodNotAllowed},
		"two Hosts":                         {"GET /ws HTTP/1.1\r\nHost: other.example", nil, http.StatusBadRequest},
		"words in another case, and a list": {"GET /ws HTTP/1.1", map[string]string{"Upgrade": "WebSocket", "Connection": "keep-alive, upgrade"}, http.StatusSwitchingProtocols},
		"extensions and other protocols":    {"GET /ws HTTP/1.1", map[string]string{"Sec-WebSocket-Extensions": "permessage-deflate", "Sec-WebSocket-Protocol": "chat"}, http.StatusSwitchingProtocols},
	} {
		t.Run(name, func(t *testing.T) {
			resp := c.rawDial(t).upgrade(one.line, one.headers)
			require.Equal(t, one.status, resp.StatusCode)
			require.Empty(t, resp.Header.Get("Sec-WebSocket-Extensions")+resp.Header.Get("Sec-WebSocket-Protocol"))
			if strings.Contains(name, "version") {
				require.Equal(t, "13", resp.Header.Get("Sec-WebSocket-Version"), "section 4.4")
			}
			if one.status == http.StatusBadRequest {
				body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
				require.NoError(t, err)
				require.False(t, bytes.Contains(body, []byte("example")), "nothing of the request is repeated")
			}
		})
	}
}
