package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/kit/testcert"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

func listening(t *testing.T, address string) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, patience, pause)
}

// chain makes an authority, a certificate of it for 127.0.0.1 in dir, and the pool that
// trusts the authority.
func chain(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	c, err := testcert.New("127.0.0.1")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "chain.pem"), c.Chain(), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.pem"), c.Key, 0o600))
	return c.Roots()
}

// shipped reads a file of deploy/agent with the test's addresses in it.
func shipped(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "deploy", "agent", name))
	require.NoError(t, err)
	for i := 0; i+1 < len(replace); i += 2 {
		require.Contains(t, string(text), replace[i])
	}
	return strings.NewReplacer(replace...).Replace(string(text))
}

// startNginx runs the real nginx with the shipped files, before the guide's origin server and
// two agents, and returns its URL.
func startNginx(t *testing.T, origin string, byURL, byHeader *process) (string, *http.Client) {
	t.Helper()
	nginx := testenv.Program(t, "nginx")
	dir := t.TempDir()
	pool := chain(t, dir)
	address := freeAddress(t)
	secretConf := filepath.Join(dir, "secret.conf")
	require.NoError(t, os.WriteFile(secretConf, []byte("proxy_set_header X-Qos-Secret \""+secret+"\";\n"), 0o600))
	upstreams := shipped(t, "nginx-upstreams.conf", "127.0.0.1:3000", origin,
		"upstream qos_agent { server unix:/run/qos-agent/agent.sock; }", "upstream qos_agent { server unix:"+byURL.socket()+"; }",
		"upstream qos_agent_by_header { server unix:/run/qos-agent/agent.sock; }", "upstream qos_agent_by_header { server unix:"+byHeader.socket()+"; }")
	server := shipped(t, "nginx.conf", "/etc/nginx/qos-agent-secret.conf", secretConf)
	text := `daemon off;
worker_processes 1;
pid ` + dir + `/nginx.pid;
events {}
http {
	access_log off;
	client_body_temp_path ` + dir + `/b; proxy_temp_path ` + dir + `/p; fastcgi_temp_path ` + dir + `/f; uwsgi_temp_path ` + dir + `/u; scgi_temp_path ` + dir + `/s;
	` + upstreams + `
	server {
		listen ` + address + ` ssl;
		ssl_certificate ` + dir + `/chain.pem;
		ssl_certificate_key ` + dir + `/tls.pem;
		` + server + `
	}
}
`
	if os.Geteuid() == 0 {
		text = "user root;\n" + text // the sockets are root's here
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(text), 0o600))
	cmd := exec.Command(nginx, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-e", filepath.Join(dir, "error.log"))
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // the master takes its workers with it
		_ = cmd.Wait()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Log(string(log))
		}
	})
	listening(t, address)
	return "https://" + address, browser(t, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}})
}

// TestBehindNginx: TLS ends at nginx; both ways to know who is logged in, with the files that
// ship.
//
// spec: AUTH-04, AUTH-08
func TestBehindNginx(t *testing.T) {
	const page = "https://app.example.org"
	byHeader := start(t, "--who=header", "--origins="+page)
	origin := startOrigin(t, byHeader)
	byURL := start(t, "--who=url", "--origins="+page, "--url.address=http://"+origin+"/me")
	url, client := startNginx(t, origin, byURL, byHeader)
	endpoints := map[string]*process{"/token": byURL, "/token-by-header": byHeader}
	for path := range endpoints {
		status, body := ask(t, client, url+path, page)
		require.Equal(t, http.StatusForbidden, status, path)
		require.JSONEq(t, `{"error":"not logged in"}`, body, path)
		status, _ = ask(t, client, url+path, page, "X-Qos-User", "alice", "X-Qos-Secret", secret, "X-User", "alice")
		require.Equal(t, http.StatusForbidden, status, path)
	}
	status, _ := ask(t, client, url+"/login?user=alice", page)
	require.Equal(t, http.StatusOK, status)
	for path, p := range endpoints {
		status, body := ask(t, client, url+path, page, "X-Qos-User", "bob", "X-User", "bob")
		require.Equal(t, http.StatusOK, status, path+body)
		require.Equal(t, "alice", verified(t, body, p.key().Public())["userID"], path)
		status, _ = ask(t, client, url+path, "https://evil.example")
		require.Equal(t, http.StatusForbidden, status, path)
	}
}
