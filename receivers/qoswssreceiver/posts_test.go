package qoswssreceiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
)

// post sends a body and returns the status and the lines of the answer.
func (c *collector) post(path, origin, body string) (*http.Response, []heard) {
	c.t.Helper()
	return c.do(http.MethodPost, path, origin, body)
}

func (c *collector) do(method, path, origin, body string) (*http.Response, []heard) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, c.url+path, strings.NewReader(body))
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	resp, err := c.client.Do(req)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	require.Equal(c.t, "*", resp.Header.Get("Access-Control-Allow-Origin"), "a page must be able to read every answer")
	require.Empty(c.t, resp.Header.Get("Access-Control-Allow-Credentials"))
	var lines []heard
	for line := range strings.Lines(string(text)) {
		var h heard
		if json.Unmarshal([]byte(line), &h) == nil {
			lines = append(lines, h)
		}
	}
	return resp, lines
}

// refused expects a refusal and counts it.
func (c *collector) refused(resp *http.Response, lines []heard, code protocol.Code) heard {
	c.t.Helper()
	require.Equal(c.t, code.HTTPStatus(), resp.StatusCode)
	require.Equal(c.t, "application/json", resp.Header.Get("Content-Type"))
	require.Len(c.t, lines, 1)
	require.Equal(c.t, "error", lines[0].Type)
	require.Equal(c.t, string(code), lines[0].Code)
	require.Equal(c.t, string(code.CSError()), lines[0].CSError)
	require.NotEmpty(c.t, lines[0].Message)
	return lines[0]
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// spec: AUTH-01, AUTH-03, SRV-02
func TestAuthRefusals(t *testing.T) {
	c := startCollector(t)
	var last http.Header
	watched := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := c.client.Do(r)
		if err == nil {
			last = resp.Header
		}
		return resp, err
	})}
	login := func(origin, appID, secret string, code protocol.Code) {
		t.Helper()
		_, err := authtest.Login(context.Background(), watched, c.url, origin, appID, secret, protocol.UserID{Name: "alice", Alias: "alice"})
		var refusal *protocol.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, code, refusal.Code)
		require.Equal(t, "*", last.Get("Access-Control-Allow-Origin"), "a page must be able to read why")
	}
	login(testOrigin, "demo", "wrong", protocol.CodeAuthFailed)
	login(testOrigin, "unknown", testSecret, protocol.CodeAuthFailed)
	require.EqualValues(t, 2, c.counted("receiver_qoswss_auth_requests", "auth_failed"))
	for _, origin := range []string{"", "null", "https://evil.example.org"} {
		login(origin, "strict", testSecret, protocol.CodeOriginDenied)
	}
	require.EqualValues(t, 3, c.counted("receiver_qoswss_auth_requests", "origin_denied"))

	const first = `{"type":"scram-first","appID":"strict","userID":"alice","scram":"n,,n=strict,r=fyko+d2lbbFgONRv9qkxdawL"}`
	resp, lines := c.post("auth", testOrigin, "{")
	c.refused(resp, lines, protocol.CodeMalformed)
	resp, lines = c.post("auth", testOrigin, strings.Replace(first, `"alice"`, `"`+strings.Repeat("x", 257)+`"`, 1))
	h := c.refused(resp, lines, protocol.CodeFieldTooLong)
	require.Equal(t, "userID", h.Field)
	require.Equal(t, protocol.MaxIDBytes, h.Limit)
	resp, lines = c.post("auth", testOrigin, strings.Repeat("x", protocol.MaxFrameBytes+1))
	c.refused(resp, lines, protocol.CodeFrameTooLarge)
	resp, lines = c.post("auth", testOrigin, `{"type":"jwt","appID":"demo","userID":"alice","jwt":"a.b.c"}`)
	c.refused(resp, lines, protocol.CodeAuthFailed)
	c.login("demo", testOrigin) // all that disturbed nobody
}

// spec: AUTH-03
func TestCrossOrigin(t *testing.T) {
	c := startCollector(t)
	resp, _ := c.do(http.MethodOptions, "auth", testOrigin, "")
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
	require.Contains(t, resp.Header.Get("Access-Control-Allow-Methods"), "POST")
	require.Equal(t, "Content-Type", resp.Header.Get("Access-Control-Allow-Headers"))
	for method, path := range map[string]string{http.MethodPost: "nothing", http.MethodPut: "auth", http.MethodGet: "", http.MethodDelete: "ws"} {
		resp, _ := c.do(method, path, testOrigin, "")
		require.GreaterOrEqual(t, resp.StatusCode, 400)
	}
	resp, lines := c.do(http.MethodGet, "ws", testOrigin, "")
	c.refused(resp, lines, protocol.CodeMalformed)
}

// spec: SRV-03, SRV-05
func TestPostedFrames(t *testing.T) {
	c := startCollector(t, with(func(r *wssReceiver) { r.cfg.PathPrefix = "/under/here" }))
	hello := helloText(c.login("demo", testOrigin), 2)
	announced := strings.ReplaceAll(fabricText, "%d", "1") + "\n" + columnText
	resp, lines := c.post("frames", testOrigin, strings.Join([]string{hello, announced, statsText(3), "nonsense", logText(4), logText(4), ""}, "\n"))
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Len(t, lines, 3)
	require.Equal(t, []string{"welcome", "nack", "ack"}, []string{lines[0].Type, lines[1].Type, lines[2].Type})
	require.EqualValues(t, 4, lines[2].Seq)
	require.Equal(t, []int64{3, 4}, c.seqs())
	require.Len(t, c.sink.AllLogs(), 1)

	resp, lines = c.post("frames", testOrigin, hello+"\n"+`{"type":"bye","code":"going_away","csError":"wsChannelFailure","message":"","retry":true}`)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Len(t, lines, 2)
}

func TestPostedFramesAreTakenWholeOrNotAtAll(t *testing.T) {
	var full atomic.Bool
	c := startCollector(t, before(func(context.Context, plog.Logs) error {
		if full.Load() {
			return errors.New("queue is full")
		}
		return nil
	}))
	hello := helloText(c.login("demo", testOrigin), 0)
	fabric := strings.ReplaceAll(fabricText, "%d", "1")
	f := func(origin string, code protocol.Code, lines ...string) heard {
		t.Helper()
		resp, answer := c.post("frames", origin, strings.Join(lines, "\n"))
		return c.refused(resp, answer, code)
	}
	require.True(t, f(testOrigin, protocol.CodeHelloExpected, logText(1)).Retry)
	require.True(t, f(testOrigin, protocol.CodeHelloExpected, "").Retry)
	require.False(t, f(testOrigin, protocol.CodeMalformed, "nonsense").Retry)
	require.False(t, f("https://evil.example.org", protocol.CodeOriginDenied, hello, fabric, logText(1)).Retry)
	require.True(t, f(testOrigin, protocol.CodeFrameTooLarge, hello, strings.Repeat("x", protocol.MaxFrameBytes)).Retry, "fewer frames fit")
	require.Empty(t, c.seqs())

	full.Store(true)
	require.Positive(t, f(testOrigin, protocol.CodeOverloaded, hello, fabric, logText(1)).RetryAfterMs)
	full.Store(false)

	// Many small frames are no reason to slow a POST down: it comes at the end of a page.
	many := []string{hello, fabric}
	for seq := range uint64(700) {
		many = append(many, logText(seq+1))
	}
	resp, lines := c.post("frames", testOrigin, strings.Join(many, "\n"))
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.EqualValues(t, 700, lines[len(lines)-1].Seq)
}

// A POST with more refusals or holes than one connection may have is taken up to there: as
// a whole it could never succeed.
//
// spec: SRV-02, SRV-04
func TestPostedFramesAreTakenUpToTheLimits(t *testing.T) {
	c := startCollector(t)
	hello := helloText(c.login("demo", testOrigin), 0)
	fabric := strings.ReplaceAll(fabricText, "%d", "1")
	f := func(acked uint64, frames ...string) []heard {
		t.Helper()
		resp, lines := c.post("frames", testOrigin, strings.Join(append([]string{hello, fabric}, frames...), "\n"))
		require.Equal(t, http.StatusOK, resp.StatusCode)
		last := lines[len(lines)-1]
		require.Equal(t, "ack", last.Type)
		require.Equal(t, acked, last.Seq)
		return lines
	}
	frames := []string{logText(1)}
	for i := range protocol.MaxRefusals {
		frames = append(frames, fmt.Sprintf(`{"type":"log","seq":%d,"at":1,"fabric":2,"text":"x"}`, i+2))
	}
	frames = append(frames, logText(protocol.MaxRefusals+2))
	require.Len(t, f(protocol.MaxRefusals+1, frames...), protocol.MaxRefusals+2, "welcome, a nack for each, ack")
	require.Equal(t, []int64{1}, c.seqs())

	frames = []string{logText(200)}
	for i := range uint64(protocol.MaxSeqGaps + 2) {
		frames = append(frames, logText(202+2*i))
	}
	f(0, frames...)
	require.Len(t, c.seqs(), 1+protocol.MaxSeqGaps+1, "the last ones stay for another POST")
}

// What the server refuses before any endpoint is readable too. A decoder would be one more way
// in, and browsers compress no bodies.
//
// spec: SRV-02
func TestCompressedBodiesAreRefused(t *testing.T) {
	c := startCollector(t)
	for _, encoding := range []string{"gzip", "br", "zstd", "identity"} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+"frames", strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set("Content-Encoding", encoding)
		resp, err := c.client.Do(req)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnsupportedMediaType, resp.StatusCode)
		require.Equal(t, "*", resp.Header.Get("Access-Control-Allow-Origin"))
		var h heard
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&h))
		require.NoError(t, resp.Body.Close())
		require.Equal(t, heard{
			Type: "error", Code: "malformed", CSError: "csProtoError", Field: "Content-Encoding",
			Message: "Content-Encoding must be absent: compressed bodies are refused",
		}, h)
	}
	require.EqualValues(t, 4, c.counted("receiver_qoswss_requests_refused", "415"))
}

// spec: SRV-01
func TestLibraryIsServed(t *testing.T) {
	c := startCollector(t)
	for name, contentType := range map[string]string{
		"qos.min.js": "text/javascript; charset=utf-8", "qos.js": "text/javascript; charset=utf-8",
		"qos.mjs": "text/javascript; charset=utf-8", "qos-precall.mjs": "text/javascript; charset=utf-8",
		"qos-livekit.mjs": "text/javascript; charset=utf-8", "qos-janus.mjs": "text/javascript; charset=utf-8", "qos.d.ts": "text/plain; charset=utf-8",
	} {
		resp, _ := c.do(http.MethodGet, name, "", "")
		require.Equal(t, http.StatusOK, resp.StatusCode, name)
		require.Equal(t, contentType, resp.Header.Get("Content-Type"))
		require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
		require.NotEmpty(t, resp.Header.Get("ETag"))
	}
	for _, path := range []string{"", "dist/", "qos.min.js/", "../go.mod"} {
		resp, _ := c.do(http.MethodGet, path, "", "")
		require.Equal(t, http.StatusNotFound, resp.StatusCode, path)
	}
}

// A body that comes too slowly is a fault of the network: a refusal for good would keep
// the client away for ever.
func TestSlowBodyMayComeAgain(t *testing.T) {
	c := startCollector(t, with(func(r *wssReceiver) { r.cfg.ReadTimeout = 50 * time.Millisecond }))
	body, slow := io.Pipe()
	t.Cleanup(func() { require.NoError(t, slow.Close()) })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"frames", body)
	require.NoError(t, err)
	req.ContentLength = 100
	resp, err := c.client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	var h heard
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&h))
	require.Equal(t, string(protocol.CSHTTPError), h.CSError)
	require.Positive(t, h.RetryAfterMs)
	require.EqualValues(t, 1, c.counted("receiver_qoswss_requests_refused", "429"))
}

// Every refusal of a request is counted by its status, wherever it was made.
//
// spec: SRV-02, AUTH-03
func TestRefusedRequestsAreCounted(t *testing.T) {
	c := startCollector(t)
	const jwt = `{"type":"jwt","appID":"demo","userID":"alice","jwt":"a.b.c"}`
	for _, one := range []struct {
		method, path, origin, body string
		status                     int
	}{
		{http.MethodPost, "auth?x", testOrigin, jwt, http.StatusBadRequest},
		{http.MethodGet, "ws", testOrigin, "", http.StatusBadRequest},
		{http.MethodPost, "configuration", testOrigin, "nonsense", http.StatusBadRequest},
		{http.MethodPost, "auth", testOrigin, jwt, http.StatusUnauthorized},
		{http.MethodPost, "frames", "https://evil.example.org", helloText(c.login("strict", testOrigin), 0), http.StatusForbidden},
		{http.MethodPost, "frames", testOrigin, strings.Repeat("x", protocol.MaxFrameBytes+1), http.StatusRequestEntityTooLarge},
	} {
		before, all := c.counted("receiver_qoswss_requests_refused", strconv.Itoa(one.status)), c.counted("receiver_qoswss_requests_refused", "")
		resp, lines := c.do(one.method, one.path, one.origin, one.body)
		require.Equal(t, one.status, resp.StatusCode)
		require.Len(t, lines, 1)
		require.EqualValues(t, 1, c.counted("receiver_qoswss_requests_refused", strconv.Itoa(one.status))-before)
		require.EqualValues(t, 1, c.counted("receiver_qoswss_requests_refused", "")-all)
	}
	resp, _ := c.do(http.MethodGet, "nothing", testOrigin, "")
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.EqualValues(t, 6, c.counted("receiver_qoswss_requests_refused", ""), "a path that does not exist is not a refusal")
}
