package qoswssreceiver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/qosrtc/qos/tests/kit/testcert"
)

// chain makes an authority and a certificate for 127.0.0.1 that it signed.
func chain(tb testing.TB) (roots *x509.CertPool, certPEM, keyPEM []byte) {
	tb.Helper()
	c, err := testcert.New("127.0.0.1")
	require.NoError(tb, err)
	return c.Roots(), c.Leaf, c.Key
}

// overTLS is a collector with a certificate, and its client.
func overTLS(t *testing.T) option {
	t.Helper()
	roots, certPEM, keyPEM := chain(t)
	return func(c *collector) {
		server := configtls.NewDefaultServerConfig()
		server.CertPem, server.KeyPem = configopaque.String(certPEM), configopaque.String(keyPEM)
		c.receiver.cfg.TLS = configoptional.Some(server)
		c.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
}

// spec: SRV-01
func TestTLS(t *testing.T) {
	c := startCollector(t, overTLS(t))
	require.Contains(t, c.url, "https://")
	p := c.connect("demo")
	p.say(statsText(1))
	p.acked(1)
	p.say(statsText(2)) // over a connection that was quiet in between
	p.acked(2)
	require.Equal(t, []int64{1, 2}, c.seqs())
}

// Suites with CBC have a history of padding oracles; every browser has others.
//
// spec: SRV-01
func TestNoCBC(t *testing.T) {
	roots, certPEM, keyPEM := chain(t)
	c := startCollector(t, func(c *collector) {
		server := configtls.NewDefaultServerConfig()
		server.CertPem, server.KeyPem = configopaque.String(certPEM), configopaque.String(keyPEM)
		c.receiver.cfg.TLS = configoptional.Some(server)
	})
	address := c.receiver.listener.Addr().String()
	handshake := func(suites ...uint16) error {
		conn, err := tls.Dial("tcp", address, &tls.Config{
			RootCAs: roots, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12, CipherSuites: suites,
		})
		if err == nil {
			require.Equal(t, suites[len(suites)-1], conn.ConnectionState().CipherSuite)
			require.NoError(t, conn.Close())
		}
		return err
	}
	cbc := []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
	}
	require.ErrorContains(t, handshake(cbc...), "handshake failure")
	for _, aead := range []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	} {
		require.NoError(t, handshake(append(cbc, aead)...))
	}
}

// withFiles is a collector whose certificate is in the files crt and key of a folder, which it reads again at once.
func withFiles(dir string) option {
	return func(c *collector) {
		server := configtls.NewDefaultServerConfig()
		server.CertFile, server.KeyFile = filepath.Join(dir, "crt"), filepath.Join(dir, "key")
		server.ReloadInterval = time.Nanosecond
		c.receiver.cfg.TLS = configoptional.Some(server)
	}
}

// writeChain puts a new certificate into the files of withFiles.
func writeChain(tb testing.TB, dir string) (roots *x509.CertPool) {
	tb.Helper()
	roots, certPEM, keyPEM := chain(tb)
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "crt"), certPEM, 0o600))
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "key"), keyPEM, 0o600))
	return roots
}

// dialTLS opens a connection and reads until the server's tickets have arrived, which an answer shows.
func dialTLS(tb testing.TB, address string, cfg *tls.Config) tls.ConnectionState {
	tb.Helper()
	conn, err := tls.Dial("tcp", address, cfg)
	require.NoError(tb, err)
	defer func() { require.NoError(tb, conn.Close()) }()
	_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
	require.NoError(tb, err)
	_, err = io.Copy(io.Discard, conn)
	require.NoError(tb, err)
	return conn.ConnectionState()
}

// spec: SRV-01
func TestOldTLSIsRefused(t *testing.T) {
	c := startCollector(t, overTLS(t))
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		_, err := tls.Dial("tcp", c.receiver.listener.Addr().String(), &tls.Config{
			InsecureSkipVerify: true, MinVersion: version, MaxVersion: version,
		})
		require.ErrorContains(t, err, "protocol version not supported")
	}
}

// TestTLSResumes: a client that connects again needs no second certificate, also after the collector has read its
// own again: thousands that reconnect cost it a signature each otherwise.
//
// spec: SRV-01
func TestTLSResumes(t *testing.T) {
	dir := t.TempDir()
	roots := writeChain(t, dir)
	c := startCollector(t, withFiles(dir))
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		client := &tls.Config{
			RootCAs: roots, MinVersion: tls.VersionTLS12, MaxVersion: version, ClientSessionCache: tls.NewLRUClientSessionCache(1),
		}
		for _, resumed := range []bool{false, true, true} {
			require.Equal(t, resumed, dialTLS(t, c.receiver.listener.Addr().String(), client).DidResume, tls.VersionName(version))
		}
	}
}

// TestCertificateIsReplaced: a renewed certificate is served without a restart, and connections stay.
//
// spec: SRV-01
func TestCertificateIsReplaced(t *testing.T) {
	dir := t.TempDir()
	roots := writeChain(t, dir)
	c := startCollector(t, withFiles(dir), func(c *collector) {
		c.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	})
	p := c.connect("demo")
	p.say(statsText(1))
	p.acked(1)
	renewed := writeChain(t, dir)
	address := c.receiver.listener.Addr().String()
	dialTLS(t, address, &tls.Config{RootCAs: renewed, MinVersion: tls.VersionTLS12})
	_, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	require.ErrorContains(t, err, "unknown authority")
	p.say(statsText(2))
	p.acked(2)
}

// TestPostOverHTTP2: browsers send their POSTs over HTTP/2, and their WebSockets over HTTP/1.1.
//
// spec: SRV-01
func TestPostOverHTTP2(t *testing.T) {
	c := startCollector(t, overTLS(t))
	roots := c.client.Transport.(*http.Transport).TLSClientConfig.RootCAs
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	answer, err := client.Post(c.url+"frames", "text/plain", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, 2, answer.ProtoMajor)
	require.Equal(t, http.StatusBadRequest, answer.StatusCode)
}

// BenchmarkTLSHandshake is a client that connects anew, and one that resumes: both ends in one process.
func BenchmarkTLSHandshake(b *testing.B) {
	dir := b.TempDir()
	roots := writeChain(b, dir)
	c := startCollector(b, withFiles(dir))
	for name, sessions := range map[string]tls.ClientSessionCache{"full": nil, "resumed": tls.NewLRUClientSessionCache(1)} {
		b.Run(name, func(b *testing.B) {
			client := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, ClientSessionCache: sessions}
			for b.Loop() {
				dialTLS(b, c.receiver.listener.Addr().String(), client)
			}
		})
	}
}

// What the server itself logs names no peer: anybody can make it write such lines.
func TestServerLogsNoAddresses(t *testing.T) {
	_, certPEM, keyPEM := chain(t)
	core, logs := observer.New(zapcore.DebugLevel)
	c := startCollector(t, func(c *collector) {
		server := configtls.NewDefaultServerConfig()
		server.CertPem, server.KeyPem = configopaque.String(certPEM), configopaque.String(keyPEM)
		c.receiver.cfg.TLS = configoptional.Some(server)
		c.receiver.set.Logger = zap.New(core)
	})
	conn, err := net.Dial("tcp", c.receiver.listener.Addr().String())
	require.NoError(t, err)
	_, err = conn.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, conn) // until the server has given up
	require.NoError(t, conn.Close())
	require.NoError(t, c.receiver.Shutdown(context.Background()))
	require.Equal(t, 1, logs.FilterMessageSnippet("TLS handshake error").Len(), "%v", logs.All())
	for _, entry := range logs.All() {
		require.NotContains(t, entry.Message, "127.0.0.1")
	}
}
