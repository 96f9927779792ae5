package qoswssreceiver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// A client that sends all of a body before it reads gets the answer, however large the body.
//
// spec: SRV-02
func TestAnOversizedPostReadsItsAnswer(t *testing.T) {
	c := startCollector(t)
	address := c.receiver.listener.Addr().String()
	for _, path := range []string{"auth", "frames", "nothing"} {
		for _, size := range []int{protocol.MaxFrameBytes + 1, 1 << 20, 20 << 20} {
			conn, err := net.Dial("tcp", address)
			require.NoError(t, err)
			_, err = fmt.Fprintf(conn, "POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", path, size)
			require.NoError(t, err)
			_, err = conn.Write(make([]byte, size))
			require.NoError(t, err, "%s %d", path, size)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err, "%s %d", path, size)
			if path == "nothing" {
				require.Equal(t, http.StatusNotFound, resp.StatusCode)
			} else {
				require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
				var h heard
				require.NoError(t, json.NewDecoder(resp.Body).Decode(&h))
				require.Equal(t, []any{"frame_too_large", protocol.MaxFrameBytes, path == "frames"}, []any{h.Code, h.Limit, h.Retry})
			}
			require.NoError(t, resp.Body.Close())
			require.NoError(t, conn.Close())

			resp, lines := c.post(path, testOrigin, strings.Repeat("x", size))
			require.GreaterOrEqual(t, resp.StatusCode, 400)
			require.Equal(t, path != "nothing", len(lines) == 1)
		}
	}
	require.EqualValues(t, 2*2*3, c.counted("receiver_qoswss_requests_refused", "413"))
}

// A client that waits for leave to send its body is refused at once, and not asked for it.
func TestABodyThatWaitsIsNotAskedFor(t *testing.T) {
	c := startCollector(t)
	conn, err := net.Dial("tcp", c.receiver.listener.Addr().String())
	require.NoError(t, err)
	_, err = fmt.Fprint(conn, "POST /auth?x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n")
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	require.NoError(t, resp.Body.Close())
	require.NoError(t, conn.Close())
}
