package qoswssreceiver

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
)

// throttles limits requests. Before a secret or token is proved, all AppIDs are treated alike,
// registered or not and with any limits of their own: a refusal reveals nothing about an app. A
// user's limit is counted for the user at one address: any client can claim the name of a user, and
// must not exhaust that user's limit. If the address is not known, only apps are counted.
type throttles struct {
	addresses   addresses
	hash        throttle.Hash
	apps        auth.Registry
	log         *zap.Logger
	proxyWarned atomic.Bool // the warning was logged

	handshakes        endpointLimits
	failures          [2]*limit // of an app at an address, of a user
	posts             endpointLimits
	configurations    endpointLimits
	sockets           endpointLimits
	grantedHandshakes endpointLimits // handshakes that were granted, by the limits of the app itself
	bytes             byteLimits     // of open connections and POSTs
	frames            tally          // of one connection
	day               tally          // frames, by the bytes that an app may store in a day
	gate              proofGate
	connections       connectionLimit
}

func newThrottles(cfg *Config, apps auth.Registry, log *zap.Logger, now time.Time) (*throttles, error) {
	addresses, err := newAddresses(cfg)
	if err != nil {
		return nil, err
	}
	c := &cfg.Throttle
	newLimit := func(kind string, by dimension, rate rateConfig) *limit {
		return &limit{tally: tally{kind: kind, dimension: by}, rate: rate.rate(), table: throttle.NewTable(c.Tracked, now)}
	}
	endpoint := func(kind string, r endpointRates) endpointLimits {
		return endpointLimits{newLimit(kind, byApp, r.PerApp), newLimit(kind, byAddress, r.PerAddress), newLimit(kind, byUser, r.PerUser)}
	}
	hash := throttle.NewHash()
	return &throttles{
		addresses: addresses, hash: hash, apps: apps, log: log,
		handshakes:        endpoint("handshake", c.Handshakes),
		failures:          [2]*limit{newLimit("failure", byAddress, c.Failures.PerAddress), newLimit("failure", byUser, c.Failures.PerUser)},
		posts:             endpoint("post", c.Posts),
		configurations:    endpoint("configuration", c.Configurations),
		sockets:           endpoint("socket", c.Sockets),
		grantedHandshakes: endpoint("own", c.Handshakes),
		bytes: byteLimits{
			endpointLimits{newLimit("bytes", byApp, c.Bytes.PerApp), newLimit("bytes", byAddress, c.Bytes.PerAddress), newLimit("bytes", byUser, c.Bytes.PerUser)},
			&limit{tally: tally{kind: "bytes", dimension: byConnection}, rate: c.Bytes.PerConnection.rate()},
		},
		frames:      tally{kind: "frames", dimension: byConnection},
		day:         tally{kind: "day", dimension: byApp},
		gate:        proofGate{tally: tally{kind: "proof", dimension: byApp}, gate: throttle.NewGate(c.ProofsAtOnce, c.ProofsWaiting), hash: hash},
		connections: connectionLimit{tally: tally{kind: "connection", dimension: byAddress}, most: cfg.MaxConnectionsPerAddress},
	}, nil
}

// network returns the key of the client's network, 0 if it is not known. The address itself is not
// kept.
func (t *throttles) network(r *http.Request) throttle.Key {
	if len(t.addresses.trusted) == 0 && len(r.Header[t.addresses.header]) > 0 && !t.proxyWarned.Swap(true) {
		t.log.Warn("requests have the header of a proxy and trusted_proxies is empty: if they come through one, "+
			"the addresses of clients are not known, and they may be throttled together or not at all",
			zap.String("header", t.addresses.header))
	}
	return t.hash.Network(networkOf(t.addresses.client(r)))
}

// party is the sender of a request, as far as it is known or claimed.
type party struct {
	app, user string
	network   throttle.Key
}

// dimension is a property that a limit counts by.
type dimension string

const (
	byApp     dimension = "app"
	byAddress dimension = "address"
	byUser    dimension = "user"

	byConnection dimension = "connection"
)

// endpointLimits are the limits of one endpoint.
type endpointLimits struct{ app, address, user *limit }

// limit counts one kind of event by one dimension.
type limit struct {
	tally
	table *throttle.Table
	rate  throttle.Rate
}

// bucket is the bucket of a limit that counts an event, and its rate.
type bucket struct {
	*limit
	key  throttle.Key
	rate throttle.Rate
}

// bucket returns the bucket of a key, with the limit's own rate.
func (l *limit) bucket(key throttle.Key) bucket { return bucket{l, key, l.rate} }

// buckets returns all buckets of a party at an endpoint.
func (t *throttles) buckets(d endpointLimits, p party) []bucket {
	return append(t.identityBuckets(d, p), t.addressBuckets(d, p)...)
}

// addressBuckets returns the buckets that are known before the first message.
func (t *throttles) addressBuckets(d endpointLimits, p party) []bucket {
	if p.network == 0 {
		return nil
	}
	return []bucket{d.address.bucket(t.hash.Of("", "", p.network))}
}

// identityBuckets returns the buckets that are known when an identity was proved.
func (t *throttles) identityBuckets(d endpointLimits, p party) []bucket {
	app := d.app.bucket(t.hash.Of(p.app, "", 0))
	if p.network == 0 {
		return []bucket{app}
	}
	return []bucket{app, d.user.bucket(t.hash.Of(p.app, p.user, p.network))}
}

// take takes a token from each bucket, or none from any. The error names the limit with the longest
// wait.
func take(limits []bucket, now time.Time) *protocol.Error {
	var longest time.Duration
	var strictest bucket
	waits := make([]time.Duration, len(limits))
	for i, l := range limits {
		waits[i] = l.table.Take(l.key, l.rate, now)
		if l.count(waits[i] > 0); waits[i] > longest {
			longest, strictest = waits[i], l
		}
	}
	if longest == 0 {
		return nil
	}
	giveBack(limits, waits)
	return throttled(strictest.text(), longest, strictest.rate)
}

// giveBack returns the tokens of an event that does not happen.
func giveBack(limits []bucket, waits []time.Duration) {
	for i, l := range limits {
		if waits[i] == 0 {
			l.table.GiveBack(l.key, l.rate)
		}
	}
}

// text returns the message of a refusal.
func (l *limit) text() string {
	what := map[string]string{
		"handshake": "too many handshakes", "failure": "too many failed handshakes", "own": "too many handshakes",
		"post": "too many POSTs", "configuration": "too many requests of the configuration", "socket": "too many new connections",
		"bytes": "too many bytes",
	}[l.kind]
	return what + map[dimension]string{byApp: " for this AppID", byAddress: " from this address", byUser: " of this user"}[l.dimension]
}

// throttled returns an error with a wait. Clients refused at one bucket have different waits; the
// random part separates those of different buckets, and those with the longest wait. It is at most
// an interval if the waits are exact (throttle.Table).
func throttled(message string, wait time.Duration, rate throttle.Rate) *protocol.Error {
	most := min(rate.Interval, time.Second)
	if wait >= throttle.MaxWait {
		most = throttle.MaxWait
	}
	wait += rand.N(most) //nolint:gosec // it spreads clients, it is no secret
	return &protocol.Error{Code: protocol.CodeThrottled, Message: message, RetryAfter: wholeMs(wait)}
}

// wholeMs rounds up to whole milliseconds, the resolution of the protocol.
func wholeMs(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// attempt is one POST of a handshake.
type attempt struct {
	party
	first bool         // a new handshake, not its second half
	class throttle.Key // at the gate
	known bool         // the app exists
}

// attempt returns the claimed sender of a message of the handshake.
func (d *shared) attempt(req any, network throttle.Key) (a attempt) {
	switch req := req.(type) {
	case *protocol.ScramFirst:
		a = attempt{party: party{req.AppID, req.UserID.Name, network}, first: true}
	case *protocol.ScramFinal:
		app, user, _ := d.auth.Claimed(req.State)
		a = attempt{party: party{app, user.Name, network}}
	case *protocol.JWTRequest:
		a = attempt{party: party{req.AppID, req.UserID.Name, network}, first: true}
	}
	_, a.known = d.apps.App(a.app)
	a.class = d.throttles.gate.class(a.app, a.known)
	return a
}

// begin admits an attempt, or returns an error. The caller must call end for an admitted attempt.
func (t *throttles) begin(ctx context.Context, a attempt, now time.Time) *protocol.Error {
	if refusal := t.checkFailures(a.party, now); refusal != nil {
		return refusal
	}
	if a.first {
		if refusal := take(t.buckets(t.handshakes, a.party), now); refusal != nil {
			return refusal
		}
	}
	return t.gate.enter(ctx, a)
}

// end records the outcome of an admitted attempt.
func (t *throttles) end(a attempt, refusal *protocol.Error, now time.Time) {
	t.gate.leave(a)
	if refusal != nil && refusal.Code == protocol.CodeAuthFailed {
		for _, l := range t.failureBuckets(a.party) {
			l.table.Charge(l.key, l.rate, now)
		}
	}
}

// failureBuckets returns the buckets that count a party's failures. The users of an app at one
// address share a bucket, so that guessing under many names is slow, and each has a smaller one, so
// that one page with a wrong token does not exhaust that of its neighbours.
func (t *throttles) failureBuckets(p party) []bucket {
	if p.network == 0 {
		return nil
	}
	return []bucket{t.failures[0].bucket(t.hash.Of(p.app, "", p.network)), t.failures[1].bucket(t.hash.Of(p.app, p.user, p.network))}
}

// checkFailures refuses a party with too many recent failures, even with a right proof: otherwise a
// guess would cost nothing.
func (t *throttles) checkFailures(p party, now time.Time) *protocol.Error {
	return check(t.failureBuckets(p), now)
}

// check returns an error while one of the limits is in debt. It takes no token.
func check(limits []bucket, now time.Time) *protocol.Error {
	for _, l := range limits {
		wait := l.table.Check(l.key, l.rate, now)
		if l.count(wait > 0); wait > 0 {
			return throttled(l.text(), wait, l.rate)
		}
	}
	return nil
}

// takeGranted takes tokens of the app's own limits for a proved handshake. The user name may still
// be another user's: a third-party token may prove the alias only.
func (t *throttles) takeGranted(a attempt, now time.Time) *protocol.Error {
	app, _ := t.apps.App(a.app)
	limits := appendAppRate(nil, t.grantedHandshakes.app, t.hash.Of(a.app, "", 0), app.Limits.HandshakesPerSecond)
	if a.network != 0 {
		limits = appendAppRate(limits, t.grantedHandshakes.address, t.hash.Of(a.app, "", a.network), app.Limits.HandshakesPerSecondPerAddress)
		limits = appendAppRate(limits, t.grantedHandshakes.user, t.hash.Of(a.app, a.user, a.network), app.Limits.HandshakesPerSecondPerUser)
	}
	return take(limits, now)
}

// appendAppRate appends a limit with the rate that an app sets itself, if it sets one. The burst
// lasts as many seconds as the receiver's.
func appendAppRate(limits []bucket, l *limit, key throttle.Key, perSecond float64) []bucket {
	if perSecond <= 0 {
		return limits
	}
	saved := float64(l.rate.Burst) * l.rate.Interval.Seconds()
	return append(limits, bucket{l, key, throttle.PerSecond(perSecond, int(perSecond*saved))})
}

// proofGate queues handshakes. Those of apps that do not exist are shadows: invented names take no
// slot from an app, and get the same answers as an app.
type proofGate struct {
	tally
	gate *throttle.Gate
	hash throttle.Hash
}

// class returns the class of an app. It changes when an app is created.
func (g *proofGate) class(app string, known bool) throttle.Key {
	if known {
		return g.hash.Of(app, "", 0)
	}
	return g.hash.Of(app, "invented", 0)
}

func (g *proofGate) enter(ctx context.Context, a attempt) *protocol.Error {
	enter := g.gate.EnterShadow
	if a.known {
		enter = g.gate.Enter
	}
	err := enter(ctx, a.class)
	if g.count(err != nil); err != nil {
		return &protocol.Error{Code: protocol.CodeThrottled, Message: "too many handshakes wait for this AppID"}
	}
	return nil
}

func (g *proofGate) leave(a attempt) { g.gate.Leave(a.class) }

// connectionLimit limits the open connections of each address.
type connectionLimit struct {
	tally
	open openCounts[throttle.Key]
	most int
}

// Waits of an address with too many connections: one may end at any time or never.
const (
	leastConnectionWait = 10 * time.Second
	connectionWait      = 20 * time.Second
)

// enter counts a connection, or returns an error. It does nothing if the address is not known.
func (p *connectionLimit) enter(network throttle.Key) *protocol.Error {
	if network == 0 {
		return nil
	}
	ok := p.open.enter(network, p.most)
	if p.count(!ok); !ok {
		return &protocol.Error{
			Code: protocol.CodeThrottled, Limit: p.most, Message: "too many connections from this address",
			RetryAfter: wholeMs(leastConnectionWait + spread(connectionWait)),
		}
	}
	return nil
}

func (p *connectionLimit) leave(network throttle.Key) {
	if network != 0 {
		p.open.leave(network)
	}
}

// admitIdentity checks a proved identity against the limits of new connections, and counts the
// connection of its app.
func (s *session) admitIdentity(id auth.Identity, now time.Time) *protocol.Error {
	t, app := s.shared.throttles, s.shared.limitsOf(id.AppID)
	endpoint := t.sockets
	if s.isPost {
		endpoint = t.posts
	}
	p := party{id.AppID, id.User.Name, s.network}
	if refusal := take(t.identityBuckets(endpoint, p), now); refusal != nil {
		at := t.addressBuckets(endpoint, p)
		giveBack(at, make([]time.Duration, len(at)))
		return refusal
	}
	if !s.shared.perApp.enter(id.AppID, app.Connections) {
		return &protocol.Error{Code: protocol.CodeOverloaded, Limit: app.Connections, Message: "the application has too many connections"}
	}
	s.framesPerSecond = app.FramesPerSecond
	return nil
}

// statsInterval returns the measurement interval of an app's clients: its own, or else the receiver's.
func (d *shared) statsInterval(appID string) time.Duration {
	if app, _ := d.apps.App(appID); app.StatsInterval > 0 {
		return app.StatsInterval
	}
	return d.cfg.StatsInterval
}

// limitsOf returns the limits of an app's connections: its own, or else the receiver's.
func (d *shared) limitsOf(appID string) auth.Limits {
	app, _ := d.apps.App(appID)
	limits := app.Limits
	if limits.Connections <= 0 {
		limits.Connections = d.cfg.MaxConnectionsPerApp
	}
	if limits.FramesPerSecond <= 0 {
		limits.FramesPerSecond = d.cfg.MaxFramesPerSecond
	}
	return limits
}
