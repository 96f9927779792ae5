package qoswssreceiver

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/throttle"
	"github.com/qosrtc/qos/protocol"
)

// throttles decides who may come now. Before a secret or token is proved, all AppIDs are
// alike, known or not and whatever limits an app has of its own: being throttled tells
// nothing of an app. What is counted for a user is counted for the user at one address, as
// anybody can claim to be somebody, and must not shut them out by it. Where the address is
// not known, only apps are counted.
type throttles struct {
	addresses addresses
	hash      throttle.Hash
	apps      auth.Registry
	log       *zap.Logger
	saidProxy atomic.Bool // once is enough

	handshakes     endpointLimits
	failures       [2]*limit // of an app at an address, of a user
	posts          endpointLimits
	configurations endpointLimits
	sockets        endpointLimits
	own            endpointLimits // an app's own, of handshakes that were granted
	bytes          byteLimits     // of all that open connections and POSTs send
	frames         tally          // of one connection
	day            tally          // frames, by the bytes that an app may store in a day
	gate           proofGate
	places         placeLimit
}

func newThrottles(cfg *Config, apps auth.Registry, log *zap.Logger, now time.Time) (*throttles, error) {
	addresses, err := newAddresses(cfg)
	if err != nil {
		return nil, err
	}
	c := &cfg.Throttle
	of := func(kind string, by by, rate rateConfig) *limit {
		return &limit{tally: tally{kind: kind, by: by}, rate: rate.rate(), table: throttle.NewTable(c.Tracked, now)}
	}
	endpoint := func(kind string, r endpointRates) endpointLimits {
		return endpointLimits{of(kind, byApp, r.PerApp), of(kind, byAddress, r.PerAddress), of(kind, byUser, r.PerUser)}
	}
	hash := throttle.NewHash()
	return &throttles{
		addresses: addresses, hash: hash, apps: apps, log: log,
		handshakes:     endpoint("handshake", c.Handshakes),
		failures:       [2]*limit{of("failure", byAddress, c.Failures.PerAddress), of("failure", byUser, c.Failures.PerUser)},
		posts:          endpoint("post", c.Posts),
		configurations: endpoint("configuration", c.Configurations),
		sockets:        endpoint("socket", c.Sockets),
		own:            endpoint("own", c.Handshakes),
		bytes: byteLimits{
			endpointLimits{of("bytes", byApp, c.Bytes.PerApp), of("bytes", byAddress, c.Bytes.PerAddress), of("bytes", byUser, c.Bytes.PerUser)},
			&limit{tally: tally{kind: "bytes", by: byConnection}, rate: c.Bytes.PerConnection.rate()},
		},
		frames: tally{kind: "frames", by: byConnection},
		day:    tally{kind: "day", by: byApp},
		gate:   proofGate{tally: tally{kind: "proof", by: byApp}, gate: throttle.NewGate(c.ProofsAtOnce, c.ProofsWaiting), hash: hash},
		places: placeLimit{tally: tally{kind: "connection", by: byAddress}, most: cfg.MaxConnectionsPerAddress},
	}, nil
}

// network is what is known of where a request comes from; 0: nothing. The address itself
// goes no further.
func (t *throttles) network(r *http.Request) throttle.Key {
	if len(t.addresses.trusted) == 0 && len(r.Header[t.addresses.header]) > 0 && !t.saidProxy.Swap(true) {
		t.log.Warn("requests have the header of a proxy and trusted_proxies is empty: if they come through one, "+
			"the addresses of clients are not known, and they may be throttled together or not at all",
			zap.String("header", t.addresses.header))
	}
	return t.hash.Network(networkOf(t.addresses.client(r)))
}

// party is who comes, as far as is known or claimed.
type party struct {
	app, user string
	network   throttle.Key
}

// by names a property that is counted.
type by string

const (
	byApp     by = "app"
	byAddress by = "address"
	byUser    by = "user"

	byConnection by = "connection"
)

// endpointLimits are the limits of one endpoint.
type endpointLimits struct{ app, address, user *limit }

// limit counts one kind of event by one property.
type limit struct {
	tally
	table *throttle.Table
	rate  throttle.Rate
}

// counted is one limit, the bucket that an event takes from, and the rate there.
type counted struct {
	*limit
	key  throttle.Key
	rate throttle.Rate
}

// of is the bucket of a key at the limit's own rate.
func (l *limit) of(key throttle.Key) counted { return counted{l, key, l.rate} }

// all returns what a party is counted by.
func (t *throttles) all(d endpointLimits, p party) []counted {
	return append(t.proved(d, p), t.located(d, p)...)
}

// located is the part that is known before anything was said.
func (t *throttles) located(d endpointLimits, p party) []counted {
	if p.network == 0 {
		return nil
	}
	return []counted{d.address.of(t.hash.Of("", "", p.network))}
}

// proved is the part that is known when an identity was proved.
func (t *throttles) proved(d endpointLimits, p party) []counted {
	app := d.app.of(t.hash.Of(p.app, "", 0))
	if p.network == 0 {
		return []counted{app}
	}
	return []counted{app, d.user.of(t.hash.Of(p.app, p.user, p.network))}
}

// take takes a token of each bucket, or none of any. A refusal names the limit that is
// longest in force, and how long that is.
func take(limits []counted, now time.Time) *protocol.Error {
	var longest time.Duration
	var strictest counted
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

// giveBack returns what was taken for an event that does not come about.
func giveBack(limits []counted, waits []time.Duration) {
	for i, l := range limits {
		if waits[i] == 0 {
			l.table.GiveBack(l.key, l.rate)
		}
	}
}

// text says whom a limit holds up.
func (l *limit) text() string {
	what := map[string]string{
		"handshake": "too many handshakes", "failure": "too many failed handshakes", "own": "too many handshakes",
		"post": "too many POSTs", "configuration": "too many requests of the configuration", "socket": "too many new connections",
		"bytes": "too many bytes",
	}[l.kind]
	return what + map[by]string{byApp: " for this AppID", byAddress: " from this address", byUser: " of this user"}[l.by]
}

// throttled is a refusal that holds for wait. Those of one bucket were given different
// waits; the random part separates those of different buckets, and those that were all given the
// longest. It is at most an interval where the waits are exact (throttle.Table).
func throttled(message string, wait time.Duration, rate throttle.Rate) *protocol.Error {
	most := min(rate.Interval, time.Second)
	if wait >= throttle.MaxWait {
		most = throttle.MaxWait
	}
	wait += rand.N(most) //nolint:gosec // it parts clients, it keeps no secret
	return &protocol.Error{Code: protocol.CodeThrottled, Message: message, RetryAfter: wholeMs(wait)}
}

// wholeMs rounds up to what the wire can say.
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

// attempt tells who is behind a message of the handshake.
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
	a.class = d.may.gate.class(a.app, a.known)
	return a
}

// begin admits an attempt, or returns why not. What was admitted must end.
func (t *throttles) begin(ctx context.Context, a attempt, now time.Time) *protocol.Error {
	if refusal := t.mayFail(a.party, now); refusal != nil {
		return refusal
	}
	if a.first {
		if refusal := take(t.all(t.handshakes, a.party), now); refusal != nil {
			return refusal
		}
	}
	return t.gate.enter(ctx, a)
}

// end takes the outcome of an attempt that was admitted.
func (t *throttles) end(a attempt, refusal *protocol.Error, now time.Time) {
	t.gate.leave(a)
	if refusal != nil && refusal.Code == protocol.CodeAuthFailed {
		for _, l := range t.failing(a.party) {
			l.table.Charge(l.key, l.rate, now)
		}
	}
}

// failing is what failures of a party are counted by. An app's users at one address have a
// budget together, so that guessing under many names is slow, and each has a smaller one,
// so that one page with a wrong token does not use up that of its neighbours.
func (t *throttles) failing(p party) []counted {
	if p.network == 0 {
		return nil
	}
	return []counted{t.failures[0].of(t.hash.Of(p.app, "", p.network)), t.failures[1].of(t.hash.Of(p.app, p.user, p.network))}
}

// mayFail refuses who failed too often of late, right or wrong this time: else a guess
// would cost nothing.
func (t *throttles) mayFail(p party, now time.Time) *protocol.Error {
	return check(t.failing(p), now)
}

// check refuses while one of the limits is in debt. It takes no token.
func check(limits []counted, now time.Time) *protocol.Error {
	for _, l := range limits {
		wait := l.table.Check(l.key, l.rate, now)
		if l.count(wait > 0); wait > 0 {
			return throttled(l.text(), wait, l.rate)
		}
	}
	return nil
}

// granted holds a handshake that was proved against the app's own limits. The name of a
// user may be anybody's still: a third-party token may prove the alias alone.
func (t *throttles) granted(a attempt, now time.Time) *protocol.Error {
	app, _ := t.apps.App(a.app)
	limits := ownRate(nil, t.own.app, t.hash.Of(a.app, "", 0), app.Limits.HandshakesPerSecond)
	if a.network != 0 {
		limits = ownRate(limits, t.own.address, t.hash.Of(a.app, "", a.network), app.Limits.HandshakesPerSecondPerAddress)
		limits = ownRate(limits, t.own.user, t.hash.Of(a.app, a.user, a.network), app.Limits.HandshakesPerSecondPerUser)
	}
	return take(limits, now)
}

// ownRate adds a limit at the rate that an app has of its own, if it has one, with as many
// seconds to save as the receiver's has.
func ownRate(limits []counted, l *limit, key throttle.Key, perSecond float64) []counted {
	if perSecond <= 0 {
		return limits
	}
	saved := float64(l.rate.Burst) * l.rate.Interval.Seconds()
	return append(limits, counted{l, key, throttle.PerSecond(perSecond, int(perSecond*saved))})
}

// proofGate is where handshakes wait for their turn. Those of apps that do not exist are shadows:
// no number of invented names takes a place or room from an app, and each of them gets the
// answers that an app would get.
type proofGate struct {
	tally
	gate *throttle.Gate
	hash throttle.Hash
}

// class is the class of an app. An app that begins to exist is another class.
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

// placeLimit counts the open connections of each address.
type placeLimit struct {
	tally
	open openCounts[throttle.Key]
	most int
}

// How long an address with too many connections waits: one may end at any time or never.
const (
	leastPlaceWait = 10 * time.Second
	placeWait      = 20 * time.Second
)

// enter takes a place. It takes none, and refuses nobody, where the address is not known.
func (p *placeLimit) enter(network throttle.Key) *protocol.Error {
	if network == 0 {
		return nil
	}
	ok := p.open.enter(network, p.most)
	if p.count(!ok); !ok {
		return &protocol.Error{
			Code: protocol.CodeThrottled, Limit: p.most, Message: "too many connections from this address",
			RetryAfter: wholeMs(leastPlaceWait + spread(placeWait)),
		}
	}
	return nil
}

func (p *placeLimit) leave(network throttle.Key) {
	if network != 0 {
		p.open.leave(network)
	}
}

// come holds an identity that was proved against the limits of new connections, and takes
// the app's place for it.
func (s *session) come(id auth.Identity, now time.Time) *protocol.Error {
	t, app := s.shared.may, s.shared.limitsOf(id.AppID)
	endpoint := t.sockets
	if s.patient {
		endpoint = t.posts
	}
	p := party{id.AppID, id.User.Name, s.network}
	if refusal := take(t.proved(endpoint, p), now); refusal != nil {
		at := t.located(endpoint, p)
		giveBack(at, make([]time.Duration, len(at)))
		return refusal
	}
	if !s.shared.perApp.enter(id.AppID, app.Connections) {
		return &protocol.Error{Code: protocol.CodeOverloaded, Limit: app.Connections, Message: "the application has too many connections"}
	}
	s.framesPerSecond = app.FramesPerSecond
	return nil
}

// statsInterval is how often clients of an app measure: its own interval, or else the receiver's.
func (d *shared) statsInterval(appID string) time.Duration {
	if app, _ := d.apps.App(appID); app.StatsInterval > 0 {
		return app.StatsInterval
	}
	return d.cfg.StatsInterval
}

// limitsOf are the limits of an app's connections: its own, or else the receiver's.
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
