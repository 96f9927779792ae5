package qoswssreceiver

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

const (
	testSecret = "demo-secret"
	testOrigin = "https://app.example.org"
	patience   = time.Minute // for what must come
)

// testApps is an apps extension made by a test.
type testApps struct {
	component.StartFunc
	component.ShutdownFunc
	keys *auth.Keys

	mu       sync.Mutex
	apps     map[string]auth.App
	defaults map[string]json.RawMessage
	left     map[string]int // bytes of the day, by AppID; absent: no limit
	revision uint64
	used     []string // app and credential of each handshake
}

func (a *testApps) Used(appID, credentialID string, _ time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = append(a.used, appID+" "+credentialID)
}

// Left calls less than 100 bytes scarce.
func (a *testApps) Left(appID string, bytes int, _ time.Time) (wait time.Duration, scarce bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	left, limited := a.left[appID]
	switch {
	case !limited:
		return 0, false
	case bytes > left:
		return time.Hour, true
	}
	return 0, left-bytes < 100
}

func (a *testApps) Stored(appID string, bytes int, _ time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if left, limited := a.left[appID]; limited {
		a.left[appID] = left - bytes
	}
}

// leave gives the app "demo" a number of bytes for its day.
func (a *testApps) leave(bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left["demo"] = bytes
}

func (a *testApps) Revision() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.revision
}

func (a *testApps) App(id string) (auth.App, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	app, ok := a.apps[id]
	return app, ok
}

// change changes an app.
func (a *testApps) change(id string, how func(*auth.App)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	app := a.apps[id]
	how(&app)
	a.apps[id] = app
	a.revision++
}

// limit gives an app another list of origins.
func (a *testApps) limit(id string, origins ...string) {
	a.change(id, func(app *auth.App) { app.Origins = origins })
}

func (a *testApps) remove(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.apps, id)
	a.revision++
}

func (a *testApps) DefaultConfiguration(id string) json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.defaults[id]
}

func (a *testApps) Keys() *auth.Keys { return a.keys }

// newTestHost knows three applications: "demo" for any origin, "strict" for testOrigin, and
// "third", whose origin server signs tokens with thirdSecret.
func newTestHost() hosttest.Host {
	keys, err := auth.NewKeys([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		panic(err)
	}
	apps := &testApps{keys: keys, apps: map[string]auth.App{}, left: map[string]int{}}
	for id, origins := range map[string][]string{"demo": nil, "strict": {testOrigin}} {
		salt := []byte("salt of " + id + " 1234")
		apps.apps[id] = auth.App{
			ID: id, Salt: salt, Iterations: protocol.MinScramIterations, Origins: origins,
			Verifiers: []auth.Verifier{auth.NewVerifier(testSecret, salt, protocol.MinScramIterations)},
		}
	}
	apps.apps["third"] = auth.App{
		ID: "third", Origins: []string{testOrigin},
		Keys: []auth.VerificationKey{{ID: "hs", Algorithm: auth.AlgorithmHS256, Secret: []byte(thirdSecret)}},
	}
	return hosttest.Host{component.MustNewID("qosapps"): apps}
}

// collector is a running receiver.
type collector struct {
	t         testing.TB
	receiver  *wssReceiver
	sink      *consumertest.LogsSink
	telemetry *componenttest.Telemetry
	host      hosttest.Host
	url       string
	client    *http.Client
	netDial   func(network, address string) (net.Conn, error) // nil: net.Dial
}

// option changes a collector before it starts.
type option func(*collector)

// before lets a test look at what goes down the pipeline, and refuse it.
func before(decide func(context.Context, plog.Logs) error) option {
	return func(c *collector) {
		next, err := consumer.NewLogs(func(ctx context.Context, logs plog.Logs) error {
			if err := decide(ctx, logs); err != nil {
				return err
			}
			return c.sink.ConsumeLogs(ctx, logs)
		})
		require.NoError(c.t, err)
		c.receiver.next = next
	}
}

func with(change func(*wssReceiver)) option {
	return func(c *collector) { change(c.receiver) }
}

func startCollector(tb testing.TB, opts ...option) *collector {
	tb.Helper()
	c := &collector{
		t: tb, sink: new(consumertest.LogsSink), telemetry: componenttest.NewTelemetry(), host: newTestHost(),
		client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
	}
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = "127.0.0.1:0"
	cfg.DashboardURL = "https://dash.example.org"
	set := receivertest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = c.telemetry.NewTelemetrySettings()
	var err error
	c.receiver, err = newReceiver(set, cfg, c.sink)
	require.NoError(tb, err)
	for _, opt := range opts {
		opt(c)
	}
	require.NoError(tb, c.receiver.Start(context.Background(), c.host))
	scheme := "http"
	if cfg.TLS.HasValue() {
		scheme = "https"
	}
	c.url = fmt.Sprintf("%s://%s%s/", scheme, c.receiver.listener.Addr(), cfg.PathPrefix)
	tb.Cleanup(func() {
		c.client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(tb, c.receiver.Shutdown(ctx))
		require.NoError(tb, c.telemetry.Shutdown(context.Background()))
	})
	return c
}

func (c *collector) login(appID, origin string) *protocol.TokenReply {
	c.t.Helper()
	grant, err := authtest.Login(context.Background(), c.client, c.url, origin, appID, testSecret, protocol.UserID{Name: "alice", Alias: "a1"})
	require.NoError(c.t, err)
	return grant
}

// counted returns the sum of a counter's points whose attribute is value; "" for all.
func (c *collector) counted(name, value string) int64 {
	c.t.Helper()
	m, err := c.telemetry.GetMetric("otelcol_" + name)
	if err != nil {
		return 0 // nothing was counted yet
	}
	var n int64
	for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
		if value == "" || hasValue(point.Attributes, value) {
			n += point.Value
		}
	}
	return n
}

func hasValue(attrs attribute.Set, value string) bool {
	for _, kv := range attrs.ToSlice() {
		if kv.Value.AsString() == value {
			return true
		}
	}
	return false
}

// seqs returns the numbers of the records that came out of the pipeline.
func (c *collector) seqs() []int64 {
	var out []int64
	for _, logs := range c.sink.AllLogs() {
		for _, record := range records(logs) {
			seq, _ := record.Attributes().Get(semconv.FrameSeq)
			out = append(out, seq.Int())
		}
	}
	return out
}

// peer is a client of a test, at the level of single messages.
type peer struct {
	t  testing.TB
	ws *websocket.Conn
}

// heard is any message of the server.
type heard struct {
	Type            string    `json:"type"`
	Version         int       `json:"version"`
	At              int64     `json:"at"`
	Seq             uint64    `json:"seq"`
	Acked           uint64    `json:"acked"`
	Code            string    `json:"code"`
	CSError         string    `json:"csError"`
	Field           string    `json:"field"`
	Limit           int       `json:"limit"`
	Message         string    `json:"message"`
	Retry           bool      `json:"retry"`
	RetryAfterMs    int64     `json:"retryAfterMs"`
	StatsIntervalMs int       `json:"statsIntervalMs"`
	WindowFrames    int       `json:"windowFrames"`
	ConferenceURL   string    `json:"conferenceURL"`
	Labels          labelsMOS `json:"labels"`
}

type labelsMOS struct {
	MOS []float64 `json:"mos"`
}

func (c *collector) dial(origin string) *peer {
	c.t.Helper()
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Subprotocol}, NetDial: c.netDial}
	if transport, ok := c.client.Transport.(*http.Transport); ok && transport.TLSClientConfig != nil {
		dialer.TLSClientConfig = transport.TLSClientConfig.Clone()
		dialer.TLSClientConfig.NextProtos = nil
	}
	ws, _, err := dialer.Dial("ws"+strings.TrimPrefix(c.url, "http")+"ws", header)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = ws.Close() })
	return &peer{c.t, ws}
}

// connect is dial, hello and welcome, and announces fabric 1 and column set 1.
func (c *collector) connect(appID string) *peer {
	c.t.Helper()
	p := c.dial(testOrigin)
	p.hello(c.login(appID, testOrigin), 0)
	p.hear("welcome")
	p.announce()
	return p
}

func helloText(grant *protocol.TokenReply, acked uint64) string {
	return fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":%d,"at":%d,"library":"1.0.0"}`,
		grant.Token, grant.Session, acked, time.Now().UnixMilli())
}

const (
	fabricText = `{"type":"fabric","fabric":1,"conferenceID":"standup","addedAt":%d,"remoteUserID":"bob","fabricUsage":"multiplex"}`
	columnText = `{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","codec","packets","jitterMs"]}`
)

func logText(seq uint64) string {
	return fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":"t%d"}`, seq, time.Now().UnixMilli(), seq)
}

func statsText(seq uint64) string {
	return fmt.Sprintf(`{"type":"stats","seq":%d,"at":%d,"fabric":1,"intervalMs":10003,"rows":[[1,7,"opus",501,3.5]]}`, seq, time.Now().UnixMilli())
}

func (p *peer) hello(grant *protocol.TokenReply, acked uint64) { p.say(helloText(grant, acked)) }

func (p *peer) announce() {
	p.say(fmt.Sprintf(fabricText, time.Now().UnixMilli()))
	p.say(columnText)
}

func (p *peer) say(text string) {
	p.t.Helper()
	require.NoError(p.t, p.ws.WriteMessage(websocket.TextMessage, []byte(text)))
}

// next returns the next message of the server.
func (p *peer) next() heard {
	p.t.Helper()
	require.NoError(p.t, p.ws.SetReadDeadline(time.Now().Add(patience)))
	_, msg, err := p.ws.ReadMessage()
	require.NoError(p.t, err)
	var h heard
	require.NoError(p.t, json.Unmarshal(msg, &h), string(msg))
	return h
}

// hear expects a message of that type next.
func (p *peer) hear(want string) heard {
	p.t.Helper()
	h := p.next()
	require.Equal(p.t, want, h.Type, "%+v", h)
	return h
}

// acked waits until everything up to seq is acknowledged.
func (p *peer) acked(seq uint64) {
	p.t.Helper()
	for p.hear("ack").Seq != seq { // each ack is read by the condition
	}
}

// closed expects the close code next.
func (p *peer) closed(code int) {
	p.t.Helper()
	require.NoError(p.t, p.ws.SetReadDeadline(time.Now().Add(patience)))
	_, _, err := p.ws.ReadMessage()
	require.True(p.t, websocket.IsCloseError(err, code), "%v", err)
}

// bye expects a bye and the end of the connection.
func (p *peer) bye(code protocol.Code, retry bool, closeCode int) heard {
	p.t.Helper()
	h := p.hear("bye")
	require.Equal(p.t, string(code), h.Code, "%+v", h)
	require.Equal(p.t, string(code.CSError()), h.CSError)
	require.Equal(p.t, retry, h.Retry)
	p.closed(closeCode)
	return h
}

func TestStartNamesWhatIsMissing(t *testing.T) {
	f := func(host component.Host, want string) {
		t.Helper()
		r, err := NewFactory().CreateLogs(context.Background(), receivertest.NewNopSettings(metadata.Type), createDefaultConfig(), consumertest.NewNop())
		require.NoError(t, err)
		require.ErrorContains(t, r.Start(context.Background(), host), want)
		require.NoError(t, r.Shutdown(context.Background()))
	}
	f(componenttest.NewNopHost(), `apps: there is no extension "qosapps"`)
	f(hosttest.Host{component.MustNewID("qosapps"): struct {
		component.StartFunc
		component.ShutdownFunc
	}{}}, `apps: extension "qosapps" does not know applications`)
}

func TestStartFailsOnTakenPort(t *testing.T) {
	c := startCollector(t)
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = c.receiver.listener.Addr().String()
	r, err := newReceiver(receivertest.NewNopSettings(metadata.Type), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.ErrorContains(t, r.Start(context.Background(), newTestHost()), "address already in use")
	require.NoError(t, r.Shutdown(context.Background()))
}

func TestShutdownBeforeStartAndTwice(t *testing.T) {
	r, err := newReceiver(receivertest.NewNopSettings(metadata.Type), createDefaultConfig().(*Config), consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, r.Shutdown(context.Background()))
	require.NoError(t, r.Shutdown(context.Background()))
	var _ receiver.Logs = r
	c := startCollector(t)
	require.NoError(t, c.receiver.Shutdown(context.Background()))
}
