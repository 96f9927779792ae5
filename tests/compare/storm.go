package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/kit/testcert"
)

// stormClients are those that connect over TLS as fast as they are accepted.
const stormClients = 2000

// storm measures how many WebSockets with their hello a collector accepts a second over TLS: first of clients that it
// never saw, then of the same after their connections broke, with tokens and TLS sessions.
func (e *env) storm() error {
	var chain *testcert.Chain
	p, err := e.startCollector(inSQLite, func(address string) (config map[string]any, err error) {
		config, chain, err = tlsConfig(address)
		return config, err
	})
	if err != nil {
		return err
	}
	clients := make([]*tlsClient, stormClients)
	logins := &http.Client{Transport: &http.Transport{TLSClientConfig: chain.Client()}}
	for i := range clients {
		config := chain.Client()
		config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
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
