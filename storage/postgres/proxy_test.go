package postgres

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// proxy stands between a store and its server and loses one answer of the server: the
// client that waits for it sees its connection end.
type proxy struct {
	net.Listener
	server string
	wg     sync.WaitGroup

	mu     sync.Mutex
	client string // the address whose answers are counted
	lose   int    // which answer to it from now; 0: none
}

func startProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{Listener: l, server: server}
	p.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); p.wg.Wait() })
	return p
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		_ = client.Close()
		return
	}
	p.wg.Go(func() {
		_, _ = io.Copy(server, client) // either end may close first
		_ = server.Close()
	})
	_ = p.answer(client, server) // likewise
	_ = server.Close()
	_ = client.Close()
}

// headerBytes of a message of the server: its type and its length, which counts itself.
const headerBytes = 5

// readyForQuery is the type of the message that ends each answer of the server.
const readyForQuery = 'Z'

// answer copies the server's messages one by one, until the answer that is to be lost is
// complete: the server has done then what it was asked for.
func (p *proxy) answer(client, server net.Conn) error {
	from := bufio.NewReader(server)
	for {
		header, err := from.Peek(headerBytes)
		if err != nil {
			return err
		}
		if header[0] == readyForQuery && p.lost(client) {
			return nil
		}
		length := 1 + int64(binary.BigEndian.Uint32(header[1:]))
		if _, err := io.CopyN(client, from, length); err != nil {
			return err
		}
	}
}

// lost reports whether this answer is the one.
func (p *proxy) lost(client net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lose == 0 || client.RemoteAddr().String() != p.client {
		return false
	}
	p.lose--
	return p.lose == 0
}

// loseAnswer loses the nth answer from now to that client; 0 is none. It returns what was
// still to come until the answer that was named before.
func (p *proxy) loseAnswer(client string, n int) (left int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left = p.lose
	p.client, p.lose = client, n
	return left
}

// Whichever answer of the server is lost, that to the commit too, the frame is stored once
// and followers get it, by name or as a CatchUp.
//
// spec: SRV-03, DASH-05
func TestAnswerLost(t *testing.T) {
	dsn := migrated(t)
	_, rest, _ := strings.Cut(dsn, "@")
	server, _, _ := strings.Cut(rest, "/")
	p := startProxy(t, server)
	s, other := open(t, strings.Replace(dsn, server, p.Addr().String(), 1)), open(t, dsn)
	changes := followAll(t, other)
	appendFrame(t, s, 1)
	require.False(t, changes.next(t).CatchUp)
	const answers = 10 // more than an append waits for
	unnamed := 0
	for n := range answers {
		p.loseAnswer(s.writer.conn.PgConn().Conn().LocalAddr().String(), n)
		done, err := s.Append(t.Context(), []storage.Batch{statsFrame(1, uint64(n+2), noon)})
		require.NoError(t, err)
		require.Equal(t, 5, done.New+done.Duplicates)
		left := p.loseAnswer("", 0)
		if changes.next(t).CatchUp {
			require.Zero(t, left)
			unnamed++
		}
	}
	require.Positive(t, unnamed, "no answer to a commit was lost")
	require.EqualValues(t, 5*(answers+1), query[int64](t, other, `SELECT sum(n) FROM qos_frame`))
}
