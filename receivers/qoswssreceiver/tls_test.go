package qoswssreceiver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// chain makes an authority and a certificate for 127.0.0.1 that it signed.
func chain(t *testing.T) (roots *x509.CertPool, certPEM, keyPEM []byte) {
	t.Helper()
	certificate := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (der []byte, key *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		if signer == nil {
			signer = key
		}
		der, err = x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		require.NoError(t, err)
		return der, key
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authorityDER, authorityKey := certificate(authority, authority, nil)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	leafDER, leafKey := certificate(leaf, authority, authorityKey)
	root, err := x509.ParseCertificate(authorityDER)
	require.NoError(t, err)
	roots = x509.NewCertPool()
	roots.AddCert(root)
	keyDER, err := x509.MarshalPKCS8PrivateKey(leafKey)
	require.NoError(t, err)
	return roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
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
	require.Equal(t, 1, logs.Len(), "%v", logs.All())
	for _, entry := range logs.All() {
		require.NotContains(t, entry.Message, "127.0.0.1")
		require.Contains(t, entry.Message, "TLS handshake error")
	}
}
