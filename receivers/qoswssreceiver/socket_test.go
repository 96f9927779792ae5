package qoswssreceiver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// spec: AUTH-01, SRV-01, SRV-03, SRV-05, SRV-06
func TestOneConnection(t *testing.T) {
	c := startCollector(t)
	p := c.dial(testOrigin)
	require.Equal(t, protocol.Subprotocol, p.ws.Subprotocol())
	before := time.Now().UnixMilli()
	p.hello(c.login("demo", testOrigin), 0)
	welcome := p.hear("welcome")
	require.Equal(t, 1, welcome.Version)
	require.GreaterOrEqual(t, welcome.At, before)
	require.Equal(t, 10_000, welcome.StatsIntervalMs)
	require.Equal(t, protocol.WindowFrames, welcome.WindowFrames)
	require.Equal(t, "https://dash.example.org/conference?app={appID}&id={conferenceID}&at={at}", welcome.ConferenceURL)
	require.Equal(t, []float64{4.2, 3.8, 3.2, 2.6}, welcome.Labels.MOS)

	p.announce()
	p.say(statsText(1))
	p.say(`{"type":"event","seq":2,"at":1,"fabric":1,"event":"audioMute"}`)
	p.say(`{"type":"error","seq":3,"at":1,"fabric":1,"function":"createOffer","name":"OperationError","message":"m"}`)
	p.say(`{"type":"feedback","seq":4,"at":1,"conferenceID":"standup","conferenceAt":1,"userID":"alice","overall":4}`)
	p.say(logText(5))
	p.say(`{"type":"skip","seq":9,"from":6,"at":1,"lost":[{"fabric":1,"stats":4,"events":0}]}`)
	p.acked(9)
	require.Equal(t, 6, c.sink.LogRecordCount())
	resource := c.sink.AllLogs()[0].ResourceLogs().At(0).Resource().Attributes().AsRaw()
	require.Equal(t, "demo", resource[semconv.AppID])
	require.Equal(t, "alice", resource[semconv.UserID])
	require.Equal(t, "a1", resource[semconv.UserAlias])

	require.EqualValues(t, 6, c.counted("receiver_qoswss_frames_accepted", ""))
	require.EqualValues(t, 6, c.counted("receiver_accepted_log_records", ""))
	require.EqualValues(t, 1, c.counted("receiver_qoswss_connections", ""))
	require.EqualValues(t, 1, c.counted("receiver_qoswss_auth_requests", "granted"))
	require.Positive(t, c.counted("receiver_qoswss_acks", ""))
	require.Positive(t, c.counted("receiver_qoswss_received_bytes", ""))

	p.say(`{"type":"bye","code":"going_away","csError":"wsChannelFailure","message":"","retry":false}`)
	p.closed(websocket.CloseNormalClosure)
}

// A frame that is bad is refused alone; the connection, and the others, go on.
//
// spec: SRV-02
func TestBadFrames(t *testing.T) {
	c := startCollector(t)
	neighbour := c.connect("demo")
	p := c.connect("demo")
	seq := uint64(0)
	f := func(text string, want heard) {
		t.Helper()
		p.say(text)
		got := p.hear("nack")
		require.NotEmpty(t, got.Message)
		require.Equal(t, want, heard{Type: want.Type, Code: got.Code, CSError: got.CSError, Field: got.Field, Limit: got.Limit, Seq: got.Seq})
		require.EqualValues(t, 1, c.counted("receiver_qoswss_frames_refused", want.Code))
		if got.Seq > 0 { // a refused number is done with
			seq = got.Seq
			p.acked(seq)
		}
	}
	nack := func(code protocol.Code, field string, limit int, seq uint64) heard {
		return heard{Code: string(code), CSError: string(protocol.CSProtoError), Field: field, Limit: limit, Seq: seq}
	}
	f(`{"type":"log",`, nack(protocol.CodeMalformed, "", 0, 0))
	f(`{"type":"nonsense","seq":1}`, nack(protocol.CodeTypeUnknown, "type", 0, 1))
	f(`{"type":"log","seq":2,"at":1,"fabric":1}`, nack(protocol.CodeFieldMissing, "text", 0, 2))
	f(`{"type":"log","seq":3,"at":1,"fabric":1,"text":5}`, nack(protocol.CodeFieldType, "text", 0, 3))
	f(fmt.Sprintf(`{"type":"log","seq":4,"at":1,"fabric":1,"text":"%s"}`, strings.Repeat("x", protocol.MaxLogTextBytes+1)),
		nack(protocol.CodeFieldTooLong, "text", protocol.MaxLogTextBytes, 4))
	f(`{"type":"log","seq":5,"at":1,"fabric":9,"text":"x"}`, nack(protocol.CodeFabricUnknown, "fabric", 0, 5))
	f(`{"type":"stats","seq":6,"at":1,"fabric":1,"intervalMs":1000,"rows":[[9,1]]}`, nack(protocol.CodeColumnsUnknown, "rows[0]", 0, 6))
	f(fmt.Sprintf(`{"type":"log","seq":7,"at":1,"fabric":1,"text":"%s"}`, strings.Repeat("x", 2<<20)),
		nack(protocol.CodeFrameTooLarge, "", protocol.MaxFrameBytes, 7))

	p.say(logText(8))
	p.acked(8)
	neighbour.say(logText(1))
	neighbour.acked(1)
	require.Equal(t, []int64{8, 1}, c.seqs())
}

func TestSecondHelloAndBinaryAreRefused(t *testing.T) {
	c := startCollector(t)
	p := c.connect("demo")
	p.hello(&protocol.TokenReply{Token: "x", Session: testSession}, 0)
	require.Equal(t, string(protocol.CodeTypeUnknown), p.hear("nack").Code)
	require.NoError(t, p.ws.WriteMessage(websocket.BinaryMessage, []byte(logText(1))))
	require.Equal(t, string(protocol.CodeMalformed), p.hear("nack").Code)
	p.say(logText(1))
	p.acked(1)
}

func TestTooManyRefusalsEndTheConnection(t *testing.T) {
	c := startCollector(t)
	p := c.connect("demo")
	for range protocol.MaxRefusals {
		p.say("nonsense")
	}
	for range protocol.MaxRefusals {
		p.hear("nack")
	}
	require.Positive(t, p.bye(protocol.CodeMalformed, true, websocket.CloseProtocolError).RetryAfterMs)
	require.EqualValues(t, 1, c.counted("receiver_qoswss_connections_closed", string(protocol.CodeMalformed)))
}

// A client with one bad fabric is sent away now and then; what it says of its other fabrics
// is stored, and each connection gets further than the one before.
//
// spec: SRV-02, SRV-04
func TestTooManyRefusalsCostNoOtherFabric(t *testing.T) {
	c := startCollector(t)
	token := c.login("demo", testOrigin)
	p := c.dial(testOrigin)
	p.hello(token, 0)
	p.hear("welcome")
	p.announce()
	seq := uint64(0)
	for range protocol.MaxRefusals { // fabric 2 was never announced
		p.say(logText(seq + 1))
		p.say(fmt.Sprintf(`{"type":"log","seq":%d,"at":1,"fabric":2,"text":"x"}`, seq+2))
		seq += 2
	}
	var acked uint64
	for {
		h := p.next()
		if h.Type == "ack" {
			acked = h.Seq
		}
		if h.Type == "bye" {
			require.True(t, h.Retry)
			break
		}
	}
	require.Equal(t, seq, acked)
	require.Len(t, c.seqs(), protocol.MaxRefusals)

	p = c.dial(testOrigin)
	p.hello(token, acked)
	p.hear("welcome")
	p.announce()
	p.say(logText(acked + 1))
	p.acked(acked + 1)
}

func TestTooManyGapsEndTheConnection(t *testing.T) {
	c := startCollector(t)
	p := c.connect("demo")
	for i := range uint64(protocol.MaxSeqGaps + 1) {
		p.say(logText(2 + 2*i))
	}
	for {
		if h := p.next(); h.Type == "bye" {
			require.Equal(t, string(protocol.CodeTooMany), h.Code)
			require.True(t, h.Retry)
			require.Positive(t, h.RetryAfterMs)
			break
		}
	}
	p.closed(websocket.CloseProtocolError)
}

func TestGiantMessageEndsTheConnection(t *testing.T) {
	c := startCollector(t)
	p := c.connect("demo")
	w, err := p.ws.NextWriter(websocket.TextMessage)
	require.NoError(t, err)
	_, err = w.Write([]byte(`{"type":"log","seq":1,"text":"`))
	require.NoError(t, err)
	chunk := []byte(strings.Repeat("x", 64<<10))
	for range protocol.MaxDiscardBytes/len(chunk) + 1 { // the server may close before the end
		if _, err := w.Write(chunk); err != nil {
			break
		}
	}
	require.EqualValues(t, 1, p.hear("nack").Seq, "it must not be sent again")
	p.acked(1)
	require.Positive(t, p.bye(protocol.CodeFrameTooLarge, true, websocket.CloseProtocolError).RetryAfterMs)
}

// spec: SRV-06
func TestHelloRefusals(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	token := c.login("demo", testOrigin)
	f := func(origin, text string, code protocol.Code, closeCode int) heard {
		t.Helper()
		p := c.dial(origin)
		p.say(text)
		return p.bye(code, code == protocol.CodeHelloExpected, closeCode)
	}
	h := f(testOrigin, strings.Replace(helloText(token, 0), "[1]", "[9,8]", 1), protocol.CodeVersionUnsupported, websocket.CloseProtocolError)
	require.Contains(t, h.Message, "[9 8]")
	require.Contains(t, h.Message, "[1]")
	f(testOrigin, logText(1), protocol.CodeHelloExpected, websocket.CloseProtocolError)
	f(testOrigin, "nonsense", protocol.CodeMalformed, websocket.CloseProtocolError)
	f(testOrigin, helloText(&protocol.TokenReply{Token: "forged", Session: testSession}, 0), protocol.CodeAuthFailed, websocket.ClosePolicyViolation)
	f("https://evil.example.org", helloText(token, 0), protocol.CodeOriginDenied, websocket.ClosePolicyViolation)

	c = startCollector(t, with(func(r *wssReceiver) { r.timing.hello = 300 * time.Millisecond }))
	silent := c.dial(testOrigin)
	require.Positive(t, silent.bye(protocol.CodeHelloExpected, true, websocket.CloseProtocolError).RetryAfterMs)
}

// The allow-list is asked again at the WebSocket.
//
// spec: AUTH-03
func TestOriginAtTheSocket(t *testing.T) {
	c := startCollector(t)
	token := c.login("strict", testOrigin)
	for _, origin := range []string{"", "https://evil.example.org"} {
		p := c.dial(origin)
		p.hello(token, 0)
		p.bye(protocol.CodeOriginDenied, false, websocket.ClosePolicyViolation)
	}
	p := c.dial(testOrigin)
	p.hello(token, 0)
	p.hear("welcome")

	apps := c.receiver.shared.apps.(*testApps)
	apps.limit("strict", "https://other.example.org")
	p = c.dial(testOrigin)
	p.hello(token, 0)
	p.bye(protocol.CodeOriginDenied, false, websocket.ClosePolicyViolation)
	apps.remove("strict")
	p = c.dial(testOrigin)
	p.hello(token, 0)
	p.bye(protocol.CodeAuthFailed, false, websocket.ClosePolicyViolation)
}

// An app without a list takes clients that send no Origin (they are no browsers).
func TestNoOriginWithoutList(t *testing.T) {
	c := startCollector(t)
	p := c.dial("")
	p.hello(c.login("demo", ""), 0)
	p.hear("welcome")
}

// spec: SRV-03
func TestDuplicatesAndGaps(t *testing.T) {
	c := startCollector(t)
	p := c.dial(testOrigin)
	p.hello(c.login("demo", testOrigin), 5)
	require.EqualValues(t, 5, p.hear("welcome").Acked)
	p.announce()
	p.say(logText(5)) // acknowledged before this connection
	p.acked(5)
	p.say(logText(7)) // 6 is missing: taken, but the ack waits
	p.say(logText(7))
	require.EqualValues(t, 5, p.hear("ack").Seq)
	p.say(logText(6))
	p.acked(7)
	p.say(logText(6))
	p.acked(7)
	require.Equal(t, []int64{7, 6}, c.seqs())
	require.EqualValues(t, 3, c.counted("receiver_qoswss_frames_duplicate", ""))
}

// A client goes on at another collector with the token of the first.
//
// spec: SRV-03
func TestResumeOnAnotherCollector(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	first := startCollector(t, before(func(context.Context, plog.Logs) error {
		if down.Load() {
			return errors.New("queue is full")
		}
		return nil
	}))
	second := startCollector(t)
	token := first.login("demo", testOrigin)
	p := first.dial(testOrigin)
	p.hello(token, 0)
	p.hear("welcome")
	p.announce()
	p.say(logText(1))
	p.acked(1)
	down.Store(true)
	p.say(logText(2))
	p.hear("slow-down")
	require.NoError(t, first.receiver.Shutdown(context.Background()))
	p.bye(protocol.CodeGoingAway, true, websocket.CloseGoingAway)

	q := second.dial(testOrigin)
	q.hello(token, 1)
	require.EqualValues(t, 1, q.hear("welcome").Acked)
	q.announce()
	q.say(logText(2))
	q.acked(2)
	require.Equal(t, []int64{2}, second.seqs())
}

// What the pipeline cannot take now is not acknowledged; the client slows down and sends
// it again.
//
// spec: SRV-03, SRV-04
func TestSlowDown(t *testing.T) {
	t.Parallel()
	var refusals atomic.Int32
	refusals.Store(3)
	entered, release := make(chan struct{}), make(chan struct{})
	c := startCollector(t, with(func(r *wssReceiver) { r.timing.retry = time.Second }),
		before(func(context.Context, plog.Logs) error {
			if refusals.Add(-1) >= 0 {
				entered <- struct{}{}
				<-release
				return errors.New("queue is full")
			}
			return nil
		}))
	p := c.connect("demo")
	for i := range 3 {
		p.say(logText(1))
		<-entered
		p.say(logText(2)) // was under way when the refusal came: neither taken nor refused
		release <- struct{}{}
		h := p.hear("slow-down")
		require.EqualValues(t, 1000<<i, h.RetryAfterMs)
		require.Equal(t, []int{0, 0, slowIntervalMs}[i], h.StatsIntervalMs)
		<-time.After(time.Duration(h.RetryAfterMs) * time.Millisecond)
	}
	p.say(logText(1))
	p.acked(1)
	p.say(logText(2))
	p.acked(2)
	require.Equal(t, []int64{1, 2}, c.seqs())
	require.EqualValues(t, 6, c.counted("receiver_qoswss_frames_deferred", ""))
}

func TestPermanentErrorIsANack(t *testing.T) {
	bad := true
	c := startCollector(t, before(func(context.Context, plog.Logs) error {
		if bad {
			bad = false
			return consumererror.NewPermanent(errors.New("bad data"))
		}
		return nil
	}))
	p := c.connect("demo")
	p.say(logText(1))
	h := p.hear("nack")
	require.EqualValues(t, 1, h.Seq)
	require.Equal(t, string(protocol.CodeInternal), h.Code)
	p.acked(1)
	p.say(logText(2))
	p.acked(2)
	require.Equal(t, []int64{2}, c.seqs())
}

// spec: SRV-04
func TestFastClientIsSlowed(t *testing.T) {
	c := startCollector(t, with(func(r *wssReceiver) { r.cfg.MaxFramesPerSecond = 1 }))
	p := c.connect("demo")
	const most = burstFrames - 2 // announcements count
	for seq := range uint64(most + 1) {
		p.say(logText(seq + 1))
	}
	var acked uint64
	for slowed := false; acked < most || !slowed; {
		switch h := p.next(); h.Type {
		case "ack":
			acked = h.Seq
		case "slow-down":
			slowed = true
		default:
			require.Fail(t, "unexpected message", "%+v", h)
		}
	}
	require.EqualValues(t, most, acked)
	require.EqualValues(t, 1, c.counted("receiver_qoswss_frames_deferred", ""))
	require.EqualValues(t, 1, c.countedBoth("receiver_qoswss_throttle_decisions", "frames", "refused"))
}

// spec: SRV-03
func TestNothingIsAckedBeforeThePipelineHasIt(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	c := startCollector(t, before(func(context.Context, plog.Logs) error {
		entered <- struct{}{}
		<-release
		return nil
	}))
	p := c.connect("demo")
	acks := make(chan heard)
	p.say(logText(1))
	<-entered
	go func() { acks <- p.hear("ack") }()
	select {
	case h := <-acks:
		require.Fail(t, "acknowledged too early", "%+v", h)
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	require.EqualValues(t, 1, (<-acks).Seq)
}

// Frames that have arrived together are one batch, and nothing waits for more.
func TestFramesAreABatch(t *testing.T) {
	c := startCollector(t, unhurried)
	p := c.rawServed(t)
	var burst []byte
	for seq := range uint64(maxBatchMessages + 3) {
		burst = append(burst, whole(logText(seq+1)).bytes()...)
	}
	_, err := p.conn.Write(burst)
	require.NoError(t, err)
	for _, last := range []int{maxBatchMessages, maxBatchMessages + 3} {
		require.Contains(t, p.frame(), fmt.Sprintf(`"ack","seq":%d,`, last))
	}
	batches := c.sink.AllLogs()
	require.Len(t, batches, 2)
	require.Equal(t, []int{maxBatchMessages, 3}, []int{batches[0].LogRecordCount(), batches[1].LogRecordCount()})
}

// unhurried has frames wait for others for longer than a test, where a read does not show that no more has arrived.
var unhurried = with(func(r *wssReceiver) { r.timing.quiet, r.timing.linger = time.Hour, time.Hour })

// Over TLS a read shows nothing of what follows it.
func TestFramesAreCollected(t *testing.T) {
	c := startCollector(t, overTLS(t), unhurried)
	p := c.connect("demo")
	for seq := range uint64(maxBatchMessages + 3) {
		p.say(logText(seq + 1))
	}
	p.acked(maxBatchMessages)
	require.NoError(t, p.ws.Close()) // the rest would wait for more
	require.Eventually(t, func() bool { return len(c.sink.AllLogs()) == 2 }, patience, time.Millisecond)
	require.Equal(t, maxBatchMessages, c.sink.AllLogs()[0].LogRecordCount())
}

// What was read before the connection broke is not lost: it may be a page's last word.
func TestLastFramesOfABrokenConnection(t *testing.T) {
	taken := make(chan struct{})
	c := startCollector(t, overTLS(t), unhurried,
		before(func(context.Context, plog.Logs) error {
			close(taken)
			return nil
		}))
	p := c.connect("demo")
	p.say(logText(1))
	require.NoError(t, p.ws.Close())
	<-taken
}

// spec: SRV-04
func TestConnectionLimits(t *testing.T) {
	c := startCollector(t, with(func(r *wssReceiver) { r.cfg.MaxConnections, r.cfg.MaxConnectionsPerApp = 2, 1 }))
	p := c.connect("demo")
	token := c.login("demo", testOrigin)
	second := c.dial(testOrigin)
	second.hello(token, 0)
	require.Positive(t, second.bye(protocol.CodeOverloaded, true, websocket.CloseTryAgainLater).RetryAfterMs)
	require.NoError(t, second.ws.Close())
	open := func(n int64) {
		t.Helper()
		require.Eventually(t, func() bool { return c.counted("receiver_qoswss_connections", "") == n }, patience, 5*time.Millisecond)
	}
	open(1)
	other := c.connect("strict")
	third := c.dial(testOrigin)
	third.bye(protocol.CodeOverloaded, true, websocket.CloseTryAgainLater)
	p.say(logText(1))
	p.acked(1)
	require.NoError(t, other.ws.Close())
	require.NoError(t, p.ws.Close())
	require.NoError(t, third.ws.Close())
	open(0)
	p = c.connect("demo")
	p.say(logText(1))
	p.acked(1)
}

// spec: SRV-03
func TestShutdownWithOpenConnections(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	var taken atomic.Bool
	c := startCollector(t, before(func(context.Context, plog.Logs) error {
		entered <- struct{}{}
		<-release
		taken.Store(true)
		return nil
	}))
	idle, busy, silent := c.connect("demo"), c.connect("demo"), c.dial(testOrigin)
	busy.say(logText(1))
	<-entered
	down := make(chan error)
	go func() { down <- c.receiver.Shutdown(context.Background()) }()
	idle.bye(protocol.CodeGoingAway, true, websocket.CloseGoingAway)
	silent.bye(protocol.CodeGoingAway, true, websocket.CloseGoingAway)
	select {
	case err := <-down:
		require.Fail(t, "shut down with a pipeline call under way", "%v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	busy.acked(1)
	busy.bye(protocol.CodeGoingAway, true, websocket.CloseGoingAway)
	require.NoError(t, <-down)
	require.True(t, taken.Load())
	require.NoError(t, c.receiver.Shutdown(context.Background()))
}

// When Shutdown has no time left it cuts what is under way.
func TestShutdownOutOfTime(t *testing.T) {
	entered := make(chan struct{})
	c := startCollector(t, before(func(ctx context.Context, _ plog.Logs) error {
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	}))
	p := c.connect("demo")
	p.say(logText(1))
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_ = c.receiver.Shutdown(ctx)
	require.NoError(t, p.ws.SetReadDeadline(time.Now().Add(patience)))
	for {
		if _, _, err := p.ws.ReadMessage(); err != nil {
			require.False(t, os.IsTimeout(err))
			break
		}
	}
}

// A pipeline that hangs is given up after pipeline_timeout; the client keeps the frames.
func TestPipelineTimeout(t *testing.T) {
	c := startCollector(t, with(func(r *wssReceiver) { r.cfg.PipelineTimeout = 20 * time.Millisecond }),
		before(func(ctx context.Context, _ plog.Logs) error {
			<-ctx.Done()
			return ctx.Err()
		}))
	p := c.connect("demo")
	p.say(logText(1))
	p.hear("slow-down")
}

func TestSilentConnections(t *testing.T) {
	t.Parallel()
	const ping, idle = 50 * time.Millisecond, 2 * time.Second
	c := startCollector(t, with(func(r *wssReceiver) { r.timing.ping, r.timing.idle = ping, idle }))
	alive, dead := c.connect("demo"), c.connect("demo")
	pings := make(chan struct{}, 100)
	pong := alive.ws.PingHandler()
	alive.ws.SetPingHandler(func(data string) error {
		pings <- struct{}{}
		return pong(data)
	})
	dead.ws.SetPingHandler(func(string) error { return nil })
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		dead.closed(websocket.CloseGoingAway)
	}()
	acks := make(chan heard, 1)
	go func() { acks <- alive.hear("ack") }()
	<-pings
	<-gone
	for range idle/ping + 1 { // longer than the idle limit
		<-pings
	}
	alive.say(logText(1))
	require.EqualValues(t, 1, (<-acks).Seq)
	require.EqualValues(t, 1, c.counted("receiver_qoswss_connections_closed", string(endIdle)))
}

// A fault that one frame brings out in the pipeline costs that frame, no other.
func TestFaultOfThePipelineIsANack(t *testing.T) {
	c := startCollector(t, before(func(_ context.Context, logs plog.Logs) error {
		if logs.LogRecordCount() == 2 {
			panic("a fault")
		}
		return nil
	}))
	p := c.connect("demo")
	p.say(`{"type":"skip","seq":2,"from":1,"at":1,"lost":[{"fabric":1,"stats":1,"events":0},{"fabric":0,"stats":1,"events":0}]}`)
	require.Equal(t, string(protocol.CodeInternal), p.hear("nack").Code)
	p.acked(2)
	p.say(logText(3))
	p.acked(3)
}

func TestUnknownColumnsAreCounted(t *testing.T) {
	c := startCollector(t)
	p := c.connect("demo")
	p.say(`{"type":"columns","set":2,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","notYetKnown","norThis"]}`)
	p.say(`{"type":"stats","seq":1,"at":1,"fabric":1,"intervalMs":1000,"rows":[[2,7,1,2]]}`)
	p.acked(1)
	require.EqualValues(t, 2, c.counted("receiver_qoswss_columns_unknown", ""))
}

// Once the token is over the client must authenticate again.
func TestTokenExpiresOnAConnection(t *testing.T) {
	c := startCollector(t)
	s := newSession(c.receiver.shared, testOrigin, func([]byte) {})
	now := time.Now()
	require.Nil(t, s.message([]byte(helloText(c.login("demo", testOrigin), 0)), now))
	require.Nil(t, s.checkExpiry(now))
	end := s.checkExpiry(now.Add(protocol.TokenLifetime + time.Minute))
	require.Equal(t, protocol.CodeTokenExpired, end.bye.Code)
	require.True(t, end.bye.Retry)
	s.close()
}
