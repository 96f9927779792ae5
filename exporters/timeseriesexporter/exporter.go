package timeseriesexporter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/exporters/timeseriesexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/internal/metrics/seriescomponent"
	"github.com/qosrtc/qos/internal/serve/loopback"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
)

// timeseries owns the series, the scrape server and the push.
type timeseries struct {
	cfg       *Config
	set       component.TelemetrySettings
	telemetry *metadata.TelemetryBuilder
	counters  seriescomponent.Counters
	series    *series.Set

	server *http.Server
	addr   string  // where it listens, once started
	push   *pusher // nil: none
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

func newExporter(ctx context.Context, cfg *Config, set exporter.Settings, telemetry *metadata.TelemetryBuilder) (*timeseries, error) {
	t := &timeseries{
		cfg: cfg, set: set.TelemetrySettings, telemetry: telemetry,
		series: series.New(cfg.Config, time.Now()), stop: func() {},
		counters: seriescomponent.Counters{
			Overflow: telemetry.QostimeseriesOverflowRecords, Displaced: telemetry.QostimeseriesDisplacedSeries, Dropped: telemetry.QostimeseriesDroppedRecords,
			Replaced: telemetry.QostimeseriesReplacedLabels, Untracked: telemetry.QostimeseriesUntrackedIssues, Idle: telemetry.QostimeseriesIdleSeries,
		},
	}
	if push := cfg.Push.Get(); push != nil {
		var err error
		if t.push, err = newPusher(ctx, push, set, t.series); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *timeseries) start(ctx context.Context, host component.Host) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", t.serve)
	server, err := t.cfg.ToServer(ctx, host.GetExtensions(), tlsserver.WithoutSpans(t.set), t.guard(mux))
	if err != nil {
		return fmt.Errorf("scrape endpoint: %w", err)
	}
	listener, err := tlsserver.Listen(ctx, &t.cfg.ServerConfig)
	if err != nil {
		return fmt.Errorf("scrape endpoint %s: %w", t.cfg.NetAddr.Endpoint, err)
	}
	t.server, t.addr = tlsserver.Limit(server, t.set.Logger), listener.Addr().String()
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t.stop = cancel
	seriescomponent.Every(run, &t.wg, t.cfg.SweepInterval(), t.sweep)
	t.wg.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	if t.push != nil {
		return t.push.start(ctx, host)
	}
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
	t.stop()
	var err error
	if t.server != nil {
		err = t.server.Shutdown(ctx)
	}
	t.wg.Wait()
	if t.push != nil {
		err = errors.Join(err, t.push.shutdown(ctx))
	}
	t.telemetry.Shutdown()
	return err
}

func (t *timeseries) sweep(ctx context.Context, now time.Time) {
	t.counters.Sweep(ctx, t.series, now)
}

func (t *timeseries) serve(w http.ResponseWriter, r *http.Request) {
	openMetrics := wantsOpenMetrics(r.Header.Values("Accept"))
	contentType := series.PrometheusText
	if openMetrics {
		contentType = series.OpenMetricsText
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Add("Vary", "Accept")
	_ = t.series.Write(w, openMetrics) // the scraper has closed the connection
}

// consume never fails: what cannot be counted must not stop the store from taking it.
func (t *timeseries) consume(ctx context.Context, logs plog.Logs) error {
	t.counters.Left(ctx, t.series.Observe(logs, time.Now()))
	return nil
}
