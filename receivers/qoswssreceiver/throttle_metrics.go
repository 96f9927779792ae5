package qoswssreceiver

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// observe registers the metrics of decisions. A decision only adds to a counter, which is read when
// the metrics are: a flood costs no more than counting.
func (t *throttles) observe(metrics *metadata.TelemetryBuilder) error {
	return errors.Join(
		metrics.RegisterReceiverQoswssThrottleDecisionsCallback(t.observeDecisions),
		metrics.RegisterReceiverQoswssThrottleTrackedCallback(t.observeTracked),
		metrics.RegisterReceiverQoswssThrottleEvictionsCallback(t.observeEvictions),
		metrics.RegisterReceiverQoswssThrottleWaitingCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(t.gate.gate.Waiting())
			return nil
		}),
	)
}

// limits returns all limits with buckets.
func (t *throttles) limits() []*limit {
	all := t.failures[:]
	for _, d := range []endpointLimits{t.handshakes, t.posts, t.configurations, t.sockets, t.grantedHandshakes, t.bytes.endpointLimits} {
		all = append(all, d.app, d.address, d.user)
	}
	return all
}

// tally counts the decisions of one limit.
type tally struct {
	kind              string
	dimension         dimension
	admitted, refused atomic.Int64
}

func (t *tally) count(refused bool) bool {
	if refused {
		t.refused.Add(1)
	} else {
		t.admitted.Add(1)
	}
	return refused
}

func (t *tally) observe(o metric.Int64Observer) {
	o.Observe(t.admitted.Load(), t.attributes(attribute.String("decision", "admitted")))
	o.Observe(t.refused.Load(), t.attributes(attribute.String("decision", "refused")))
}

// attributes returns the attributes of a metric of the limit.
func (t *tally) attributes(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(append(more, attribute.String("kind", t.kind), attribute.String("by", string(t.dimension)))...)
}

func (t *throttles) observeDecisions(_ context.Context, o metric.Int64Observer) error {
	for _, l := range t.limits() {
		l.observe(o)
	}
	t.connections.observe(o)
	t.gate.observe(o)
	t.frames.observe(o)
	t.day.observe(o)
	t.bytes.connection.observe(o)
	return nil
}

func (t *throttles) observeTracked(_ context.Context, o metric.Int64Observer) error {
	for _, l := range t.limits() {
		o.Observe(l.table.Tracked(), l.attributes())
	}
	return nil
}

func (t *throttles) observeEvictions(_ context.Context, o metric.Int64Observer) error {
	for _, l := range t.limits() {
		sum := l.table.Evictions()
		o.Observe(sum.Full, l.attributes(attribute.String("debt", "full")))
		o.Observe(sum.InDebt, l.attributes(attribute.String("debt", "in_debt")))
	}
	return nil
}

// throttles returns the receiver's throttles, and warns of settings that weaken them.
func (r *wssReceiver) throttles(apps auth.Registry) (*throttles, error) {
	t, err := newThrottles(r.cfg, apps, r.set.Logger, time.Now())
	if err != nil {
		return nil, err
	}
	if t.addresses.proxied && len(t.addresses.trusted) == 0 {
		r.set.Logger.Warn("behind_tls_proxy is set and trusted_proxies is empty: the addresses of clients are not known, and only applications are throttled")
	}
	return t, t.observe(r.metrics)
}
