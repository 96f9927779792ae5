package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/gorilla/websocket"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"

	"github.com/qosrtc/qos/extensions/appsextension"
	"github.com/qosrtc/qos/receivers/qoswssreceiver"
	"github.com/qosrtc/qos/tests/kit/freeport"
	"github.com/qosrtc/qos/tests/kit/hosttest"
	"github.com/qosrtc/qos/tests/kit/testcert"
)

// The kinds of servers.
const (
	kindEcho  = "echo"  // gorilla/websocket with its defaults answers each message
	kindQos   = "qos"   // the receiver qoswss with nothing behind it
	kindGRPC  = "grpc"  // the stock OTLP receiver with nothing behind it, gRPC
	kindHTTP  = "http"  // the same, protobuf over HTTP
	kindJSON  = "json"  // the same, JSON over HTTP
	kindStore = "store" // the collector with its whole pipeline, and no limits

	kindPostgres = "postgres" // the same with PostgreSQL, which has the clients' core
	kindLimited  = "limited"  // as store, with the limits that it has by default
	kindEchoTLS  = "echo-tls" // as echo, over TLS
	kindQosTLS   = "qos-tls"  // as qos, over TLS

	// Servers in Node (node/server.mjs).
	kindAppend   = "append"   // ws: appends each message to a file
	kindObserver = "observer" // observer-js: parses each message and updates its objects
)

// serve is a server until its input ends. It writes its address first, and its state for each line of input.
func serve(ctx context.Context, kind string) error {
	address, err := freeport.Address()
	if err != nil {
		return err
	}
	stop, err := startServer(ctx, kind, address)
	if err != nil {
		return err
	}
	fmt.Println(address) //nolint:forbidigo // its protocol
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		runtime.GC()
		debug.FreeOSMemory()
		if err := out.Encode(state{Goroutines: runtime.NumGoroutine()}); err != nil {
			return err
		}
	}
	return stop(ctx)
}

func startServer(ctx context.Context, kind, address string) (stop func(context.Context) error, err error) {
	switch kind {
	case kindEcho:
		return startEcho(address)
	case kindEchoTLS:
		return startEchoTLS(address)
	case kindQos:
		return startQos(ctx, receiverConfig(address), consumertest.NewNop())
	case kindQosTLS:
		config, _, err := tlsConfig(address)
		if err != nil {
			return nil, err
		}
		return startQos(ctx, config, consumertest.NewNop())
	case kindGRPC:
		return startOTLP(ctx, "grpc", address)
	case kindHTTP, kindJSON:
		return startOTLP(ctx, "http", address)
	}
	return nil, fmt.Errorf("no server of kind %q", kind)
}

// startEcho serves as gorilla's example does: the default buffers and one goroutine a connection.
func startEcho(address string) (func(context.Context) error, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return serveEcho(listener), nil
}

// startEchoTLS serves the same over TLS.
func startEchoTLS(address string) (func(context.Context) error, error) {
	chain, err := testcert.New(loopback)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(chain.Leaf, chain.Key)
	if err != nil {
		return nil, err
	}
	listener, err := tls.Listen("tcp", address, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	if err != nil {
		return nil, err
	}
	return serveEcho(listener), nil
}

func serveEcho(listener net.Listener) (stop func(context.Context) error) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.Close() }()
		for {
			_, message, err := ws.ReadMessage()
			if err != nil {
				return
			}
			if ws.WriteMessage(websocket.TextMessage, message[:min(len(message), answerBytes)]) != nil {
				return
			}
		}
	})}
	go func() { _ = server.Serve(listener) }() // until it is closed
	return func(context.Context) error { return server.Close() }
}

// answerBytes is as long as an ack.
const answerBytes = len(`{"type":"ack","seq":1234}`)

// startQos serves the receiver with its applications and this consumer behind it.
func startQos(ctx context.Context, config map[string]any, next consumer.Logs) (func(context.Context) error, error) {
	dir, err := os.MkdirTemp("", "qos-compare")
	if err != nil {
		return nil, err
	}
	factory := appsextension.NewFactory()
	cfg, err := configured(factory.CreateDefaultConfig(), appsConfig(filepath.Join(dir, "key")))
	if err != nil {
		return nil, err
	}
	apps, err := factory.Create(ctx, extension.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings()}, cfg)
	if err != nil {
		return nil, err
	}
	host := hosttest.Host{component.NewID(factory.Type()): apps}
	if err := apps.Start(ctx, host); err != nil {
		return nil, err
	}
	stop, err := startReceiver(ctx, qoswssreceiver.NewFactory(), config, host, next)
	return func(ctx context.Context) error {
		return errors.Join(stop(ctx), apps.Shutdown(ctx), os.RemoveAll(dir))
	}, err
}

func startOTLP(ctx context.Context, protocol, address string) (func(context.Context) error, error) {
	cfg := map[string]any{"protocols": map[string]any{protocol: map[string]any{"endpoint": address}}}
	return startReceiver(ctx, otlpreceiver.NewFactory(), cfg, hosttest.Host{}, consumertest.NewNop())
}

func startReceiver(ctx context.Context, f receiver.Factory, config map[string]any, host component.Host, next consumer.Logs) (func(context.Context) error, error) {
	cfg, err := configured(f.CreateDefaultConfig(), config)
	if err != nil {
		return nil, err
	}
	r, err := f.CreateLogs(ctx, receiver.Settings{ID: component.NewID(f.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings()}, cfg, next)
	if err != nil {
		return nil, err
	}
	return r.Shutdown, r.Start(ctx, host)
}

// configured sets the members of a component's default configuration.
func configured(cfg component.Config, members map[string]any) (component.Config, error) {
	return cfg, confmap.NewFromStringMap(members).Unmarshal(cfg)
}

// What the clients are known by.
const (
	loopback = "127.0.0.1" // all servers

	appID  = "compare"
	rival  = "rival" // another application
	keyID  = "compare"
	secret = "the key of the tokens of this comparison"
)

func appsConfig(keyFile string) map[string]any {
	var apps []any
	for _, id := range []string{appID, rival} {
		apps = append(apps, map[string]any{"id": id, "keys": []any{map[string]any{"key_id": keyID, "algorithm": "HS256", "secret": secret}}})
	}
	return map[string]any{"key_file": keyFile, "apps": apps}
}

// limitedConfig has the default limits, of clients whose addresses a proxy names.
func limitedConfig(address string) map[string]any {
	return map[string]any{"endpoint": address, "apps": "qosapps", "trusted_proxies": []any{"127.0.0.1"}}
}

// tlsConfig is receiverConfig with a certificate of its own.
func tlsConfig(address string) (config map[string]any, chain *testcert.Chain, err error) {
	if chain, err = testcert.New(loopback); err != nil {
		return nil, nil, err
	}
	config = receiverConfig(address)
	config["tls"] = map[string]any{"cert_pem": string(chain.Leaf), "key_pem": string(chain.Key)}
	return config, chain, nil
}

// receiverConfig admits all clients at once from one address.
func receiverConfig(address string) map[string]any {
	free := map[string]any{"per_second": 1e6, "burst": 1_000_000}
	all := map[string]any{"per_app": free, "per_address": free, "per_user": free}
	bytes := map[string]any{"per_app": free, "per_address": free, "per_user": free, "per_connection": free}
	return map[string]any{
		"endpoint": address, "apps": "qosapps", "max_frames_per_second": 100_000,
		"max_connections": 20_000, "max_connections_per_app": 20_000, "max_connections_per_address": 20_000,
		"throttle": map[string]any{"handshakes": all, "sockets": all, "bytes": bytes, "proofs_waiting": 20_000},
	}
}
