package qoswssreceiver

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// unread asks for a file in so many streams of one connection and reads none of them. It returns the statuses of those that
// the server allows.
func unread(t *testing.T, c *collector, path string, streams int) (statuses map[string]int, allowed uint32) {
	t.Helper()
	roots := c.client.Transport.(*http.Transport).TLSClientConfig.RootCAs
	conn, err := tls.Dial("tcp", c.receiver.listener.Addr().String(), &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte(http2.ClientPreface))
	require.NoError(t, err)
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	require.NoError(t, framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for i := range streams {
		block.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "127.0.0.1"}, {":path", path}, {"x-forwarded-for", "203.0.113.1"}} {
			require.NoError(t, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
		}
		require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}))
	}
	statuses = map[string]int{}
	for answers := 0; answers < streams; {
		frame, err := framer.ReadFrame()
		require.NoError(t, err)
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if n, has := f.Value(http2.SettingMaxConcurrentStreams); has {
				allowed = n
			}
		case *http2.MetaHeadersFrame:
			statuses[f.PseudoValue("status")]++
			answers++
		case *http2.RSTStreamFrame:
			statuses[f.ErrCode.String()]++
			answers++
		}
	}
	return statuses, allowed
}

// What a stranger has the server hold by not reading what it asked for is limited, by streams of a connection and by
// requests of an address.
//
// spec: SRV-01, SRV-04
func TestStreamsThatNobodyReads(t *testing.T) {
	c := startCollector(t, overTLS(t), with(func(r *wssReceiver) { r.cfg.TrustedProxies = []string{"127.0.0.0/8"} }))
	p := c.connect("demo")
	const streams = 32
	ok, refused := strconv.Itoa(http.StatusOK), strconv.Itoa(http.StatusServiceUnavailable)
	for range maxRequests / streams {
		got, allowed := unread(t, c, "/qos.js", streams)
		require.EqualValues(t, streams, allowed)
		require.Equal(t, map[string]int{ok: streams}, got)
	}
	got, _ := unread(t, c, "/qos.js", streams)
	require.Equal(t, map[string]int{refused: streams}, got)
	require.EqualValues(t, streams, c.counted("receiver_qoswss_requests_refused", refused))
	p.say(statsText(1))
	p.acked(1)
	require.True(t, c.receiver.shared.requests.enter(1, maxRequests), "another address")
	require.Positive(t, c.receiver.server.WriteTimeout, "an answer that nobody reads ends")
}
