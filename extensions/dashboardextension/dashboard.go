package dashboardextension

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/extension/extensioncapabilities"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
	"github.com/qosrtc/qos/extensions/dashboardextension/internal/readapi"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
	"github.com/qosrtc/qos/storage"
)

// source is what the dashboard asks of a storage extension.
type source interface {
	Reader() storage.Reader
	Follower() storage.Follower
}

// dashboard owns the HTTP server.
type dashboard struct {
	cfg       *Config
	set       component.TelemetrySettings
	telemetry *metadata.TelemetryBuilder
	now       func() time.Time

	server *http.Server
	addr   string       // where it listens, once started
	api    *readapi.API // once started
	wg     sync.WaitGroup
}

var _ extensioncapabilities.Dependent = (*dashboard)(nil)

func newDashboard(cfg *Config, set component.TelemetrySettings, telemetry *metadata.TelemetryBuilder) *dashboard {
	return &dashboard{cfg: cfg, set: set, telemetry: telemetry, now: time.Now}
}

// Dependencies lets the collector start the store first, and what else the dashboard asks.
func (d *dashboard) Dependencies() []component.ID {
	ids := []component.ID{d.cfg.Storage}
	for _, id := range []component.ID{d.cfg.Access, d.cfg.Apps} {
		if id != (component.ID{}) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Start implements component.Component.
func (d *dashboard) Start(ctx context.Context, host component.Host) error {
	reader, follower, err := d.store(host)
	if err != nil {
		return err
	}
	assessment, err := rules.Of(host)
	if err != nil {
		return err
	}
	keeper, err := d.findKeeper(host)
	if err != nil {
		return err
	}
	manager, err := d.findManager(host)
	if err != nil {
		return err
	}
	management, err := d.management(manager, keeper != nil)
	if err != nil {
		return err
	}
	d.api = readapi.New(&readapi.Settings{
		Reader: reader, Follower: follower, Rules: assessment, Keeper: keeper, Pseudonyms: manager,
		ShowUserNames: d.cfg.ShowUserNames, MCP: d.cfg.MCP, Log: d.set.Logger, Telemetry: d.telemetry, Now: d.now,
	})
	mux, err := d.routes(keeper != nil)
	if err != nil {
		return err
	}
	var handler http.Handler = mux
	if keeper != nil {
		for pattern, one := range management {
			mux.Handle(pattern, one)
		}
		for pattern, one := range keeper.Handlers() {
			mux.Handle(pattern, one)
		}
		handler = &gate{keeper: keeper, mux: mux, cross: http.NewCrossOriginProtection()}
	}
	handler = d.guard(handler)
	server, err := d.cfg.ToServer(ctx, host.GetExtensions(), tlsserver.WithoutSpans(d.set), handler)
	if err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	listener, err := tlsserver.Listen(ctx, &d.cfg.ServerConfig)
	if err != nil {
		return fmt.Errorf("dashboard endpoint %s: %w", d.cfg.NetAddr.Endpoint, err)
	}
	d.server, d.addr = tlsserver.Limit(server, d.set.Logger), listener.Addr().String()
	d.wg.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return nil
}

// Shutdown is legal before Start and twice.
func (d *dashboard) Shutdown(ctx context.Context) error {
	var err error
	if d.server != nil {
		d.api.EndStreams() // the server waits for those who are served
		err = d.server.Shutdown(ctx)
	}
	if d.api != nil {
		d.api.Close()
	}
	d.wg.Wait()
	d.telemetry.Shutdown()
	return err
}

func (d *dashboard) store(host component.Host) (storage.Reader, storage.Follower, error) {
	id := d.cfg.Storage
	ext, ok := host.GetExtensions()[id]
	if !ok {
		return nil, nil, fmt.Errorf("storage: extension %q is not there: define it and list it under service::extensions", id)
	}
	src, ok := ext.(source)
	if !ok {
		return nil, nil, fmt.Errorf("storage: extension %q is not a storage extension", id)
	}
	reader, follower := src.Reader(), src.Follower()
	if reader == nil || follower == nil {
		return nil, nil, fmt.Errorf("storage: extension %q has not been started", id)
	}
	return reader, follower, nil
}

// routes registers the routes of the dashboard but for those of sign-in and management.
func (d *dashboard) routes(signIn bool) (*access.Mux, error) {
	mux := &access.Mux{}
	if err := servePages(mux, signIn); err != nil {
		return nil, err
	}
	mux.Handle("GET /health", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	d.api.Register(mux)
	return mux, nil
}
