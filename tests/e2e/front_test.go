package e2e

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// front stands between one page and its collectors, as a proxy of a company or a load
// balancer does. It suffers faults on demand, and writes down what went over the wire.
type front struct {
	t       *testing.T
	url     string
	wire    *wire
	refuses bool       // answers 403 to who asks for a WebSocket
	targets []*url.URL // in rotation

	mu    sync.Mutex
	turn  int
	links map[*link]bool
	wg    sync.WaitGroup
}

// startFront starts a front of the collectors, which need not run yet.
func startFront(t *testing.T, refuses bool, collectors ...*collector) *front {
	t.Helper()
	f := &front{t: t, wire: newWire(), refuses: refuses, links: map[*link]bool{}}
	for _, c := range collectors {
		target, err := url.Parse(c.receiver)
		require.NoError(t, err)
		f.targets = append(f.targets, target)
	}
	address := freeAddress(t)
	f.url = "http://" + address
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server := &http.Server{Handler: f, ReadHeaderTimeout: patience}
	f.wg.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		_ = server.Close()
		f.each(func(l *link) { l.reset() })
		f.wg.Wait()
	})
	return f
}

// next is the collector whose turn it is.
func (f *front) next() *url.URL {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn++
	return f.targets[f.turn%len(f.targets)]
}

// each does something with every WebSocket that is open.
func (f *front) each(do func(*link)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.links {
		do(l)
	}
}

// reset breaks what is open, as a router that lost its table: with a TCP reset each way.
func (f *front) reset() { f.each(func(l *link) { l.reset() }) }

// stall stops to carry anything over what is open, without a word to either end. What is opened later is
// carried. The result lets everything through that was held up, late as it is.
func (f *front) stall() (release func()) {
	var held []*link
	f.each(func(l *link) {
		l.gate.Lock()
		held = append(held, l)
	})
	return sync.OnceFunc(func() {
		for _, l := range held {
			l.gate.Unlock()
		}
	})
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !websocket.IsWebSocketUpgrade(r):
		f.pass(w, r)
	case f.refuses:
		http.Error(w, "no WebSockets here", http.StatusForbidden)
	default:
		f.wg.Add(1)
		defer f.wg.Done()
		f.link(w, r)
	}
}

// pass hands a request on. A request that waits in vain gets 502, as from nginx.
func (f *front) pass(w http.ResponseWriter, r *http.Request) {
	post := strings.HasSuffix(r.URL.Path, "/frames")
	said := &speech{wire: f.wire, post: true}
	if post {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the browser went away in the middle
		}
		for line := range bytes.Lines(body) {
			said.client(bytes.TrimSuffix(line, []byte("\n")))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(f.next()) },
		ModifyResponse: func(resp *http.Response) error {
			if !post || resp.StatusCode != http.StatusOK {
				return nil
			}
			body, err := io.ReadAll(resp.Body)
			for line := range bytes.Lines(body) {
				said.server(line)
			}
			resp.Body = io.NopCloser(bytes.NewReader(body))
			return err
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	// The page may be gone; what it handed over goes on, as it does through a real proxy.
	proxy.ServeHTTP(w, r.WithContext(f.t.Context()))
}

// link is one WebSocket through the front.
type link struct {
	said        *speech
	page, there *websocket.Conn
	gate        sync.RWMutex // shut while nothing is carried
}

func (f *front) link(w http.ResponseWriter, r *http.Request) {
	there, err := f.dial(r)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	upgrader := websocket.Upgrader{Subprotocols: websocket.Subprotocols(r), CheckOrigin: func(*http.Request) bool { return true }}
	page, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		_ = there.Close()
		return
	}
	l := &link{said: &speech{wire: f.wire}, page: page, there: there}
	f.mu.Lock()
	f.links[l] = true
	f.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.carry(page, there, l.said.client) })
	both.Go(func() { l.carry(there, page, l.said.server) })
	both.Wait()
	f.mu.Lock()
	delete(f.links, l)
	f.mu.Unlock()
}

// dial connects to the collector whose turn it is, or to the next one that is there.
func (f *front) dial(r *http.Request) (there *websocket.Conn, err error) {
	dialer := &websocket.Dialer{Subprotocols: websocket.Subprotocols(r), HandshakeTimeout: patience}
	for range f.targets {
		var resp *http.Response
		there, resp, err = dialer.DialContext(f.t.Context(), "ws://"+f.next().Host+r.URL.Path, http.Header{"Origin": r.Header["Origin"]})
		if err == nil {
			return there, resp.Body.Close()
		}
	}
	return nil, err
}

// carry hands on what one end says until that end is gone; then it closes the other.
func (l *link) carry(from, to *websocket.Conn, write func([]byte)) {
	for {
		kind, data, err := from.ReadMessage()
		l.gate.RLock()
		if err != nil {
			_ = to.Close()
			l.gate.RUnlock()
			return
		}
		write(data)
		_ = to.WriteMessage(kind, data) // an end that is gone is found by its reader
		l.gate.RUnlock()
	}
}

// reset ends both connections without a goodbye.
func (l *link) reset() {
	for _, conn := range []*websocket.Conn{l.page, l.there} {
		if tcp, ok := conn.NetConn().(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}
