package demoextension

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/qosrtc/qos/extensions/demoextension/internal/metadata"
)

// started runs the extension on a free port until the test ends.
func started(t *testing.T, change func(*Config)) *demo {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = "localhost:0"
	cfg.BackendURL = "http://localhost:9999/some/prefix/"
	if change != nil {
		change(cfg)
	}
	require.NoError(t, cfg.Validate())
	ext, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(context.Background())) })
	return ext.(*demo)
}

func get(t *testing.T, d *demo, path, host string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.addr+path, http.NoBody)
	require.NoError(t, err)
	if host != "" {
		req.Host = host
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

// spec: LIB-01
func TestPageIncludesTheLibraryFromTheBackend(t *testing.T) {
	d := started(t, nil)
	resp, body := get(t, d, "/", "")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, body, `<script id="library" src="http://localhost:9999/some/prefix/qos.min.js"></script>`)
	require.NotContains(t, body, "demo-secret")
	policy := resp.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.Contains(t, policy, "script-src 'self' http://localhost:9999;")
	require.Contains(t, policy, "connect-src 'self' http://localhost:9999 ws://localhost:9999;")
	require.NotContains(t, policy, "unsafe")
}

func TestPageIsComplete(t *testing.T) {
	d := started(t, nil)
	for path, kind := range map[string]string{
		"/demo.css": "text/css", "/main.js": "text/javascript", "/call.js": "text/javascript",
		"/media.js": "text/javascript", "/monitor.js": "text/javascript", "/view.js": "text/javascript",
		"/ticker.js": "text/javascript", "/icon.svg": "image/svg+xml", "/config.json": "application/json",
	} {
		resp, body := get(t, d, path, "")
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
		require.Contains(t, resp.Header.Get("Content-Type"), kind, path)
		require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"), path)
		require.NotEmpty(t, body, path)
	}
	resp, _ := get(t, d, "/nothing", "")
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
}

func TestConfigIsForThePage(t *testing.T) {
	d := started(t, func(c *Config) { c.AppID, c.AppSecret = "42", "s3cret" })
	_, body := get(t, d, "/config.json", "")
	require.JSONEq(t, `{"appID":"42","appSecret":"s3cret"}`, body)
}

// TestForeignHostNamesAreRefused: a page of somebody whose DNS name points at 127.0.0.1.
func TestForeignHostNamesAreRefused(t *testing.T) {
	d := started(t, nil)
	resp, body := get(t, d, "/config.json", "evil.example.org:8483")
	require.Equal(t, http.StatusMisdirectedRequest, resp.StatusCode)
	require.NotContains(t, body, "demo-secret")

	open := started(t, func(c *Config) { c.AllowRemote = true })
	resp, _ = get(t, open, "/config.json", "demo.example.org")
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

// browser is one side of a signalling connection.
type browser struct {
	t    *testing.T
	conn *websocket.Conn
}

func enter(t *testing.T, d *demo, query string) *browser {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+d.addr+"/signal?"+query, nil)
	require.NoError(t, err)
	resp.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	return &browser{t: t, conn: conn}
}

func (b *browser) hears(want string) {
	b.t.Helper()
	var raw json.RawMessage
	require.NoError(b.t, b.conn.ReadJSON(&raw))
	require.JSONEq(b.t, want, string(raw))
}

func (b *browser) says(text string) {
	b.t.Helper()
	require.NoError(b.t, b.conn.WriteMessage(websocket.TextMessage, []byte(text)))
}

func (b *browser) isClosed() {
	b.t.Helper()
	_, _, err := b.conn.ReadMessage()
	require.Error(b.t, err)
	require.NotContains(b.t, err.Error(), "timeout")
}

func TestTwoMeetAndSpeak(t *testing.T) {
	d := started(t, nil)
	ada := enter(t, d, "room=r&user=ada")
	ada.hears(`{"type":"joined","role":"offerer"}`)
	grace := enter(t, d, "room=r&user=grace%20h")
	grace.hears(`{"type":"joined","role":"answerer"}`)
	grace.hears(`{"type":"peer","user":"ada"}`)
	ada.hears(`{"type":"peer","user":"grace h"}`)
	ada.says(`{"type":"signal","data":{"description":{"type":"offer","sdp":"x"}}}`)
	grace.hears(`{"type":"signal","data":{"description":{"type":"offer","sdp":"x"}}}`)
	grace.says(`{"type":"signal","data":{"candidate":null}}`)
	ada.hears(`{"type":"signal","data":{"candidate":null}}`)

	alone := enter(t, d, "room=other&user=alone")
	alone.hears(`{"type":"joined","role":"offerer"}`)

	third := enter(t, d, "room=r&user=third")
	third.hears(`{"type":"error","message":"two are in this room already"}`)
	third.isClosed()

	require.NoError(t, ada.conn.Close()) // no goodbye, like a tab that was killed
	grace.hears(`{"type":"left"}`)
	grace.hears(`{"type":"joined","role":"offerer"}`)
	next := enter(t, d, "room=r&user=next")
	next.hears(`{"type":"joined","role":"answerer"}`)
	next.hears(`{"type":"peer","user":"grace h"}`)
}

func TestRoomsAreBounded(t *testing.T) {
	d := started(t, func(c *Config) { c.MaxRooms = 1 })
	first := enter(t, d, "room=a&user=u")
	first.hears(`{"type":"joined","role":"offerer"}`)
	second := enter(t, d, "room=b&user=u")
	second.hears(`{"type":"error","message":"too many rooms are open, try again later"}`)
	second.isClosed()
}

func TestOldRoomsEnd(t *testing.T) {
	d := started(t, func(c *Config) { c.MaxRoomAge = 50 * time.Millisecond })
	b := enter(t, d, "room=a&user=u")
	b.hears(`{"type":"joined","role":"offerer"}`)
	b.isClosed()
}

func TestNonsenseEndsOnlyItsOwnConnection(t *testing.T) {
	d := started(t, nil)
	for _, nonsense := range []string{`{"type":"joined"}`, `[`, `{"type":"signal","data":"` + strings.Repeat("x", maxSignalBytes) + `"}`} {
		good := enter(t, d, "room=a&user=good")
		good.hears(`{"type":"joined","role":"offerer"}`)
		bad := enter(t, d, "room=a&user=bad")
		bad.hears(`{"type":"joined","role":"answerer"}`)
		bad.says(nonsense)
		good.hears(`{"type":"peer","user":"bad"}`)
		good.hears(`{"type":"left"}`)
		good.hears(`{"type":"joined","role":"offerer"}`)
		require.NoError(t, good.conn.Close())
		d.idle(t)
	}
}

// idle waits until nobody is in a room.
func (d *demo) idle(t *testing.T) {
	t.Helper()
	done := make(chan struct{})
	go func() { d.connections.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("somebody is still in a room")
	}
}

func TestBadRequests(t *testing.T) {
	d := started(t, nil)
	for _, query := range []string{"", "room=a", "user=a", "room=a&user=" + strings.Repeat("u", maxNameBytes+1)} {
		resp, _ := get(t, d, "/signal?"+query, "")
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, query)
	}
	resp, _ := get(t, d, "/signal?room=a&user=u", "") // no upgrade
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
}

func TestForeignPagesMayNotSignal(t *testing.T) {
	d := started(t, nil)
	_, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+d.addr+"/signal?room=a&user=u",
		http.Header{"Origin": {"http://evil.example.org"}})
	require.Error(t, err)
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
	resp.Body.Close()
}

func TestShutdownEndsTheRooms(t *testing.T) {
	d := started(t, nil)
	b := enter(t, d, "room=a&user=u")
	b.hears(`{"type":"joined","role":"offerer"}`)
	require.NoError(t, d.Shutdown(t.Context()))
	b.isClosed()
	require.NoError(t, d.Shutdown(t.Context()))
}

// The rooms may close between the answer to a browser and the first read of what it sends.
func TestClosedBeforeTheFirstRead(t *testing.T) {
	d := started(t, nil)
	listened := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(listened)
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return // the browser below has the same error
		}
		defer func() { _ = conn.Close() }() // the browser may have closed it first
		m := &member{user: "u", link: newSocketLink(conn)}
		if _, err := d.rooms.join("a", m, time.Now()); err != nil {
			t.Error(err)
		}
		d.rooms.close()
		m.link.(*socketLink).wg.Wait()
		d.relaySignals(conn, "a", m)
	}))
	defer server.Close()
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	defer func() { require.NoError(t, conn.Close()) }()
	select {
	case <-listened: // although the browser says nothing
	case <-time.After(time.Minute):
		t.Fatal("the server still waits for a browser whose room is closed")
	}
}

func TestSlowBrowserIsCutOff(t *testing.T) {
	link := &socketLink{queue: make(chan message, 1), done: make(chan struct{})}
	link.send(message{Type: "signal"})
	select {
	case <-link.done:
		t.Fatal("cut off too early")
	default:
	}
	link.send(message{Type: "signal"})
	<-link.done
}
