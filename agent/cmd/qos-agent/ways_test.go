package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent/internal/oidctest"
)

// originServer answers on a port of its own and returns its URL.
func originServer(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// TestTheWayURL: with the cookie, from a page of the list. Another site's page gets nothing,
// although its browser sends the cookie too.
//
// spec: AUTH-08
func TestTheWayURL(t *testing.T) {
	origin := originServer(t, func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("session")
		if err != nil || cookie.Value != "c0ffee" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"user":{"id":"alice"}}`))
	})
	p := start(t, "--who=url", "--origins=https://app.example.org", "--url.address="+origin+"/me", "--url.user=user.id")
	claims := p.token(p.key().Public(), "Cookie", "session=c0ffee", "Origin", "https://app.example.org")
	require.Equal(t, "alice", claims["userID"])
	for _, headers := range [][]string{
		{"Origin", "https://app.example.org"},
		{"Cookie", "session=other", "Origin", "https://app.example.org"},
		{"Cookie", "session=c0ffee", "Origin", "https://evil.example"},
		{"Cookie", "session=c0ffee"},
	} {
		status, _, err := p.post(headers...)
		require.NoError(t, err)
		require.Equal(t, http.StatusForbidden, status, headers)
	}
	require.Equal(t, "2", p.metric(`qos_agent_requests_total{reason="origin"}`))
	require.Equal(t, "3", p.metric("qos_agent_who_duration_seconds_count"))
}

// TestTheWayOIDC: the provider may be late; until it answers the agent is alive and not ready.
//
// spec: AUTH-05, AUTH-08
func TestTheWayOIDC(t *testing.T) {
	issuer := oidctest.New(t)
	issuer.Set(func() { issuer.Down = true })
	p := prepare(t)
	authority := filepath.Join(p.dir, "ca.pem")
	require.NoError(t, os.WriteFile(authority, issuer.Authority(), 0o600))
	p.run("--who=oidc", "--oidc.issuer="+issuer.URL, "--oidc.audience=calls", "--oidc.ca_file="+authority)
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "trying again") }, patience, pause)
	status, text := p.look("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, text, "has not been reached")
	status, _ = p.look("/healthz")
	require.Equal(t, http.StatusOK, status)
	out, err := exec.Command(binary, append([]string{"healthcheck", "--who=header"}, p.args(nil)...)...).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "not ready: the OpenID provider")
	issuer.Set(func() { issuer.Down = false })
	p.ready()
	claims := p.token(p.key().Public(), "Authorization", "Bearer "+issuer.Token(t, "es-1", nil))
	require.Equal(t, "alice", claims["userID"])
	issuer.Add(t, "es-2")
	require.Eventually(t, func() bool { // go-oidc may still be putting the first keys away
		status, _, err := p.post("Authorization", "Bearer "+issuer.Token(t, "es-2", nil))
		return err == nil && status == http.StatusOK
	}, patience, pause)
	refused, _, err := p.post("Authorization", "Bearer "+issuer.Token(t, "es-1", jwt.MapClaims{"aud": "mail"}))
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, refused)
}

// TestOldSockets: the one of a process that was killed is replaced; that of a living one, and
// anything else, is not.
func TestOldSockets(t *testing.T) {
	p := start(t, "--who=header")
	second := exec.Command(binary, append([]string{"serve", "--who=header", "--monitor="}, p.args(nil)[:2]...)...)
	second.Args = append(second.Args, p.args(nil)[3:]...)
	out, err := second.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "another process serves")
	require.NoError(t, p.cmd.Process.Kill())
	require.Error(t, p.stops())
	require.FileExists(t, p.socket())
	again := &process{t: t, dir: p.dir, keys: p.keys, monitor: freeAddress(t), client: p.client, exit: make(chan error, 1)}
	again.run("--who=header")
	again.ready()
	again.token(again.key().Public(), alice...)

	other := prepare(t)
	require.NoError(t, os.WriteFile(other.socket(), []byte("mine"), 0o600))
	other.run("--who=header")
	require.Error(t, other.stops())
	require.Contains(t, other.log.String(), "is there and is no socket")
	require.FileExists(t, other.socket())
}

// TestSystemdIsNotified: READY=1 and STOPPING=1 as sd_notify(3) has them.
func TestSystemdIsNotified(t *testing.T) {
	p := prepare(t)
	path := filepath.Join(p.dir, "notify")
	conn, err := net.ListenPacket("unixgram", path)
	require.NoError(t, err)
	defer conn.Close() //nolint:errcheck // only read
	t.Setenv("NOTIFY_SOCKET", path)
	p.run("--who=header")
	hear := func() string {
		t.Helper()
		buffer := make([]byte, 64)
		n, _, err := conn.ReadFrom(buffer)
		require.NoError(t, err)
		return string(buffer[:n])
	}
	require.Equal(t, "READY=1", hear())
	p.token(p.key().Public(), alice...)
	p.signal(os.Interrupt)
	require.Equal(t, "STOPPING=1", hear())
	require.NoError(t, p.stops())
}

// TestItDoesNotStart: and says what to do.
func TestItDoesNotStart(t *testing.T) {
	for _, wrong := range []struct {
		spoil func(*process)
		want  string
	}{
		{func(p *process) { require.NoError(t, os.Remove(filepath.Join(p.keys, "current.pem"))) }, "holds no *.pem"},
		{func(p *process) { require.NoError(t, os.Chmod(filepath.Join(p.keys, "current.pem"), 0o644)) }, "chmod 600"},
		{func(p *process) { require.NoError(t, os.Remove(filepath.Join(p.dir, "secret"))) }, "header.secret_file"},
		{func(p *process) {
			taken, err := net.Listen("tcp", p.monitor)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, taken.Close()) })
		}, "monitor: "},
	} {
		p := prepare(t)
		wrong.spoil(p)
		p.run("--who=header")
		require.Error(t, p.stops())
		require.Contains(t, p.log.String(), wrong.want)
	}
}
