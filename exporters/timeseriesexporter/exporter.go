package timeseriesexporter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/exporters/timeseriesexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/loopback"
	"github.com/qosrtc/qos/internal/tlsserver"
)

// timeseries owns the scrape server and the aggregates.
type timeseries struct {
	cfg       *Config
	set       component.TelemetrySettings
	telemetry *metadata.TelemetryBuilder
	agg       *aggregates

	server *http.Server
	addr   string // where it listens, once started
	wg     sync.WaitGroup
}

func newExporter(cfg *Config, set component.TelemetrySettings, telemetry *metadata.TelemetryBuilder) *timeseries {
	return &timeseries{cfg: cfg, set: set, telemetry: telemetry, agg: newAggregates(cfg.MaxApps)}
}

func (t *timeseries) start(ctx context.Context, host component.Host) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", t.serve)
	server, err := t.cfg.ToServer(ctx, host.GetExtensions(), t.set, t.guard(mux))
	if err != nil {
		return fmt.Errorf("scrape endpoint: %w", err)
	}
	listener, err := tlsserver.Listen(ctx, &t.cfg.ServerConfig)
	if err != nil {
		return fmt.Errorf("scrape endpoint %s: %w", t.cfg.NetAddr.Endpoint, err)
	}
	t.server, t.addr = server, listener.Addr().String()
	t.wg.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return nil
}

// guard answers only to host names that are ours while the endpoint is on loopback: others
// scrape an endpoint that they reach under names that are not known here.
func (t *timeseries) guard(next http.Handler) http.Handler {
	endpoint := t.cfg.NetAddr.Endpoint
	if !loopback.Endpoint(endpoint) {
		return next
	}
	return loopback.NewHosts(endpoint, t.cfg.AllowedHosts).Guard("The scrape endpoint", nil, next)
}

// shutdown is legal before start and twice.
func (t *timeseries) shutdown(ctx context.Context) error {
	var err error
	if t.server != nil {
		err = t.server.Shutdown(ctx)
	}
	t.wg.Wait()
	t.telemetry.Shutdown()
	return err
}

func (t *timeseries) serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	t.agg.metrics.WritePrometheus(w)
}

// consume never fails: what cannot be counted must not stop the store from taking it.
func (t *timeseries) consume(ctx context.Context, logs plog.Logs) error {
	left := t.agg.observe(logs)
	if left.overflow > 0 {
		t.telemetry.QostimeseriesOverflowRecords.Add(ctx, left.overflow)
	}
	if left.unfollowed > 0 {
		t.telemetry.QostimeseriesUntrackedIssues.Add(ctx, left.unfollowed)
	}
	return nil
}
