package qoswssreceiver

import (
	"context"
	"math"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// When the pipeline counts as slow. A healthy store commits within milliseconds.
const (
	slowDelivery = time.Second      // smoothed duration of a call
	smoothing    = 10 * time.Second // after this time earlier calls weigh 1/e
	maxDelivery  = 10 * time.Second // longer calls count as this, so that the effect of one ends soon
	calm         = 30 * time.Second // longer than maxRetryAfter and the slow interval: every client delivers in this time
)

// backPressure is the state of the pipeline as all connections see it. Clients measure less often while its calls are
// slow or refused, and for a while afterwards. Safe for concurrent use. The zero value is a pipeline without calls.
type backPressure struct {
	mu       sync.Mutex
	smoothed time.Duration // duration of a call
	at       time.Time     // end of the last call
	refusals int           // consecutive refused calls
	strained time.Time     // the last time when calls were slow or refused; zero: never
}

// recordDelivery records a call that took so long and ended at now. It reports whether slow measuring begins.
func (p *backPressure) recordDelivery(took time.Duration, refused bool, now time.Time) (begins bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.smooth(min(took, maxDelivery), now)
	if p.refusals++; !refused {
		p.refusals = 0
	}
	if p.smoothed <= slowDelivery && p.refusals < failuresToSlow {
		return false
	}
	begins = !p.strainedAt(now)
	p.strained = latest(p.strained, now)
	return begins
}

// smooth weights a call by the time since the one before, since the calls of thousands of connections end together.
func (p *backPressure) smooth(took time.Duration, now time.Time) {
	since := took
	if !p.at.IsZero() {
		since = max(now.Sub(p.at), 0)
	}
	weight := 1 - math.Exp(-since.Seconds()/smoothing.Seconds())
	p.smoothed += time.Duration(weight * float64(took-p.smoothed))
	p.at = latest(p.at, now)
}

// latest returns the later of two times: calls of several connections are not recorded in the order of their end.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// slows reports whether clients have to measure less often.
func (p *backPressure) slows(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strainedAt(now)
}

func (p *backPressure) strainedAt(now time.Time) bool {
	return !p.strained.IsZero() && now.Sub(p.strained) < calm
}

// observe registers the metric of the smoothed duration.
func (p *backPressure) observe(metrics *metadata.TelemetryBuilder) error {
	return metrics.RegisterReceiverQoswssDeliveryTimeCallback(func(_ context.Context, o metric.Float64Observer) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		o.Observe(p.smoothed.Seconds())
		return nil
	})
}
