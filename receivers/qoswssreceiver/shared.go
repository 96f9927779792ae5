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

	"github.com/qosrtc/qos/internal/address"
	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/budget"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/internal/throttle"
	"github.com/qosrtc/qos/internal/turnrest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// format is how obsreport names what is received.
const format = "qos"

// timing holds the waits of connections; tests shorten them.
type timing struct {
	hello  time.Duration // for the first message
	quiet  time.Duration // frames this close together are one batch, where a read does not show that no more has arrived
	linger time.Duration // the longest a frame waits for others
	ping   time.Duration // silence after which the client is asked for a sign of life
	idle   time.Duration // silence after which the connection is given up
	grace  time.Duration // for what the socket holds when a deadline has passed
	write  time.Duration // one write
	drain  time.Duration // for the client to close its half
	retry  time.Duration // what a client waits after the pipeline refused
	look   time.Duration // how often changes of applications are looked for
	rest   time.Duration // silence after which a connection goes on in a goroutine with a small stack
}

func defaultTiming() timing {
	return timing{
		hello:  protocol.HelloTimeout,
		quiet:  4 * time.Millisecond,
		linger: 20 * time.Millisecond,
		ping:   25 * time.Second,
		idle:   60 * time.Second,
		grace:  time.Second,
		write:  10 * time.Second,
		drain:  time.Second,
		retry:  2 * time.Second,
		look:   500 * time.Millisecond,
		rest:   time.Second,
	}
}

// shared is what all connections of a receiver share.
type shared struct {
	cfg     *Config
	timing  timing
	labels  quality.Bounds // by which clients label, too
	apps    registry
	turn    turnrest.Provider // nil: none
	past    *past
	auth    *auth.Authenticator
	next    consumer.Logs
	obs     *receiverhelper.ObsReport
	metrics *metadata.TelemetryBuilder
	log     *zap.Logger
	perApp  openCounts[string]
	// requests counts those under way by address, WebSockets aside.
	requests openCounts[throttle.Key]
	may      *throttles
	memory   *budget.Ledger
	// addresses cuts addresses in all that clients say.
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
	// DefaultConfiguration returns what pages of an app get as their default, a JSON object with peerConnection
	// and media; nil where it has none. It is not to be changed.
	DefaultConfiguration(appID string) json.RawMessage
	// Used gets the secret or key that a handshake proved. It must not wait for anything.
	Used(appID, credentialID string, at time.Time)
	// Left returns 0 if an app may store so many more bytes today, else the time until tomorrow. scarce reports whether
	// little is left of the day's bytes.
	Left(appID string, bytes int, now time.Time) (wait time.Duration, scarce bool)
	// Stored counts bytes of an app that were stored.
	Stored(appID string, bytes int, now time.Time)
}

// deliver hands records to the pipeline.
func (d *shared) deliver(logs plog.Logs, now time.Time) error {
	began := time.Now()
	err := d.call(logs)
	took := time.Since(began)
	if d.pipeline.delivered(took, err != nil && !consumererror.IsPermanent(err), now.Add(took)) {
		d.log.Warn("pipeline slow or refusing; clients measure less often", zap.Duration("took", took), zap.Error(err))
	}
	return err
}

// call is one call of the pipeline.
func (d *shared) call(logs plog.Logs) error {
	ctx, cancel := context.WithTimeout(d.ctx, d.cfg.PipelineTimeout)
	defer cancel()
	n := logs.LogRecordCount()
	ctx = d.obs.StartLogsOp(ctx)
	err := d.consume(ctx, logs)
	d.obs.EndLogsOp(ctx, format, n, err)
	return err
}

// consume turns a fault of the pipeline into a permanent refusal: the same frames would
// bring it out again, and the other clients must not suffer.
func (d *shared) consume(ctx context.Context, logs plog.Logs) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			d.log.Error("fault in the pipeline", zap.Any("fault", fault), zap.ByteString("stack", debug.Stack()))
			err = consumererror.NewPermanent(fmt.Errorf("fault in the pipeline: %v", fault))
		}
	}()
	return d.next.ConsumeLogs(ctx, logs)
}

// admit finds whom a hello speaks for. Its origin is checked against the app's list again,
// which may have changed since the token was made; room is asked for last.
func (d *shared) admit(hello *protocol.Hello, origin string, now time.Time, room auth.Check) (auth.Identity, *protocol.Error) {
	return d.auth.Token(hello.Token, hello.Session, origin, now, room)
}

// userDropped counts an ID of a user that texts are not searched for.
func (d *shared) userDropped() { d.metrics.ReceiverQoswssUserIdsDropped.Add(context.Background(), 1) }

// count adds to a counter that has one attribute.
func count[T ~string](counter metric.Int64Counter, key string, value T) {
	counter.Add(context.Background(), 1, metric.WithAttributes(attribute.String(key, string(value))))
}

// refusal is an error and what the client that gets it may do next.
type refusal struct {
	*protocol.Error
	retry bool          // it may connect again by itself
	after time.Duration // not before this; 0: at its own pace
}

// refusal adds to e when its client may return. Clients that were refused together return
// apart. welcomed says that the client's hello was accepted.
func (d *shared) refusal(e *protocol.Error, welcomed bool) refusal {
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

// spread draws a time below most.
func spread(most time.Duration) time.Duration {
	return rand.N(most) //nolint:gosec // it parts clients, it keeps no secret
}

// openCounts counts the open connections of each app or address.
type openCounts[K comparable] struct {
	mu sync.Mutex
	n  map[K]int
}

// enter takes a place among at most limit, and reports whether there was one.
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

// keys are those that have connections.
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
