package webhookexporter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/exporters/webhookexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/serve/publicaddr"
	"github.com/qosrtc/qos/storage"
)

// storageExtension is the part of a storage extension that the exporter uses.
type storageExtension interface {
	Reader() storage.Reader
	Settings() storage.Settings
	Notices() storage.Notices
	Shared() bool
}

// registry is the part of the apps extension that the exporter uses. The caller must not change its results.
type registry interface {
	// Webhooks returns the webhooks of an app.
	Webhooks(appID string) []notice.Hook
	// HookedApps returns the apps that have webhooks.
	HookedApps() []string
	// WebhookRules returns the rules that the management API set for an app, nil if there are none, and when they were
	// set or removed: zero if they never were.
	WebhookRules(appID string) (rules *notice.Override, set time.Time)
}

// webhookExporter records the points that windows count, and runs the engine.
type webhookExporter struct {
	cfg       *Config
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	apps      registry
	store     storage.Notices
	engine    *engine
	grace     time.Duration // for attempts under way when it stops

	mu      sync.Mutex
	waiting []storage.Point // not stored yet

	loggedAtMs atomic.Int64 // when a failure of the store was logged last, in ms

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// maxWaiting bounds the points that wait for the store.
const maxWaiting = 10_000

func (e *webhookExporter) start(ctx context.Context, host component.Host) error {
	store, ok := host.GetExtensions()[e.cfg.Storage].(storageExtension)
	if !ok || store.Notices() == nil {
		return fmt.Errorf("storage %q is no storage extension that has started; list it under service::extensions", e.cfg.Storage)
	}
	if e.apps, ok = host.GetExtensions()[e.cfg.Apps].(registry); !ok {
		return fmt.Errorf("apps %q is no apps extension; list it under service::extensions", e.cfg.Apps)
	}
	e.store = store.Notices()
	networks, err := publicaddr.Networks("allowed_networks", e.cfg.AllowedNetworks)
	if err != nil {
		return err
	}
	tls, err := e.cfg.TLS.LoadTLSConfig(ctx)
	if err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	e.engine, err = newEngine(e, store, newClient(networks, tls, e.cfg.Timeout, nil))
	if err != nil {
		return err
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e.cancel = cancel
	e.wg.Go(func() { e.engine.run(run) })
	return nil
}

// shutdown may be called before start and more than once.
func (e *webhookExporter) shutdown(context.Context) error {
	if e.cancel != nil {
		e.cancel()
	}
	e.wg.Wait()
	e.telemetry.Shutdown()
	return nil
}

// consume records summaries and feedback of apps with webhooks. It never fails, since only the store
// exporter may refuse records: points that the store refuses wait in memory.
func (e *webhookExporter) consume(ctx context.Context, logs plog.Logs) error {
	points, dropped := e.read(logs, time.Now())
	for why, n := range dropped {
		e.drop(ctx, why, n)
	}
	if len(points) > 0 {
		e.record(ctx, points)
		e.engine.wake()
	}
	return nil
}

func (e *webhookExporter) drop(ctx context.Context, why dropReason, n int) {
	e.telemetry.QoswebhookDroppedPoints.Add(ctx, int64(n), metric.WithAttributes(attribute.String("reason", string(why))))
}

// record writes points, after the waiting ones.
func (e *webhookExporter) record(ctx context.Context, points []storage.Point) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = append(e.waiting, points...)
	e.flush(ctx)
	if over := len(e.waiting) - maxWaiting; over > 0 {
		e.waiting = e.waiting[over:]
		e.drop(ctx, dropStore, over)
	}
}

// retry writes the waiting points.
func (e *webhookExporter) retry(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) > 0 {
		e.flush(ctx)
	}
}

// flush writes the waiting points. The caller holds the lock.
func (e *webhookExporter) flush(ctx context.Context) {
	added, err := e.store.AddPoints(ctx, e.waiting)
	if errors.Is(err, storage.ErrInvalid) { // later attempts would fail, too
		e.drop(ctx, dropStore, len(e.waiting))
		e.waiting = nil
	}
	if err != nil {
		e.reportFailure(ctx, "record points", err)
		return
	}
	e.telemetry.QoswebhookPoints.Add(ctx, int64(added))
	e.waiting = nil
}

// logInterval is the time between two log lines about the store; the metric counts all failures.
const logInterval = time.Minute

// reportFailure reports a failure of the store. The operation is repeated at the next tick.
func (e *webhookExporter) reportFailure(ctx context.Context, operation string, err error) {
	if ctx.Err() != nil {
		return // the collector stops
	}
	e.telemetry.QoswebhookStoreFailures.Add(ctx, 1)
	now := time.Now().UnixMilli()
	if last := e.loggedAtMs.Load(); now-last < logInterval.Milliseconds() || !e.loggedAtMs.CompareAndSwap(last, now) {
		return
	}
	e.logger.Warn("webhooks wait for the store", zap.String("operation", operation), zap.Error(err))
}
