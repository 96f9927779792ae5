package testcert_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/kit/testcert"
)

// TestChain: a client that trusts the authority reaches a server with the certificate by each of its names; another does
// not.
func TestChain(t *testing.T) {
	c, err := testcert.New("127.0.0.1", "name.test")
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(c.Chain(), c.Key)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	dial := func(c *testcert.Chain, name string) error {
		config := c.Client()
		config.ServerName = name
		conn, err := tls.DialWithDialer(new(net.Dialer), "tcp", server.Listener.Addr().String(), config)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	require.NoError(t, dial(c, "127.0.0.1"))
	require.NoError(t, dial(c, "name.test"))
	require.Error(t, dial(c, "other.test"))
	other, err := testcert.New("127.0.0.1")
	require.NoError(t, err)
	require.Error(t, dial(other, "127.0.0.1"))
}
