package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/qosrtc/qos/protocol"
)

// stormClients are those that connect over TLS as fast as they are accepted.
const stormClients = 2000

// storm measures how many WebSockets with their hello a collector accepts a second over TLS: first of clients that it
// never saw, then of the same after their connections broke, with tokens and TLS sessions.
func (e *env) storm() error {
	roots, certificate, key, err := selfSigned()
	if err != nil {
		return err
	}
	p, err := e.startCollector(func(address string) map[string]any {
		c := receiverConfig(address)
		c["tls"] = map[string]any{"cert_pem": string(certificate), "key_pem": string(key)}
		return c
	})
	if err != nil {
		return err
	}
	clients := make([]*tlsClient, stormClients)
	logins := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	for i := range clients {
		config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
		clients[i] = &tlsClient{dialer: websocket.Dialer{HandshakeTimeout: time.Minute, TLSClientConfig: config}}
		if clients[i].grant, err = login(e.ctx, logins, "https://"+p.address, appID, userOf(i), nil); err != nil {
			return errors.Join(err, p.stop())
		}
	}
	for round, what := range []string{"WebSockets accepted a second over TLS, of clients that connect for the first time", "the same in a reconnect storm: TLS sessions are resumed"} {
		before, err := p.cpu()
		began := time.Now()
		err = errors.Join(err, e.connectAll(p.address, clients))
		lasted := time.Since(began)
		after, more := p.cpu()
		if err := errors.Join(err, more); err != nil {
			return errors.Join(err, p.stop())
		}
		e.add(what, fmt.Sprintf("%.0f (%.2f ms of CPU each)", stormClients/lasted.Seconds(), (after-before).Seconds()*1000/stormClients), "")
		for _, c := range clients {
			conn, ok := c.ws.NetConn().(*tls.Conn)
			if !ok || conn.ConnectionState().DidResume != (round == 1) {
				return errors.Join(fmt.Errorf("round %d: a TLS session was not resumed, or too early", round), p.stop())
			}
			_ = conn.NetConn().Close() // as a network that breaks
		}
		pause(e.ctx, time.Second)
	}
	return p.stop()
}

// connectAll connects all clients, dialsAtOnce at a time.
func (e *env) connectAll(address string, clients []*tlsClient) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, dialsAtOnce)
	for lane := range dialsAtOnce {
		wg.Go(func() {
			for errs[lane] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(clients) {
					return
				}
				errs[lane] = clients[i].connect(e.ctx, address)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// tlsClient is a client that remembers its token and its TLS session.
type tlsClient struct {
	dialer websocket.Dialer
	grant  *protocol.TokenReply
	ws     *websocket.Conn
}

// connect returns when the collector has welcomed the client.
func (c *tlsClient) connect(ctx context.Context, address string) error {
	//nolint:bodyclose // gorilla: the body of an upgrade needs no close
	ws, _, err := c.dialer.DialContext(ctx, "wss://"+address+"/ws", nil)
	if err != nil {
		return err
	}
	c.ws = ws
	if err := ws.WriteMessage(websocket.TextMessage, []byte(helloOf(c.grant, time.Now()))); err != nil {
		return err
	}
	_, r, err := ws.NextReader()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return err
}

// selfSigned makes a certificate for 127.0.0.1, as most servers have one: ECDSA on P-256.
func selfSigned() (roots *x509.CertPool, certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, nil, err
	}
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	return roots, certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}
