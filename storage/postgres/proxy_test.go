package postgres

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// proxy stands between a store and its server and loses one answer of the server: those
// who wait for it see their connection end.
type proxy struct {
	net.Listener
	server string
	wg     sync.WaitGroup

	mu   sync.Mutex
	lose int // which answer from now; 0: none
}

func startProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's own
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
	server, err := net.Dial("tcp", p.server) //nolint:noctx // a test's own
	if err != nil {
		_ = client.Close()
		return
	}
	p.wg.Go(func() { copyUntil(server, client, func() bool { return false }) })
	copyUntil(client, server, p.lost)
}

// lost says whether this answer is the one.
func (p *proxy) lost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lose == 0 {
		return false
	}
	p.lose--
	return p.lose == 0
}

func (p *proxy) loseAnswer(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = n
}

func copyUntil(to, from net.Conn, stop func() bool) {
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if err != nil || stop() {
			break
		}
		if _, err := to.Write(buf[:n]); err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
}

// Whichever answer of the server is lost, that to the commit too, the frame is stored once
// and followers are told of it, by name or to catch up.
//
// spec: SRV-03, DASH-05
func TestAnswerLost(t *testing.T) {
	dsn := database(t)
	_, rest, _ := strings.Cut(dsn, "@")
	server, _, _ := strings.Cut(rest, "/")
	p := startProxy(t, server)
	s, other := open(t, strings.Replace(dsn, server, p.Addr().String(), 1)), open(t, dsn)
	changes := followAll(t, other)
	unnamed := 0
	const answers = 10 // more than a commit waits for
	for n := range answers {
		seq := uint64(n + 1)
		p.loseAnswer(n)
		done, err := s.Append(t.Context(), []storage.Batch{statsFrame(1, seq, noon)})
		require.NoError(t, err)
		require.Equal(t, 5, done.New+done.Duplicates)
		p.loseAnswer(0)
		if c := changes.next(t); c.CatchUp {
			unnamed++
		}
	}
	require.Positive(t, unnamed, "no answer to a commit was lost")
	require.EqualValues(t, 5*answers, query[int64](t, other, `SELECT sum(n) FROM qos_frame`))
}
