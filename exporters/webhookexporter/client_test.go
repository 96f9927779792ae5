package webhookexporter

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/qosrtc/qos/internal/call/notice"
)

var loopbackNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func header() http.Header { return http.Header{} }

// The published vector of Standard Webhooks, and both secrets while one rotates.
//
// spec: OUT-03
func TestSign(t *testing.T) {
	const id, secret = "msg_p5jXN8AQM9LWM0D4loKWxJek", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	at, payload := time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)
	h, err := sign(&notice.Hook{Secrets: []string{secret}}, id, at, payload)
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", h.Get("webhook-signature"))
	require.Equal(t, []string{id, "1614265330", "application/json"}, []string{h.Get("webhook-id"), h.Get("webhook-timestamp"), h.Get("Content-Type")})

	plain := "0123456789abcdef0123456789abcdef"
	h, err = sign(&notice.Hook{Secrets: []string{plain, secret}}, id, at, payload)
	require.NoError(t, err)
	raw, err := standardwebhooks.NewWebhookRaw([]byte(plain))
	require.NoError(t, err)
	old, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	for _, verifier := range []*standardwebhooks.Webhook{raw, old} {
		require.NoError(t, verifier.VerifyIgnoringTimestamp(payload, h))
	}
	h, err = sign(&notice.Hook{Format: notice.PagerDuty, Secrets: []string{plain}}, id, at, payload)
	require.NoError(t, err)
	require.Empty(t, h.Get("webhook-signature"))
	_, err = sign(&notice.Hook{Secrets: []string{"whsec_?"}}, id, at, payload)
	require.ErrorContains(t, err, "secret 0")
	require.NotContains(t, err.Error(), "whsec_")
}

// resolver answers a name with addresses in turn, as a name server that rebinds does.
func resolver(t *testing.T, asked *atomic.Int64, turns ...[][4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil {
				continue
			}
			m.Response = true
			m.Additionals = nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				for _, a := range turns[min(int(asked.Add(1)), len(turns))-1] {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, Type: dnsmessage.TypeA}, Body: &dnsmessage.AResource{A: a},
					})
				}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// A name that is allowed at first and means another address at the next connection is refused then:
// the address is checked when it is connected to, not when it is resolved.
//
// spec: OUT-03
func TestRebinding(t *testing.T) {
	var hits, asked atomic.Int64
	own, other := [4]byte{127, 0, 0, 1}, [4]byte{127, 0, 0, 2}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	c := newClient([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, nil, 5*time.Second, resolver(t, &asked, [][4]byte{own}, [][4]byte{other}, [][4]byte{other, own}))
	url := "http://hooks.example.com:" + port + "/"
	require.Equal(t, answer{status: 200}, c.post(t.Context(), url, header(), []byte("{}")))
	require.Equal(t, answer{failure: errAddress.Error(), permanent: true}, c.post(t.Context(), url, header(), []byte("{}")))
	require.EqualValues(t, 1, hits.Load())
	require.GreaterOrEqual(t, asked.Load(), int64(2), "each connection resolves the name")
	require.Equal(t, answer{status: 200}, c.post(t.Context(), url, header(), nil), "another address of the name is allowed")
	require.EqualValues(t, 2, hits.Load())
	for _, host := range []string{"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0", "2130706433", "0x7f.1"} {
		a := newClient(nil, nil, 5*time.Second, nil).post(t.Context(), "http://"+host+":"+port+"/", header(), nil)
		require.Zero(t, a.status, host)
	}
	require.EqualValues(t, 2, hits.Load())
	s.Close()
	require.False(t, c.post(t.Context(), url, header(), nil).permanent, "the allowed address may answer later")
}

// Receivers that misbehave cost bounded time and memory, and nothing that they write is kept.
//
// spec: OUT-03
func TestHostileReceivers(t *testing.T) {
	const limit = 300 * time.Millisecond
	var redirected atomic.Int64
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/hang", func(http.ResponseWriter, *http.Request) { <-release })
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-release:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, io.LimitReader(zeroReader{}, 10<<20)) })
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) })
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/target", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/target", func(http.ResponseWriter, *http.Request) { redirected.Add(1) })
	mux.HandleFunc("/half", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "half")
	})
	mux.HandleFunc("/cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) })
	c := newClient(loopbackNetworks, nil, limit, nil)
	for path, want := range map[string]answer{
		"/hang":     {failure: "no answer in time"},
		"/drip":     {status: 200},
		"/large":    {status: 200},
		"/headers":  {failure: "the connection ended without an answer"},
		"/redirect": {status: 307, failure: "status 307: redirects are not followed"},
		"/half":     {status: 200},
		"/cut":      {failure: "the connection ended without an answer"},
		"/busy":     {status: 429, retryAfter: 2 * time.Minute, failure: "status 429"},
		"/none":     {status: 404, failure: "status 404"},
	} {
		require.Equal(t, want, c.post(t.Context(), s.URL+path, header(), []byte("{}")), path)
	}
	require.Zero(t, redirected.Load())
	closed := httptest.NewServer(nil)
	closed.Close()
	require.Equal(t, "the connection was refused", c.post(t.Context(), closed.URL, header(), nil).failure)
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { return len(p), nil }

// An answer without an end is read to its bound alone, which buffers of sockets exceed by some MB.
//
// spec: OUT-03
func TestEndlessAnswer(t *testing.T) {
	const all, most = 4 << 30, 64 << 20
	written := make(chan int64, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n, _ := io.Copy(w, io.LimitReader(zeroReader{}, all))
		written <- n
	}))
	t.Cleanup(s.Close)
	require.Equal(t, answer{status: 200}, newClient(loopbackNetworks, nil, time.Minute, nil).post(t.Context(), s.URL, header(), nil))
	require.Less(t, <-written, int64(most))
}

// A failure never has the URL, whose path may be secret.
func TestFailuresHaveNoURL(t *testing.T) {
	c := newClient(nil, nil, time.Second, nil)
	for _, url := range []string{"http://127.0.0.1:1/hunter2", "http://hunter2.invalid/", "http://[::1]:1/?k=hunter2", "\x7fhunter2"} {
		require.NotContains(t, fmt.Sprint(c.post(t.Context(), url, header(), nil)), "hunter2")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "-5": 0, "x": 0, "99999999999": 24 * time.Hour, "9223372036854775807": 24 * time.Hour,
		"Sun, 01 Mar 2026 12:01:00 GMT": time.Minute, "Sun, 01 Mar 2026 11:00:00 GMT": 0, "Fri, 01 Jan 2100 00:00:00 GMT": 24 * time.Hour,
	} {
		require.Equal(t, want, parseRetryAfter(value, now), value)
	}
}
