package qoswssreceiver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// stopped is the socket of a process that is stopped at times. A read that waited through
// such a time fails with its deadline passed, whatever has arrived, as reads of package net do.
type stopped struct {
	net.Conn
	stops []time.Duration // from the start of the next reads to when the process goes on
}

func (s *stopped) Read(p []byte) (int, error) {
	if len(s.stops) == 0 {
		return s.Conn.Read(p)
	}
	time.Sleep(s.stops[0])
	s.stops = s.stops[1:]
	return 0, os.ErrDeadlineExceeded
}

// reader is a connection at the level of read. It must be made in a synctest bubble.
func reader(t *testing.T, d *shared, welcome bool, stops ...time.Duration) (c *connection, client net.Conn) {
	t.Helper()
	server, client := net.Pipe()
	c = &connection{shared: d, raw: &stopped{Conn: server, stops: stops}, started: time.Now(), lastRead: time.Now()}
	c.session = newSession(d, testOrigin, func([]byte) {})
	if welcome {
		c.session = welcomed(d, func([]byte) {})
	}
	r := httptest.NewRequest(http.MethodGet, "/ws", http.NoBody)
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-Websocket-Version": "13", "Sec-Websocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
	} {
		r.Header.Set(name, value)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := client.Read(make([]byte, 1024))
		answered <- err
	}()
	ws, err := (&websocket.Upgrader{}).Upgrade(hijacked{httptest.NewRecorder(), server}, r, nil)
	require.NoError(t, err)
	require.NoError(t, <-answered)
	c.ws = ws
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return c, client
}

type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

// What arrived before a deadline is read before the deadline ends the connection, however
// long the process was stopped, and however often.
//
// spec: SRV-04
func TestWhatTheSocketHoldsIsReadBeforeADeadlineCounts(t *testing.T) {
	d := startCollector(t).receiver.shared
	f := func(name string, welcome bool, stops ...time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			c, client := reader(t, d, welcome, stops...)
			sent := make(chan error, 1)
			go func() {
				_, err := client.Write([]byte("x"))
				sent <- err
			}()
			n, err := c.read(make([]byte, 8))
			require.NoError(t, err, name)
			require.Equal(t, 1, n)
			require.Nil(t, c.end)
			require.NoError(t, <-sent)
		})
	}
	f("hello, stopped past its deadline", false, 10_500*time.Millisecond)
	f("hello, stopped for long", false, 70*time.Second)
	f("hello, stopped once more while the socket was read again", false, 70*time.Second, 5*time.Second)
	f("hello, stopped again and again", false, 70*time.Second, 5*time.Second, 2*time.Second, time.Hour)
}

// A client that was not asked for a sign of life is not given up for a silence of the
// collector's own, nor one whose answer has arrived.
//
// spec: SRV-04
func TestAStoppedCollectorGivesUpNobody(t *testing.T) {
	d := startCollector(t).receiver.shared
	f := func(stops ...time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			c, client := reader(t, d, true, stops...)
			answered := make(chan error, 1)
			go func() { // answers the ping as a browser would
				_, err := client.Read(make([]byte, 2))
				if err == nil {
					_, err = client.Write([]byte("pong"))
				}
				answered <- err
			}()
			n, err := c.read(make([]byte, 8))
			require.NoError(t, err)
			require.Equal(t, 4, n)
			require.Nil(t, c.end)
			require.Zero(t, c.pingedAt)
			require.NoError(t, <-answered)
		})
	}
	f()                          // a quiet client
	f(70 * time.Second)          // stopped before the ping
	f(25*time.Second, time.Hour) // after it, with the answer in the socket
	f(25*time.Second, time.Hour, 3*time.Second)
}

// Who really says nothing is given up, when the deadline and the last look are over. Each is counted.
//
// spec: SRV-04
func TestSilenceIsJudged(t *testing.T) {
	server := startCollector(t)
	d := server.receiver.shared
	f := func(welcome bool, want time.Duration, stops ...time.Duration) *ending {
		t.Helper()
		var end *ending
		synctest.Test(t, func(t *testing.T) {
			c, client := reader(t, d, welcome, stops...)
			go func() { _, _ = io.Copy(io.Discard, client) }()
			_, err := c.read(make([]byte, 8))
			require.ErrorIs(t, err, errEnded)
			require.Equal(t, want, time.Since(c.started))
			end = c.end
		})
		return end
	}
	e := f(false, 11*time.Second)
	require.Equal(t, protocol.CodeHelloExpected, e.bye.Code)
	require.True(t, e.bye.Retry)
	require.True(t, f(false, 71*time.Second, 70*time.Second).bye.Retry)
	idle := ending{reason: endIdle}
	require.Equal(t, idle, *f(true, 61*time.Second))
	require.Equal(t, idle, *f(true, (70+35+1)*time.Second, 70*time.Second), "asked first, and given the usual time")
	require.EqualValues(t, 2, server.counted("receiver_qoswss_connections_closed", string(protocol.CodeHelloExpected)))
	require.EqualValues(t, 2, server.counted("receiver_qoswss_connections_closed", string(endIdle)))
	require.EqualValues(t, 4, server.counted("receiver_qoswss_connections_closed", ""))
}

// A client that does not read is given up after 10 s and counted, whatever is written. A network that breaks is not
// counted, nor a write that fails after the end.
//
// spec: SRV-04
func TestAClientThatDoesNotReadIsGivenUp(t *testing.T) {
	for name, write := range map[string]func(*connection){
		"a message": func(c *connection) { c.write([]byte("x")) },
		"a ping":    func(c *connection) { c.ping(time.Now()) },
		"a pong":    func(c *connection) { require.ErrorIs(t, c.pong("x"), errEnded) },
	} {
		t.Run(name, func(t *testing.T) {
			server := startCollector(t)
			d := server.receiver.shared
			f := func(want ending, after time.Duration, counts int, prepare func(c *connection, client net.Conn)) {
				t.Helper()
				synctest.Test(t, func(t *testing.T) {
					c, client := reader(t, d, true)
					prepare(c, client)
					write(c)
					require.Equal(t, want, *c.end)
					require.Equal(t, after, time.Since(c.started))
				})
				require.EqualValues(t, counts, server.counted("receiver_qoswss_connections_closed", ""))
			}
			f(ending{reason: endWrite}, 10*time.Second, 1, func(*connection, net.Conn) {})
			f(ending{}, 0, 1, func(_ *connection, client net.Conn) { require.NoError(t, client.Close()) })
			f(ending{reason: endIdle}, 10*time.Second, 1, func(c *connection, _ net.Conn) { c.end = &ending{reason: endIdle} })
			require.EqualValues(t, 1, server.counted("receiver_qoswss_connections_closed", string(endWrite)))
		})
	}
}

// A client that sends its hello byte by byte does not hold the connection for ever.
func TestATricklingHelloIsJudged(t *testing.T) {
	d := startCollector(t).receiver.shared
	synctest.Test(t, func(t *testing.T) {
		c, client := reader(t, d, false)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				if _, err := client.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(300 * time.Millisecond)
			}
		}()
		for c.end == nil {
			_, _ = c.read(make([]byte, 8))
		}
		require.Equal(t, protocol.CodeHelloExpected, c.end.bye.Code)
		require.Equal(t, 11*time.Second, time.Since(c.started))
		require.NoError(t, client.Close())
		<-ended
	})
}

// An end is counted once, also if the client does not read the bye.
//
// spec: SRV-04
func TestAnUnreadByeIsCountedOnce(t *testing.T) {
	server := startCollector(t)
	d := server.receiver.shared
	synctest.Test(t, func(t *testing.T) {
		c, _ := reader(t, d, true)
		c.finish(c.session.end(&protocol.Error{Code: protocol.CodeThrottled}))
		require.Equal(t, 10*time.Second, time.Since(c.started))
	})
	require.EqualValues(t, 1, server.counted("receiver_qoswss_connections_closed", string(protocol.CodeThrottled)))
	require.EqualValues(t, 1, server.counted("receiver_qoswss_connections_closed", ""))
}
