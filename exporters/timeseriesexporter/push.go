package timeseriesexporter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/internal/metrics/seriescomponent"
)

// pusher sends the series to a store in every interval. The samples of one interval are
// OpenTelemetry metrics in a queue of the exporter helper, which retries them in order.
type pusher struct {
	cfg    *PushConfig
	set    exporter.Settings
	series *series.Set
	out    exporter.Metrics // queue and retry, then send
	client *http.Client
	last   time.Time // of the newest samples; zero at first
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

func newPusher(ctx context.Context, cfg *PushConfig, set exporter.Settings, from *series.Set) (*pusher, error) {
	p := &pusher{cfg: cfg, set: set, series: from, stop: func() {}}
	var err error
	p.out, err = exporterhelper.NewMetrics(ctx, set, cfg, p.send,
		exporterhelper.WithQueue(cfg.Queue), exporterhelper.WithRetry(cfg.Retry),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0})) // the client has one
	return p, err
}

func (p *pusher) start(ctx context.Context, host component.Host) error {
	client, err := p.cfg.ToClient(ctx, host.GetExtensions(), p.set.TelemetrySettings)
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	p.client = client
	if q := p.cfg.Queue.Get(); q != nil && q.StorageID != nil {
		if err := restoreOrder(ctx, host, *q.StorageID, p.set.ID); err != nil {
			return fmt.Errorf("push: queue: %w", err)
		}
	}
	if err := p.out.Start(ctx, host); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	seriescomponent.Every(ctx, &p.wg, p.cfg.Interval, p.push)
	return nil
}

// shutdown pushes the last samples. What the store does not accept remains in a persistent queue.
func (p *pusher) shutdown(ctx context.Context) error {
	p.stop()
	p.wg.Wait()
	if p.client == nil {
		return nil
	}
	p.push(ctx, time.Now())
	err := p.out.Shutdown(ctx)
	p.client.CloseIdleConnections()
	return err
}

// push adds the samples of now to the queue. Where it is full they are lost, but no count: the
// next samples contain it.
func (p *pusher) push(ctx context.Context, now time.Time) {
	for _, metrics := range p.series.Metrics(p.set.Resource, p.last, now) {
		if err := p.out.ConsumeMetrics(ctx, metrics); err != nil {
			p.set.Logger.Warn("samples dropped: the queue of the push is full", zap.Error(err))
		}
	}
	p.last = now
}

// maxAnswer bounds what is read of an answer, so that its connection can be used again.
const maxAnswer = 64 << 10

func (p *pusher) send(ctx context.Context, metrics pmetric.Metrics) error {
	samples := flatten(metrics, p.cfg.Labels)
	body, headers := writeText(samples), textHeaders
	if p.cfg.Protocol == remoteWrite {
		body, headers = writeRequest(samples), remoteWriteHeaders
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.cfg.Endpoint, bytes.NewReader(body))
	if err != nil {
		return consumererror.NewPermanent(err)
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer) // what is cut off closes the connection
	_ = resp.Body.Close()
	return outcome(resp)
}

// outcome returns nil for a success, a permanent error for what the store will never accept, and
// otherwise a retryable one.
func outcome(resp *http.Response) error {
	status := resp.StatusCode
	if status/100 == 2 {
		return nil
	}
	err := fmt.Errorf("the store answered with status %d", status)
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		seconds, failed := strconv.Atoi(resp.Header.Get("Retry-After"))
		if failed == nil && seconds > 0 {
			return exporterhelper.NewThrottleRetry(err, min(time.Duration(seconds)*time.Second, maxRetryAfter))
		}
		return err
	case status/100 == 5 || status == http.StatusRequestTimeout:
		return err
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound:
		return err // a configuration that can be mended
	default:
		return consumererror.NewPermanent(err)
	}
}

// maxRetryAfter bounds the wait that a store can ask for.
const maxRetryAfter = 10 * time.Minute
