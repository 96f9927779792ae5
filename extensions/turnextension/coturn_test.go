package turnextension

import (
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/tests/kit/freeport"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// coturnConfig is that of docs/turn.md on loopback: relays reach relays of the server.
const coturnConfig = `use-auth-secret
static-auth-secret=%s
realm=turn.example.com
listening-ip=127.0.0.1
relay-ip=127.0.0.1
listening-port=%s
tls-listening-port=%s
cert=%s
pkey=%s
user-quota=32
total-quota=2000
stale-nonce=600
no-cli
no-multicast-peers
allow-loopback-peers
denied-peer-ip=0.0.0.0-255.255.255.255
allowed-peer-ip=127.0.0.1
userdb=%s
log-file=%s
simple-log
pidfile=%s
`

// coturn starts turnserver with a secret, and returns its ports.
func coturn(t *testing.T, dir, secret string) (plain, secure string) {
	t.Helper()
	program := testenv.Program(t, "turnserver")
	plain, secure = port(t), port(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	config := fmt.Sprintf(coturnConfig, secret, plain, secure, path("turn.crt"), path("turn.key"), path("turn.db"), path("turn.log"), path("turn.pid"))
	require.NoError(t, os.WriteFile(path("turnserver.conf"), []byte(config), 0o600))
	server := exec.CommandContext(t.Context(), program, "-c", path("turnserver.conf"))
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(path("turn.log"))
			t.Logf("%s", text)
		}
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+secure)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 30*time.Second, 50*time.Millisecond, "turnserver listens")
	return plain, secure
}

func port(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	return port
}

// relayed is an allocation over UDP.
func relayed(t *testing.T, server turnrest.Server, address string) (*turn.Client, net.PacketConn) {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	client, err := turn.NewClient(&turn.ClientConfig{Conn: conn, TURNServerAddr: address, Username: server.Username, Password: server.Credential})
	require.NoError(t, err)
	require.NoError(t, client.Listen())
	t.Cleanup(client.Close)
	relay, err := client.Allocate()
	require.NoError(t, err)
	t.Cleanup(func() { _ = relay.Close() })
	return client, relay
}

// Our credentials make allocations at a coturn that has the secret, over each transport, and data passes
// between two of them; those of another secret and expired ones make none.
//
// spec: PRE-03
func TestCoturn(t *testing.T) {
	dir := t.TempDir()
	roots := certificate(t, dir)
	secret := "0123456789abcdef0123456789abcdef"
	plain, secure := coturn(t, dir, secret)
	file := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(file, []byte(secret+"\n"), 0o600))
	urls := []string{"turn:localhost:" + plain + "?transport=udp", "turn:localhost:" + plain + "?transport=tcp", "turns:localhost:" + secure + "?transport=tcp"}
	s, _ := started(t, func(c *Config) { c.Outside = []OutsideConfig{{Label: "coturn", URLs: urls, SecretFile: file}} })
	now := time.Now()
	servers := s.TestServers("demo", "alice", now)
	require.Len(t, servers, 1)
	for _, url := range servers[0].URLs {
		require.NoError(t, allocate(t, servers[0], url, roots), url)
	}
	require.Error(t, allocate(t, servers[0], urls[2], x509.NewCertPool()), "of an unknown authority")

	one, a := relayed(t, servers[0], "127.0.0.1:"+plain)
	two, b := relayed(t, servers[0], "127.0.0.1:"+plain)
	require.NoError(t, one.CreatePermission(b.LocalAddr()))
	require.NoError(t, two.CreatePermission(a.LocalAddr()))
	_, err := a.WriteTo([]byte("through coturn"), b.LocalAddr())
	require.NoError(t, err)
	require.NoError(t, b.SetReadDeadline(now.Add(time.Minute)))
	buffer := make([]byte, 100)
	n, _, err := b.ReadFrom(buffer)
	require.NoError(t, err)
	require.Equal(t, "through coturn", string(buffer[:n]))
	require.Error(t, one.CreatePermission(&net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 9}), "a peer that the configuration denies")

	foreign := servers[0]
	foreign.Username, foreign.Credential, _ = turnrest.Credentials([]byte("another secret"), turnrest.Test, "demo", "alice", time.Hour, now)
	require.Error(t, allocate(t, foreign, urls[0], nil))
	foreign.Username, foreign.Credential, _ = turnrest.Credentials([]byte(secret), turnrest.Test, "demo", "alice", time.Hour, now.Add(-2*time.Hour))
	require.Error(t, allocate(t, foreign, urls[0], nil))
}
