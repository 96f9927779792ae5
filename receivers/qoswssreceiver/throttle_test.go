package qoswssreceiver

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
)

// proxy is a reverse proxy on loopback, as far as addresses go.
type proxy struct {
	*http.Transport
	client string // whom it speaks for
}

func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", p.client)
	return p.Transport.RoundTrip(r)
}

// throttledCollector starts a receiver behind a proxy, with changes to what is throttled.
func throttledCollector(tb testing.TB, change func(*Config), opts ...option) (*collector, *proxy) {
	tb.Helper()
	p := &proxy{Transport: http.DefaultTransport.(*http.Transport).Clone(), client: "203.0.113.1"}
	c := startCollector(tb, append(opts, with(func(r *wssReceiver) {
		r.cfg.TrustedProxies = []string{"127.0.0.0/8"}
		change(r.cfg)
	}))...)
	c.client = &http.Client{Transport: p}
	return c, p
}

// rarely lets a burst in, and nothing more while a test lasts, however busy the machine is.
func rarely(burst int) rateConfig { return perSecond(1.0/3600, burst) }

// dialFrom connects for a client at an address.
func (c *collector) dialFrom(address string) (*peer, *http.Response) {
	c.t.Helper()
	ws, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(c.url, "http")+"ws",
		http.Header{"Origin": {testOrigin}, "X-Forwarded-For": {address}})
	if err != nil {
		return nil, resp
	}
	c.t.Cleanup(func() { _ = ws.Close() })
	return &peer{c.t, ws}, resp
}

// own gives an app limits of its own.
func (c *collector) own(appID string, limits auth.Limits) {
	apps := c.receiver.shared.apps.(*testApps)
	apps.mu.Lock()
	defer apps.mu.Unlock()
	app := apps.apps[appID]
	app.Limits = limits
	apps.apps[appID] = app
}

func firstText(appID, userID string) string {
	return fmt.Sprintf(`{"type":"scram-first","appID":%q,"userID":%q,"scram":"n,,n=%s,r=fyko+d2lbbFgONRv9qkxdawL"}`, appID, userID, appID)
}

// wrongText is a handshake that fails in one POST.
func wrongText(appID, userID string) string {
	return fmt.Sprintf(`{"type":"jwt","appID":%q,"userID":%q,"jwt":"a.b.c"}`, appID, userID)
}

// ask gives a message to the endpoint at some time.
func (c *collector) ask(body, address string, at time.Time) *protocol.Error {
	d := c.receiver.shared
	network := d.throttles.hash.Network(networkOf(parseHop(address)))
	_, refusal := d.handshake(context.Background(), []byte(body), testOrigin, network, at)
	return refusal
}

// asked expects so many to be let in, and the next one to be throttled. It returns the wait.
func (c *collector) asked(n int, body, address string, at time.Time) time.Duration {
	c.t.Helper()
	for i := range n {
		require.Nil(c.t, c.ask(body, address, at), "the request %d of %d", i+1, n)
	}
	return c.throttled(c.ask(body, address, at))
}

func (c *collector) throttled(refusal *protocol.Error) time.Duration {
	c.t.Helper()
	require.NotNil(c.t, refusal)
	require.Equal(c.t, protocol.CodeThrottled, refusal.Code, refusal.Message)
	require.Positive(c.t, refusal.RetryAfter)
	return refusal.RetryAfter
}

// What a refusal says: the status, the code, when to come again, in both places alike.
//
// spec: SRV-04, AUTH-07
func TestThrottledHandshake(t *testing.T) {
	c, via := throttledCollector(t, func(cfg *Config) { cfg.Throttle.Handshakes.PerAddress = rarely(2) })
	for range 2 {
		resp, _ := c.post("auth", testOrigin, firstText("demo", "alice"))
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	resp, lines := c.post("auth", testOrigin, firstText("demo", "alice"))
	h := c.refused(resp, lines, protocol.CodeThrottled)
	require.Equal(t, "too many handshakes from this address", h.Message)
	require.Positive(t, h.RetryAfterMs)
	require.LessOrEqual(t, h.RetryAfterMs, int64(3_601_000), "an interval, and up to a second to part those who wait")
	seconds, err := strconv.ParseInt(resp.Header.Get("Retry-After"), 10, 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, seconds*1000, h.RetryAfterMs)
	require.Less(t, seconds*1000, h.RetryAfterMs+1000)
	require.EqualValues(t, 1, c.counted("receiver_qoswss_auth_requests", "throttled"))

	via.client = "203.0.113.2"
	resp, _ = c.post("auth", testOrigin, firstText("demo", "alice"))
	require.Equal(t, http.StatusOK, resp.StatusCode, "another address is not held up")
	via.client = "9.9.9.9, 203.0.113.1"
	resp, lines = c.post("auth", testOrigin, firstText("demo", "alice"))
	c.refused(resp, lines, protocol.CodeThrottled)
}

// A client that waits as long as it was asked to is admitted, and so are all that were refused at
// the same time.
//
// spec: SRV-04
func TestRetryAfterIsTrue(t *testing.T) {
	c, _ := throttledCollector(t, func(cfg *Config) { cfg.Throttle.Handshakes.PerAddress = perSecond(2, 3) })
	now := time.Now()
	var waits []time.Duration
	waits = append(waits, c.asked(3, firstText("demo", "alice"), "203.0.113.1", now))
	for i := range 30 {
		waits = append(waits, c.throttled(c.ask(firstText("demo", "u"+strconv.Itoa(i)), "203.0.113.1", now)))
	}
	for i, wait := range waits {
		least := time.Duration(i+1) * 500 * time.Millisecond
		require.GreaterOrEqual(t, wait, least, "they come back one by one")
		require.LessOrEqual(t, wait, least+500*time.Millisecond)
		require.Zero(t, wait%time.Millisecond, "the wire has ms, so a client waits no less")
		require.Nil(t, c.ask(firstText("demo", "u"), "203.0.113.1", now.Add(wait)))
	}
}

func TestWholeMs(t *testing.T) {
	require.Equal(t, 2*time.Millisecond, wholeMs(time.Millisecond+1))
	require.Equal(t, 2*time.Millisecond, wholeMs(2*time.Millisecond))
}

// One user's page that logs in in a loop holds up neither neighbours nor other places.
//
// spec: SRV-04
func TestThrottledUser(t *testing.T) {
	c, _ := throttledCollector(t, func(cfg *Config) {
		cfg.Throttle.Handshakes.PerUser = rarely(2)
		cfg.Throttle.Handshakes.PerAddress = rarely(4)
	})
	now := time.Now()
	c.asked(2, firstText("demo", "alice"), "2001:db8:0:1::1", now)
	for range 100 {
		c.throttled(c.ask(firstText("demo", "alice"), "2001:db8:0:1::2", now)) // the same /64
	}
	require.Nil(t, c.ask(firstText("demo", "bob"), "2001:db8:0:1::1", now))
	require.Nil(t, c.ask(firstText("demo", "alice"), "2001:db8:0:2::1", now), "nobody shuts a user out by their name")
	c.asked(1, firstText("strict", "alice"), "2001:db8:0:1::1", now) // the address had one left
}

// Throttling tells nothing of an app: one that is known, one with limits of its own and
// one that does not exist hear the same, whatever comes.
//
// spec: AUTH-01, SRV-04
func TestThrottlingDoesNotTellWhetherAnAppExists(t *testing.T) {
	heardBy := func(appID string) (codes []protocol.Code) {
		c, _ := throttledCollector(t, func(cfg *Config) {
			cfg.Throttle.Handshakes.PerApp = rarely(20)
			cfg.Throttle.Handshakes.PerUser = rarely(6)
			cfg.Throttle.Failures.PerAddress = rarely(7)
			cfg.Throttle.Failures.PerUser = rarely(3)
		})
		c.own("strict", auth.Limits{HandshakesPerSecond: 0.01, HandshakesPerSecondPerAddress: 0.01, HandshakesPerSecondPerUser: 0.01})
		now := time.Now()
		for i := range 60 {
			body := firstText(appID, "u"+strconv.Itoa(i/7%4))
			if i%2 == 0 {
				body = wrongText(appID, "u"+strconv.Itoa(i/9%4))
			}
			refusal := c.ask(body, fmt.Sprintf("203.0.113.%d", i/15), now)
			if refusal == nil {
				refusal = &protocol.Error{Code: "challenged"}
			}
			codes = append(codes, refusal.Code)
		}
		return codes
	}
	unknown := heardBy("unknown")
	require.Contains(t, unknown, protocol.CodeThrottled)
	require.Contains(t, unknown, protocol.CodeAuthFailed)
	require.Contains(t, unknown, protocol.Code("challenged"))
	require.Equal(t, unknown, heardBy("demo"))
	require.Equal(t, unknown, heardBy("strict"))
}

// Failures have a budget of their own, and are slow when it is used up: then right and
// wrong are refused alike. Other apps at the address and other addresses are not held up.
//
// spec: AUTH-01
func TestGuessingIsSlow(t *testing.T) {
	c, via := throttledCollector(t, func(cfg *Config) {
		cfg.Throttle.Failures = failureRates{PerAddress: rarely(8), PerUser: rarely(5)}
	})
	login := func(appID, userID, secret string) error {
		_, err := authtest.Login(t.Context(), c.client, c.url, testOrigin, appID, secret, protocol.UserID{Name: userID, Alias: userID})
		return err
	}
	for range 5 {
		require.ErrorContains(t, login("demo", "mallory", "guess"), "auth_failed")
	}
	require.ErrorContains(t, login("demo", "mallory", testSecret), "throttled", "right this time, and refused all the same")
	require.NoError(t, login("demo", "alice", testSecret), "the others at this address are let in")
	for i := range 3 {
		require.ErrorContains(t, login("demo", "mallory"+strconv.Itoa(i), "guess"), "auth_failed")
	}
	require.ErrorContains(t, login("demo", "mallory9", "guess"), "throttled", "another name does not help for long")
	require.ErrorContains(t, login("demo", "alice", testSecret), "throttled")
	require.NoError(t, login("strict", "alice", testSecret), "another app is another budget")
	via.client = "203.0.113.2"
	require.NoError(t, login("demo", "alice", testSecret), "and so is another address")
	require.EqualValues(t, 8, c.counted("receiver_qoswss_auth_requests", "auth_failed"))
}

// A broken state is a guess too.
func TestBrokenStatesAreFailures(t *testing.T) {
	c, _ := throttledCollector(t, func(cfg *Config) { cfg.Throttle.Failures.PerAddress = rarely(3) })
	const final = `{"type":"scram-final","state":"bm9uc2Vuc2U","scram":"c=biws,r=x,p=eA=="}`
	for range 3 {
		require.Equal(t, protocol.CodeAuthFailed, c.ask(final, "203.0.113.1", time.Now()).Code)
	}
	c.throttled(c.ask(final, "203.0.113.1", time.Now()))
	require.Nil(t, c.ask(firstText("demo", "alice"), "203.0.113.1", time.Now()), "that holds up no handshake of an app")
}

// With the numbers of the defaults, 500 people behind one address log in at nine, each with
// two tabs, and one who has a wrong secret does not stop them.
//
// spec: SRV-04
func TestAnOfficeMayLogIn(t *testing.T) {
	c, _ := throttledCollector(t, func(*Config) {})
	now := time.Now()
	for i := range 1000 {
		if i%10 == 0 {
			refusal := c.ask(wrongText("demo", "mistaken"), "203.0.113.1", now)
			require.Contains(t, []protocol.Code{protocol.CodeAuthFailed, protocol.CodeThrottled}, refusal.Code)
		}
		require.Nil(t, c.ask(firstText("demo", "u"+strconv.Itoa(i/2)), "203.0.113.1", now), "tab %d", i)
	}
}

// An app's own limits count what was proved.
//
// spec: SRV-04
func TestOwnLimitsOfAnApp(t *testing.T) {
	c, via := throttledCollector(t, func(cfg *Config) { cfg.MaxFramesPerSecond = 1 })
	login := func(appID, userID string) error {
		_, err := authtest.Login(t.Context(), c.client, c.url, testOrigin, appID, testSecret, protocol.UserID{Name: userID, Alias: userID})
		return err
	}
	f := func(limits auth.Limits, want string, again func()) {
		t.Helper()
		c.own("demo", limits)
		for range throttle.MinBurst {
			require.NoError(t, login("demo", "alice"))
		}
		require.ErrorContains(t, login("demo", "alice"), want)
		require.NoError(t, login("strict", "alice"))
		again()
		require.NoError(t, login("demo", "alice"+via.client))
	}
	f(auth.Limits{HandshakesPerSecondPerUser: 0.01}, "of this user", func() {})
	f(auth.Limits{HandshakesPerSecondPerAddress: 0.01}, "from this address", func() { via.client = "203.0.113.9" })
	f(auth.Limits{HandshakesPerSecond: 0.1}, "for this AppID", func() { c.own("demo", auth.Limits{}) })

	c.own("demo", auth.Limits{Connections: 1, FramesPerSecond: 1_000_000})
	p := c.connect("demo")
	second, _ := c.dialFrom("203.0.113.9")
	second.hello(c.login("demo", testOrigin), 0)
	second.bye(protocol.CodeOverloaded, true, websocket.CloseTryAgainLater)
	for seq := range uint64(2 * burstFrames) {
		p.say(logText(seq + 1))
	}
	p.acked(2 * burstFrames) // without a slow-down
}

// spec: SRV-04, SRV-05
func TestThrottledPosts(t *testing.T) {
	c, via := throttledCollector(t, func(cfg *Config) {
		cfg.Throttle.Posts = endpointRates{PerApp: rarely(6), PerAddress: rarely(4), PerUser: rarely(2)}
	})
	grant := c.login("demo", testOrigin)
	post := func(want protocol.Code) heard {
		t.Helper()
		resp, lines := c.post("frames", testOrigin, helloText(grant, 0))
		if want == "" {
			require.Equal(t, http.StatusOK, resp.StatusCode)
			return heard{}
		}
		require.NotEmpty(t, resp.Header.Get("Retry-After"))
		return c.refused(resp, lines, want)
	}
	post("")
	post("")
	for range 5 {
		h := post(protocol.CodeThrottled)
		require.Equal(t, "too many POSTs of this user", h.Message)
		require.Positive(t, h.RetryAfterMs)
	}
	grant = c.loginAs("demo", "bob")
	post("")
	post("")
	grant = c.loginAs("demo", "carol")
	require.Equal(t, "too many POSTs from this address", post(protocol.CodeThrottled).Message)
	via.client = "203.0.113.2"
	post("")
	post("")
	via.client = "203.0.113.3"
	require.Equal(t, "too many POSTs for this AppID", post(protocol.CodeThrottled).Message)
}

func (c *collector) loginAs(appID, userID string) *protocol.TokenReply {
	c.t.Helper()
	grant, err := authtest.Login(context.Background(), c.client, c.url, testOrigin, appID, testSecret, protocol.UserID{Name: userID, Alias: userID})
	require.NoError(c.t, err)
	return grant
}

// A browser cannot read why an upgrade failed, so those that are refused get the reason in a bye,
// as far as there is room for them.
//
// spec: SRV-04
func TestThrottledSockets(t *testing.T) {
	c, _ := throttledCollector(t, func(cfg *Config) {
		cfg.Throttle.Sockets = endpointRates{PerApp: rarely(4), PerAddress: rarely(3), PerUser: rarely(2)}
	}, with(func(r *wssReceiver) { r.timing.drain = patience }))
	alice, bob := c.loginAs("demo", "alice"), c.loginAs("demo", "bob")
	welcomed := func(address string, grant *protocol.TokenReply) {
		t.Helper()
		p, _ := c.dialFrom(address)
		p.hello(grant, 0)
		p.hear("welcome")
	}
	refused := func(address string, grant *protocol.TokenReply, message string) {
		t.Helper()
		p, _ := c.dialFrom(address)
		p.hello(grant, 0)
		h := p.bye(protocol.CodeThrottled, true, websocket.CloseTryAgainLater)
		require.Equal(t, message, h.Message)
		require.Positive(t, h.RetryAfterMs)
	}
	welcomed("203.0.113.1", alice)
	welcomed("203.0.113.1", alice)
	refused("203.0.113.1", alice, "too many new connections of this user")
	welcomed("203.0.113.1", bob)
	refused("203.0.113.1", bob, "too many new connections from this address")
	welcomed("203.0.113.2", bob)
	refused("203.0.113.2", bob, "too many new connections for this AppID")

	// The refused ones keep their places until they close.
	for range 2 * refusalSlack {
		p, resp := c.dialFrom("203.0.113.1")
		if p == nil {
			require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
			require.NotEmpty(t, resp.Header.Get("Retry-After"))
			return
		}
	}
	t.Fatal("as many as come get the reason")
}

// spec: SRV-04
func TestConnectionsOfAnAddress(t *testing.T) {
	c, via := throttledCollector(t, func(cfg *Config) { cfg.MaxConnectionsPerAddress = 2 })
	grant := c.login("demo", testOrigin)
	first, _ := c.dialFrom("203.0.113.1")
	second, _ := c.dialFrom("203.0.113.1")
	for _, p := range []*peer{first, second} {
		p.hello(grant, 0)
		p.hear("welcome")
	}
	third, _ := c.dialFrom("203.0.113.1")
	h := third.bye(protocol.CodeThrottled, true, websocket.CloseTryAgainLater)
	require.Equal(t, "too many connections from this address", h.Message)
	require.GreaterOrEqual(t, h.RetryAfterMs, leastConnectionWait.Milliseconds())

	other, _ := c.dialFrom("203.0.113.2")
	other.hello(grant, 0)
	other.hear("welcome")

	require.NoError(t, first.ws.Close())
	require.Eventually(t, func() bool {
		p, _ := c.dialFrom("203.0.113.1")
		p.hello(grant, 0)
		return p.next().Type == "welcome"
	}, patience, 10*time.Millisecond)
	require.NotNil(t, via)
}

// With the gate full of one app's handshakes, at work and waiting, another's goes on.
//
// spec: SRV-04
func TestAFloodForOneAppDoesNotStopAnother(t *testing.T) {
	c, _ := throttledCollector(t, func(cfg *Config) { cfg.Throttle.ProofsAtOnce, cfg.Throttle.ProofsWaiting = 4, 8 })
	may := c.receiver.shared.throttles
	flooded := c.receiver.shared.attempt(&protocol.ScramFirst{AppID: "strict"}, 0)
	ctx, cancel := context.WithCancel(context.Background())
	results := make(chan *protocol.Error)
	const flood = 100
	for range flood { // nobody leaves before the end
		go func() { results <- may.gate.enter(ctx, flooded) }()
	}
	admitted := 0
	for range flood - 4 { // two at work and four waiting: half of all places
		if <-results == nil {
			admitted++
		}
	}
	require.Equal(t, 2, admitted)
	require.EqualValues(t, 4, c.points("receiver_qoswss_throttle_waiting")[0].Value)

	resp, lines := c.post("auth", testOrigin, firstText("strict", "alice"))
	h := c.refused(resp, lines, protocol.CodeThrottled)
	require.Equal(t, "too many handshakes wait for this AppID", h.Message)
	require.Positive(t, h.RetryAfterMs)
	for range 10 {
		c.loginAs("demo", "alice")
	}

	cancel()
	for range 4 {
		require.NotNil(t, <-results)
	}
	may.gate.leave(flooded)
	may.gate.leave(flooded)
	c.loginAs("strict", "alice")
	require.EqualValues(t, flood-2+1, c.countedBoth("receiver_qoswss_throttle_decisions", "proof", "refused"))
}

// points are those of a metric, sum or gauge.
func (c *collector) points(name string) []metricdata.DataPoint[int64] {
	c.t.Helper()
	m, err := c.telemetry.GetMetric("otelcol_" + name)
	require.NoError(c.t, err)
	if gauge, ok := m.Data.(metricdata.Gauge[int64]); ok {
		return gauge.DataPoints
	}
	return m.Data.(metricdata.Sum[int64]).DataPoints
}

// countedBoth returns the sum of a counter's points that have both values.
func (c *collector) countedBoth(name, one, other string) (n int64) {
	c.t.Helper()
	for _, point := range c.points(name) {
		if hasValue(point.Attributes, one) && hasValue(point.Attributes, other) {
			n += point.Value
		}
	}
	return n
}

// spec: SRV-04
func TestThrottleMetrics(t *testing.T) {
	c, _ := throttledCollector(t, func(cfg *Config) {
		cfg.Throttle.Handshakes.PerUser = rarely(2)
		cfg.Throttle.Tracked = 3
	})
	now := time.Now()
	c.asked(2, firstText("demo", "alice"), "203.0.113.1", now)
	for i := range 5 {
		require.Nil(t, c.ask(firstText("demo", "u"+strconv.Itoa(i)), "203.0.113.1", now))
	}
	require.Equal(t, protocol.CodeAuthFailed, c.ask(wrongText("demo", "bob"), "203.0.113.1", now).Code)
	const decisions, tracked, evictions = "receiver_qoswss_throttle_decisions", "receiver_qoswss_throttle_tracked", "receiver_qoswss_throttle_evictions"
	require.EqualValues(t, 1, c.countedBoth(decisions, "handshake", "refused"))
	require.EqualValues(t, 8+9+9, c.countedBoth(decisions, "handshake", "admitted"), "by user, address and app")
	require.EqualValues(t, 2*9, c.countedBoth(decisions, "failure", "admitted"))
	require.EqualValues(t, 8, c.countedBoth(decisions, "proof", "admitted"))
	require.EqualValues(t, 3, c.countedBoth(tracked, "handshake", "user"))
	require.EqualValues(t, 1, c.countedBoth(tracked, "failure", "user"))
	require.EqualValues(t, 4, c.countedBoth(evictions, "handshake", "in_debt"))
}

// An address goes no further than the shared: no log line and no metric has one.
func TestAddressesAreNotLogged(t *testing.T) {
	core, logged := observer.New(zap.DebugLevel)
	c, via := throttledCollector(t, func(cfg *Config) {
		cfg.Throttle.Handshakes.PerAddress, cfg.MaxConnectionsPerAddress = rarely(2), 1
	}, with(func(r *wssReceiver) { r.set.Logger = zap.New(core) }))
	const address = "203.0.113.77"
	via.client = address
	for range 3 {
		_, _ = c.post("auth", testOrigin, wrongText("demo", "alice"))
	}
	for range 2 {
		p, _ := c.dialFrom(address)
		p.say("nonsense")
		p.next()
	}
	for _, line := range logged.All() {
		require.NotContains(t, fmt.Sprint(line.Message, line.ContextMap()), address)
	}
	require.NotEmpty(t, logged.All())
	require.NotContains(t, fmt.Sprint(c.points("receiver_qoswss_throttle_decisions")), address)
}

func TestUnknownAddressesAreSaid(t *testing.T) {
	core, logged := observer.New(zap.WarnLevel)
	startCollector(t, with(func(r *wssReceiver) { r.set.Logger, r.cfg.BehindTLSProxy = zap.New(core), true }))
	require.Equal(t, 1, logged.FilterMessageSnippet("behind_tls_proxy is set and trusted_proxies is empty").Len())

	core, logged = observer.New(zap.WarnLevel)
	c := startCollector(t, with(func(r *wssReceiver) { r.set.Logger = zap.New(core) }))
	c.client.Transport = &proxy{Transport: c.client.Transport.(*http.Transport), client: "203.0.113.77"}
	for range 3 {
		_, _ = c.post("auth", testOrigin, firstText("demo", "alice"))
	}
	require.Equal(t, 1, logged.FilterMessageSnippet("requests have the header of a proxy").Len())
	require.NotContains(t, fmt.Sprint(logged.All()), "203.0.113.77")
}

// Behind a proxy that is not listed only apps are throttled: its clients would otherwise
// lock each other out, and anybody a user by their name.
func TestUnknownAddressesLockNobodyOut(t *testing.T) {
	one := rarely(2)
	c := startCollector(t, with(func(r *wssReceiver) {
		r.cfg.Throttle.Handshakes.PerAddress, r.cfg.Throttle.Handshakes.PerUser = one, one
		r.cfg.Throttle.Failures = failureRates{PerAddress: one, PerUser: one}
		r.cfg.MaxConnectionsPerAddress = 1
		r.cfg.Throttle.Sockets.PerAddress = one
	}))
	for range 5 {
		resp, lines := c.post("auth", testOrigin, wrongText("demo", "alice"))
		c.refused(resp, lines, protocol.CodeAuthFailed)
		c.connect("demo")
	}
}
