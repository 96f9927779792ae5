package proxies

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testcert"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

func TestMain(m *testing.M) { harness.VerifyMain(m) }

const (
	perAddress    = 2
	dashboardHost = "dash.example.org"
)

// config is that of docs/operations.md. Two connections of an address are admitted.
const config = `
receivers:
  qoswss: {behind_tls_proxy: true, trusted_proxies: [127.0.0.1], max_connections_per_address: %d}
extensions:
  qosaccess: {storage: qosstorage, trusted_proxies: [127.0.0.1], sign_in_url: "https://%s"}
  qosdashboard: {endpoint: %q, storage: qosstorage, access: qosaccess, behind_tls_proxy: true, allowed_hosts: [%[2]s]}
service:
  extensions: [healthcheckv2, qosapps, qosstorage, qosaccess, qosdashboard]
`

// collector starts one with a dashboard, both behind a proxy on 127.0.0.1.
func collector(t *testing.T) (c *harness.Collector, dashboard string) {
	t.Helper()
	dashboard = harness.FreeAddress(t)
	c = harness.NewCollector(t, harness.Options{
		Storage: harness.SQLite(t.TempDir()), More: fmt.Sprintf(config, perAddress, dashboardHost, dashboard),
	})
	c.Start()
	t.Cleanup(func() {
		if !t.Failed() {
			c.Stop()
		}
	})
	return c, dashboard
}

// certificate writes one for 127.0.0.1 and the dashboard with its key into a file, and returns the configuration of clients that trust it.
func certificate(t *testing.T, file string) *tls.Config {
	t.Helper()
	c, err := testcert.New("127.0.0.1", dashboardHost)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(c.Chain(), c.Key...), 0o600))
	return c.Client()
}

// run runs a proxy until the end of the test, and waits until it listens.
func run(t *testing.T, address string, cmd *exec.Cmd) {
	t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, harness.Patience, 20*time.Millisecond)
}

// nginx runs nginx with the locations that ship, and returns its address.
func nginx(t *testing.T, collector, dashboard string) (address string, trust *tls.Config) {
	t.Helper()
	binary, dir := testenv.Program(t, "nginx"), t.TempDir()
	trust = certificate(t, filepath.Join(dir, "chain.pem"))
	locations, err := filepath.Abs("../../deploy/proxy")
	require.NoError(t, err)
	address = harness.FreeAddress(t)
	text := fmt.Sprintf(`daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	upstream qos_collector { server %[2]s; keepalive 16; }
	map $http_upgrade $qos_connection { default upgrade; "" ""; }
	upstream qos_dashboard { server %[5]s; keepalive 16; }
	ssl_certificate %[1]s/chain.pem;
	ssl_certificate_key %[1]s/chain.pem;
	server {
		listen %[3]s ssl http2;
		include %[4]s/nginx.conf;
	}
	server {
		listen %[3]s ssl http2;
		server_name %[6]s;
		include %[4]s/nginx-dashboard.conf;
	}
}
`, dir, collector, address, locations, dashboard, dashboardHost)
	if os.Geteuid() == 0 {
		text = "user root;\n" + text // the folder is root's here
	}
	file := filepath.Join(dir, "nginx.conf")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	run(t, address, exec.Command(binary, "-p", dir, "-c", file, "-e", "stderr"))
	return address, trust
}

// haproxy runs haproxy with the configuration that ships, and returns its address.
func haproxy(t *testing.T, collector, dashboard string) (address string, trust *tls.Config) {
	t.Helper()
	binary, file := testenv.Program(t, "haproxy"), filepath.Join(t.TempDir(), "chain.pem")
	trust = certificate(t, file)
	address = harness.FreeAddress(t)
	cmd := exec.Command(binary, "-db", "-f", "../../deploy/proxy/haproxy.cfg")
	cmd.Env = append(os.Environ(), "QOS_BIND="+address, "QOS_CERT="+file, "QOS_COLLECTOR="+collector,
		"QOS_DASHBOARD="+dashboard, "QOS_DASHBOARD_HOST="+dashboardHost)
	run(t, address, cmd)
	return address, trust
}

// host is a machine with an address of its own in 127.0.0.0/8.
type host struct {
	t      *testing.T
	dialer net.Dialer
	trust  *tls.Config // nil: it connects without TLS
	header http.Header // of each request
}

func hostAt(t *testing.T, ip string, trust *tls.Config, forged string) *host {
	t.Helper()
	h := &host{t: t, dialer: net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}, trust: trust, header: http.Header{"Origin": {harness.Origin}}}
	if forged != "" {
		h.header["X-Forwarded-For"] = []string{forged}
	}
	return h
}

// RoundTrip adds the header and remembers nothing.
func (h *host) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, h.header)
	transport := &http.Transport{DialContext: h.dialer.DialContext, TLSClientConfig: h.trust.Clone(), ForceAttemptHTTP2: true, DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err == nil && h.trust != nil {
		require.Equal(h.t, 2, res.ProtoMajor)
	}
	return res, err
}

// login logs in at an address.
func (h *host) login(address string) *protocol.TokenReply {
	h.t.Helper()
	scheme := "https://"
	if h.trust == nil {
		scheme = "http://"
	}
	grant, err := authtest.Login(context.Background(), &http.Client{Transport: h}, scheme+address+"/", harness.Origin,
		harness.AppID, harness.AppSecret, protocol.UserID{Name: "ann", Alias: "ann"})
	require.NoError(h.t, err)
	return grant
}

// connect sends a hello and returns the connection with the type of the answer.
func (h *host) connect(address string, grant *protocol.TokenReply) (ws *websocket.Conn, answer said) {
	h.t.Helper()
	scheme := "wss://"
	if h.trust == nil {
		scheme = "ws://"
	}
	dialer := websocket.Dialer{NetDialContext: h.dialer.DialContext, TLSClientConfig: h.trust, HandshakeTimeout: harness.Patience}
	ws, res, err := dialer.Dial(scheme+address+"/ws", h.header)
	require.NoError(h.t, err)
	require.NoError(h.t, res.Body.Close())
	h.t.Cleanup(func() { _ = ws.Close() })
	return ws, exchange(h.t, ws, fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":0,"at":%d}`, grant.Token, grant.Session, time.Now().UnixMilli()))
}

type said struct {
	Type string `json:"type"`
	Code string `json:"code"`
	Seq  uint64 `json:"seq"`
}

// exchange sends texts and returns the next message of the collector, but for the pace: on a busy machine its store is slow.
func exchange(t *testing.T, ws *websocket.Conn, texts ...string) (m said) {
	t.Helper()
	for _, text := range texts {
		require.NoError(t, ws.WriteMessage(websocket.TextMessage, []byte(text)))
	}
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(harness.Patience)))
	for {
		_, text, err := ws.ReadMessage()
		require.NoError(t, err)
		m = said{}
		require.NoError(t, json.Unmarshal(text, &m))
		if m.Type != string(protocol.TypeSlowDown) {
			return m
		}
	}
}

// isAcknowledged requires that the first frame of a connection, of the conference standup, is acknowledged.
func isAcknowledged(t *testing.T, ws *websocket.Conn) {
	t.Helper()
	now := time.Now().UnixMilli()
	require.Equal(t, said{Type: "ack", Seq: 1}, exchange(t, ws,
		fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":"standup","addedAt":%d,"remoteUserID":"bob","fabricUsage":"multiplex"}`, now),
		fmt.Sprintf(`{"type":"log","seq":1,"at":%d,"fabric":1,"text":"x"}`, now)))
}

// each runs a test behind each proxy.
func each(t *testing.T, test func(t *testing.T, c *harness.Collector, dashboard, proxy string, trust *tls.Config)) {
	t.Helper()
	for _, proxy := range []struct {
		name  string
		start func(t *testing.T, collector, dashboard string) (string, *tls.Config)
	}{{"nginx", nginx}, {"haproxy", haproxy}} {
		t.Run(proxy.name, func(t *testing.T) {
			c, dashboard := collector(t)
			address, trust := proxy.start(t, c.Address(), dashboard)
			test(t, c, dashboard, address, trust)
		})
	}
}

// TestBehindProxies: pages log in over HTTP/2 and send frames over WebSockets through each proxy. The address of a client
// is the one that connected to the proxy, also if the client forges the header. A client without a proxy has its own.
//
// spec: SRV-01, SRV-04
func TestBehindProxies(t *testing.T) {
	each(t, func(t *testing.T, c *harness.Collector, _, address string, trust *tls.Config) {
		t.Helper()
		served := func(h *host, at string) {
			t.Helper()
			grant := h.login(at)
			for range perAddress {
				ws, answer := h.connect(at, grant)
				require.Equal(t, "welcome", answer.Type)
				isAcknowledged(t, ws)
			}
			_, answer := h.connect(at, grant)
			require.Equal(t, said{Type: "bye", Code: "throttled"}, answer)
		}
		served(hostAt(t, "127.0.0.2", trust, ""), address)
		// A forged header has no effect: the address is that of the connection to the proxy.
		served(hostAt(t, "127.0.0.3", trust, "127.0.0.2"), address)
		_, answer := hostAt(t, "127.0.0.3", trust, "198.51.100.7").connect(address, hostAt(t, "127.0.0.9", trust, "").login(address))
		require.Equal(t, said{Type: "bye", Code: "throttled"}, answer)
		// Past the proxy the header is ignored: all places of 127.0.0.2 are taken.
		served(hostAt(t, "127.0.0.4", nil, "127.0.0.2"), c.Address())
	})
}
