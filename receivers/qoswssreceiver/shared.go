package qoswssreceiver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// format is the format that obsreport reports.
const format = "qos"

// timing holds the durations of connections; tests shorten them.
type timing struct {
	hello    time.Duration // for the first message
	quiet    time.Duration // frames within this time are one batch, if a read does not show that no more has arrived
	linger   time.Duration // the longest wait of a frame for others
	ping     time.Duration // silence before a ping
	idle     time.Duration // silence before the connection ends
	grace    time.Duration // for unread data in the socket after a deadline
	write    time.Duration // for one write
	drain    time.Duration // for the client to close its half
	retry    time.Duration // wait of a client after the pipeline refused
	pollApps time.Duration // interval of the poll for changed applications
	rest     time.Duration // silence before a connection waits in a goroutine with a small stack
}

func defaultTiming() timing {
	return timing{
		hello:    protocol.HelloTimeout,
		quiet:    4 * time.Millisecond,
		linger:   20 * time.Millisecond,
		ping:     25 * time.Second,
		idle:     60 * time.Second,
		grace:    time.Second,
		write:    10 * time.Second,
		drain:    time.Second,
		retry:    2 * time.Second,
		pollApps: 500 * time.Millisecond,
		rest:     time.Second,
	}
}

// shared is what all connections of a receiver share.
type shared struct {
	cfg       *Config
	timing    timing
	labels    quality.Bounds // those by which clients label, too
	apps      registry
	turn      turnrest.Provider // nil: none
	pastCalls *pastCalls
	auth      *auth.Authenticator
	next      consumer.Logs
	obs       *receiverhelper.ObsReport
	metrics   *metadata.TelemetryBuilder
	log       *zap.Logger
	perApp    openCounts[string]
	// requests counts the open requests by address, without WebSockets.
	requests  openCounts[throttle.Key]
	throttles *throttles
	memory    *budget.Ledger
	// addresses cuts addresses in all texts of clients.
	addresses *address.Policy
	watch     revisions
	pipeline  backPressure
	shares    shares
	ctx       context.Context // of all pipeline calls; ends when Shutdown runs out of time
	closing   atomic.Bool
}

// registry is what the receiver needs of the apps extension.
type registry interface {
	auth.Registry
	Keys() *auth.Keys
	// DefaultConfiguration returns the default configuration of an app for its pages, a JSON object with
	// peerConnection and media; nil if it has none. The caller must not change it.
	DefaultConfiguration(appID string) json.RawMessage
	// Used records the secret or key that a handshake proved. It must not block.
	Used(appID, credentialID string, at time.Time)
	// Left returns 0 if an app may store so many more bytes today, else the time until tomorrow. scarce reports whether
	// few of the day's bytes are left.
	Left(appID string, bytes int, now time.Time) (wait time.Duration, scarce bool)
	// Stored counts bytes of an app that were stored.
	Stored(appID string, bytes int, now time.Time)
}

// deliver passes records to the pipeline, and records the duration of the call.
func (d *shared) deliver(logs plog.Logs, now time.Time) error {
	began := time.Now()
	err := d.call(logs)
	took := time.Since(began)
	if d.pipeline.recordDelivery(took, err != nil && !consumererror.IsPermanent(err), now.Add(took)) {
		d.log.Warn("pipeline slow or refusing; clients measure less often", zap.Duration("took", took), zap.Error(err))
	}
	return err
}

// call calls the pipeline once.
func (d *shared) call(logs plog.Logs) error {
	ctx, cancel := context.WithTimeout(d.ctx, d.cfg.PipelineTimeout)
	defer cancel()
	n := logs.LogRecordCount()
	ctx = d.obs.StartLogsOp(ctx)
	err := d.consume(ctx, logs)
	d.obs.EndLogsOp(ctx, format, n, err)
	return err
}

// consume converts a panic of the pipeline to a permanent error: the same frames would cause it
// again, and other clients must not be affected.
func (d *shared) consume(ctx context.Context, logs plog.Logs) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			d.log.Error("fault in the pipeline", zap.Any("fault", fault), zap.ByteString("stack", debug.Stack()))
			err = consumererror.NewPermanent(fmt.Errorf("fault in the pipeline: %v", fault))
		}
	}()
	return d.next.ConsumeLogs(ctx, logs)
}

// admit returns the identity of a hello. It compares the origin with the app's list again, which
// may have changed since the token was issued. It calls room last.
func (d *shared) admit(hello *protocol.Hello, origin string, now time.Time, room auth.Check) (auth.Identity, *protocol.Error) {
	return d.auth.Token(hello.Token, hello.Session, origin, now, room)
}

// userDropped counts a user ID that texts are not searched for.
func (d *shared) userDropped() { d.metrics.ReceiverQoswssUserIdsDropped.Add(context.Background(), 1) }

// count adds to a counter that has one attribute.
func count[T ~string](counter metric.Int64Counter, key string, value T) {
	counter.Add(context.Background(), 1, metric.WithAttributes(attribute.String(key, string(value))))
}

// refusal is an error, and whether and when its client may try again.
type refusal struct {
	*protocol.Error
	retry bool          // the client may connect again without the user
	after time.Duration // the shortest wait; 0: the client decides
}

// newRefusal adds the retry to an error. Clients refused together get different waits. welcomed
// reports whether the client's hello was accepted.
func (d *shared) newRefusal(e *protocol.Error, welcomed bool) refusal {
	r := refusal{Error: e, retry: e.Code.Retry(welcomed), after: e.RetryAfter}
	switch {
	case !r.retry || r.after > 0:
	case e.Code == protocol.CodeGoingAway, e.Code == protocol.CodeInternal:
		r.after = spread(d.timing.retry)
	case e.Code != protocol.CodeTokenExpired:
		r.after = d.timing.retry + spread(2*d.timing.retry)
	}
	return r
}

// spread returns a random duration below most.
func spread(most time.Duration) time.Duration {
	return rand.N(most) //nolint:gosec // it spreads clients, it is no secret
}

// openCounts counts the open connections of each app or address.
type openCounts[K comparable] struct {
	mu sync.Mutex
	n  map[K]int
}

// enter counts one more connection if fewer than limit are open, and reports whether it did.
func (c *openCounts[K]) enter(key K, limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n[key] >= limit {
		return false
	}
	if c.n == nil {
		c.n = make(map[K]int)
	}
	c.n[key]++
	return true
}

// keys returns the keys with open connections.
func (c *openCounts[K]) keys() []K {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.n))
}

func (c *openCounts[K]) leave(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n[key]--; c.n[key] <= 0 {
		delete(c.n, key)
	}
}
