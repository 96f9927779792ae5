package demoextension

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"

	"github.com/qosrtc/qos/extensions/demoextension/internal/metadata"
	"github.com/qosrtc/qos/internal/serve/loopback"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
)

// demo is the server of the page and of the signalling.
type demo struct {
	cfg       *Config
	set       component.TelemetrySettings
	telemetry *metadata.TelemetryBuilder
	rooms     *rooms

	server      *http.Server
	addr        string // of the listener, set by Start
	wg          sync.WaitGroup
	connections sync.WaitGroup // signalling connections; http.Server does not wait for them
}

func newDemo(cfg *Config, set component.TelemetrySettings, telemetry *metadata.TelemetryBuilder) *demo {
	return &demo{cfg: cfg, set: set, telemetry: telemetry, rooms: newRooms(cfg.MaxRooms, cfg.MaxRoomAge)}
}

// Start implements component.Component.
func (d *demo) Start(ctx context.Context, host component.Host) error {
	page, err := newPage(d.cfg)
	if err != nil {
		return fmt.Errorf("demo page: %w", err)
	}
	mux := http.NewServeMux()
	page.register(mux)
	mux.HandleFunc("GET /signal", d.signal)
	server, err := d.cfg.ToServer(ctx, host.GetExtensions(), tlsserver.WithoutSpans(d.set), d.onlyOurHost(mux))
	if err != nil {
		return fmt.Errorf("demo endpoint: %w", err)
	}
	listener, err := tlsserver.Listen(ctx, &d.cfg.ServerConfig)
	if err != nil {
		return fmt.Errorf("demo endpoint %s: %w", d.cfg.NetAddr.Endpoint, err)
	}
	d.server, d.addr = tlsserver.Limit(server, d.set.Logger), listener.Addr().String()
	d.wg.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return nil
}

// Shutdown implements component.Component. It is legal before Start and twice.
func (d *demo) Shutdown(ctx context.Context) error {
	var err error
	if d.server != nil {
		err = d.server.Shutdown(ctx) // does not end signalling connections
	}
	d.rooms.close()
	d.connections.Wait()
	d.wg.Wait()
	d.telemetry.Shutdown()
	return err
}

// onlyOurHost refuses requests with another host name: a page under a name that an attacker's DNS
// resolves to 127.0.0.1 could otherwise read our page with the secret.
func (d *demo) onlyOurHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !d.cfg.AllowRemote && !loopback.Host(host) {
			http.Error(w, "the demo answers to localhost only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
