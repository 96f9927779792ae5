package dashboardextension

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/qosrtc/qos/internal/identity/access"
)

// guarded serves a request behind the guard and returns the answer. The handler sets a cookie.
func guarded(t *testing.T, host string, overTLS bool, change func(*Config)) http.Header {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.AllowedHosts = []string{"dash.example.org"}
	change(cfg)
	d := newDashboard(cfg, componenttest.NewNopTelemetrySettings(), nil)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.Host = host
	if overTLS {
		r.TLS = &tls.ConnectionState{}
	}
	w := httptest.NewRecorder()
	d.guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { access.WriteCookie(w, r, access.LoginCookie, "v") })).ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code)
	return w.Header()
}

// The setting decides whether a cookie is Secure, not the Host that a proxy passes on.
//
// spec: DASH-03
func TestCookieBehindATLSProxy(t *testing.T) {
	for _, host := range []string{"localhost:8481", "127.0.0.1:8481", "dash.example.org"} {
		header := guarded(t, host, false, func(c *Config) { c.BehindTLSProxy = true })
		require.Equal(t, "__Host-qos-login=v; Path=/; HttpOnly; Secure; SameSite=Lax", header.Get("Set-Cookie"), host)
		require.Empty(t, header.Get("Strict-Transport-Security"), "it is the proxy's")
	}
	require.Equal(t, "qos-login=v; Path=/; HttpOnly; SameSite=Lax", guarded(t, "localhost:8481", false, func(*Config) {}).Get("Set-Cookie"))
}

// Browsers that came over TLS stay with it, but not on loopback.
//
// spec: DASH-03
func TestStrictTransportSecurity(t *testing.T) {
	same := func(*Config) {}
	require.Equal(t, "max-age=31536000", guarded(t, "dash.example.org:8481", true, same).Get("Strict-Transport-Security"))
	require.Empty(t, guarded(t, "dash.example.org", false, same).Get("Strict-Transport-Security"), "browsers ignore it there")
	for _, host := range []string{"localhost", "localhost:8481", "127.0.0.1", "[::1]:8481"} {
		require.Empty(t, guarded(t, host, true, same).Get("Strict-Transport-Security"), host)
	}
}

// A client that does not send its headers in time is disconnected; by default it has 10 s.
//
// spec: DASH-05
func TestSlowHeaders(t *testing.T) {
	require.Equal(t, 10*time.Second, createDefaultConfig().(*Config).ReadHeaderTimeout)
	base := start(t, func(c *Config) { c.ReadHeaderTimeout = 50 * time.Millisecond })
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	require.NoError(t, err)
	_, err = bufio.NewReader(conn).ReadByte()
	require.ErrorIs(t, err, io.EOF)
}
