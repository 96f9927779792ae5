package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/qosrtc/qos/protocol"
)

// client is one connection to a server.
type client interface {
	// exchange sends one frame and returns when the server has answered it.
	exchange(ctx context.Context) error
	close()
}

// dial opens a connection to a server of this kind. number is that of the client; logs is what a stock receiver is sent.
func dial(ctx context.Context, kind, address string, number int, logs plog.Logs) (client, error) {
	switch kind {
	case kindEcho, kindEchoTLS, kindAppend, kindObserver:
		ws, err := dialWebSocket(ctx, overTLS(kind), address+"/", nil)
		if kind == kindObserver {
			return &echoClient{ws: ws, frame: sample}, err
		}
		return &echoClient{ws: ws, frame: frame}, err
	case kindQos, kindQosTLS, kindStore, kindPostgres, kindLimited:
		return dialQos(ctx, overTLS(kind), address, number)
	case kindGRPC:
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, err
		}
		return &grpcClient{conn, plogotlp.NewGRPCClient(conn), plogotlp.NewExportRequestFromLogs(logs)}, nil
	case kindHTTP, kindJSON:
		return newHTTPClient(kind, address, logs)
	}
	return nil, fmt.Errorf("no client of kind %q", kind)
}

// overTLS reports whether a server of this kind is reached over TLS.
func overTLS(kind string) bool { return kind == kindEchoTLS || kind == kindQosTLS }

// anyCertificate trusts the servers of the comparison, which make certificates of their own.
var anyCertificate = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}

func dialWebSocket(ctx context.Context, secure bool, url string, header http.Header) (*websocket.Conn, error) {
	dialer := websocket.Dialer{HandshakeTimeout: time.Minute, ReadBufferSize: 512, WriteBufferSize: 2048, TLSClientConfig: anyCertificate}
	scheme := "ws://"
	if secure {
		scheme = "wss://"
	}
	//nolint:bodyclose // gorilla: the body of an upgrade needs no close
	ws, _, err := dialer.DialContext(ctx, scheme+url, header)
	return ws, err
}

// echoClient sends frames of a kind to a server that answers each message with one.
type echoClient struct {
	ws    *websocket.Conn
	frame func(dst []byte, seq uint64, at time.Time) []byte
	seq   uint64
	text  []byte
}

func (c *echoClient) exchange(context.Context) error {
	c.seq++
	c.text = c.frame(c.text[:0], c.seq, time.Now())
	if err := c.ws.WriteMessage(websocket.TextMessage, c.text); err != nil {
		return err
	}
	_, r, err := c.ws.NextReader()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return err
}

func (c *echoClient) close() { _ = c.ws.Close() }

// qosClient is a session.
type qosClient struct {
	ws   *websocket.Conn
	seq  uint64
	text []byte
}

// dialQos logs in with a token of the comparison's own, as an application with a token agent does, and begins a session.
func dialQos(ctx context.Context, secure bool, address string, number int) (*qosClient, error) {
	logins, origin := http.DefaultClient, "http://"+address
	if secure {
		logins, origin = secureClient, "https://"+address
	}
	grant, err := login(ctx, logins, origin, appID, userOf(number), nil)
	if err != nil {
		return nil, err
	}
	ws, err := dialWebSocket(ctx, secure, address+"/ws", nil)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for _, text := range []string{helloOf(grant, now), announcement(number, now), columns} {
		if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			return nil, err
		}
	}
	c := &qosClient{ws: ws}
	_, err = c.read()
	return c, err
}

var secureClient = &http.Client{Transport: &http.Transport{TLSClientConfig: anyCertificate}}

func helloOf(grant *protocol.TokenReply, at time.Time) string {
	return fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":0,"at":%d}`, grant.Token, grant.Session, at.UnixMilli())
}

// login returns a token of a user. header is added to the request.
func login(ctx context.Context, c *http.Client, origin, app, user string, header http.Header) (*protocol.TokenReply, error) {
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"appID": app, "userID": user, "keyID": keyID, "iat": time.Now().Unix(),
	}).SignedString([]byte(secret))
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{"type": protocol.TypeJWT, "appID": app, "userID": user, "jwt": token})
	if err != nil {
		return nil, err
	}
	answer, err := post(ctx, c, origin+"/auth", "text/plain; charset=utf-8", body, header)
	if err != nil {
		return nil, err
	}
	message, err := protocol.DecodeServer(answer)
	if err != nil {
		return nil, err
	}
	grant, ok := message.(*protocol.TokenReply)
	if !ok {
		return nil, fmt.Errorf("no token but %s", answer)
	}
	return grant, nil
}

func post(ctx context.Context, c *http.Client, url, contentType string, body []byte, header http.Header) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(r.Header, header)
	r.Header.Set("Content-Type", contentType)
	res, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, answer)
	}
	return answer, err
}

// read returns the next message of the server. A refusal of a frame is an error.
func (c *qosClient) read() (any, error) {
	_, text, err := c.ws.ReadMessage()
	if err != nil {
		return nil, err
	}
	message, err := protocol.DecodeServer(text)
	if err != nil {
		return nil, err
	}
	switch message.(type) {
	case *protocol.Welcome, *protocol.Ack:
		return message, nil
	}
	return nil, fmt.Errorf("the collector sent %s", text)
}

func (c *qosClient) exchange(context.Context) error {
	c.seq++
	c.text = frame(c.text[:0], c.seq, time.Now())
	if err := c.ws.WriteMessage(websocket.TextMessage, c.text); err != nil {
		return err
	}
	for {
		message, err := c.read()
		if err != nil {
			return err
		}
		if ack, ok := message.(*protocol.Ack); ok && ack.Seq >= c.seq {
			return nil
		}
	}
}

func (c *qosClient) close() { _ = c.ws.Close() }

type grpcClient struct {
	conn   *grpc.ClientConn
	logs   plogotlp.GRPCClient
	export plogotlp.ExportRequest
}

func (c *grpcClient) exchange(ctx context.Context) error {
	_, err := c.logs.Export(ctx, c.export)
	return err
}

func (c *grpcClient) close() { _ = c.conn.Close() }

type httpClient struct {
	http             *http.Client
	url, contentType string
	body             []byte
}

func newHTTPClient(kind, address string, logs plog.Logs) (c *httpClient, err error) {
	export := plogotlp.NewExportRequestFromLogs(logs)
	// One connection each.
	transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext, MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true}
	c = &httpClient{http: &http.Client{Transport: transport}, url: "http://" + address + "/v1/logs", contentType: "application/x-protobuf"}
	if kind == kindJSON {
		c.contentType = "application/json"
		c.body, err = export.MarshalJSON()
	} else {
		c.body, err = export.MarshalProto()
	}
	return c, err
}

func (c *httpClient) exchange(ctx context.Context) error {
	_, err := post(ctx, c.http, c.url, c.contentType, c.body, nil)
	return err
}

func (c *httpClient) close() { c.http.CloseIdleConnections() }
