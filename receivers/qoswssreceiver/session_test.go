package qoswssreceiver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
)

// welcomed returns a session past its hello, without a socket.
func welcomed(d *shared, send func([]byte)) *session {
	s := newSession(d, testOrigin, send)
	hello := testHello()
	s.identity = auth.Identity{AppID: testAppID, User: protocol.UserID{Name: "alice", Alias: "a1"}}
	s.translator = newTranslator(endpoint{testAppID, ownerOf(s.identity), hello}, &address.Policy{}, nil)
	s.seqs = newTracker(0)
	return s
}

// FuzzSession sends any lines to a session that is welcomed and to one that is not.
// Whatever comes, the answers are valid JSON, the number of holes stays bounded, and a
// good frame that follows on a session that lives is taken.
func FuzzSession(f *testing.F) {
	announced := strings.ReplaceAll(fabricText, "%d", "1") + "\n" + columnText + "\n"
	for _, seed := range []string{
		helloText(&protocol.TokenReply{Token: "token", Session: testSession}, 1), announced + statsText(1), announced + logText(3) + "\n" + logText(2),
		announced + `{"type":"skip","seq":9,"from":1,"at":1,"lost":[{"fabric":1,"stats":9,"events":0}]}`,
		`{"type":"log","seq":9007199254740991,"at":1,"fabric":1,"text":"x"}`, `{"type":"bye"}`, "\x00\n{}", `{"type":"log","seq":-1}`,
	} {
		f.Add(seed)
	}
	c := startCollector(f)
	next := new(consumertest.LogsSink)
	d := c.receiver.shared
	d.next = next
	f.Fuzz(func(t *testing.T, text string) {
		next.Reset()
		now := time.UnixMilli(1763702160000)
		check := func(msg []byte) { require.True(t, json.Valid(msg), "%s", msg) }
		fresh, s := newSession(d, testOrigin, check), welcomed(d, check)
		defer fresh.close()
		for line := range bytes.SplitSeq([]byte(text), []byte{'\n'}) {
			now = now.Add(time.Millisecond)
			fresh.message(line, now)
			if s.message(line, now) != nil {
				s.flush(now)
				return
			}
			require.LessOrEqual(t, s.seqs.gaps(), protocol.MaxSeqGaps)
		}
		s.flush(now)
		seq := s.seqs.acked() + 1
		if seq >= protocol.MaxSeq {
			return
		}
		require.Nil(t, s.message([]byte(strings.ReplaceAll(fabricText, "%d", "1")), now))
		require.Nil(t, s.message([]byte(logText(seq)), now))
		s.flush(now)
		require.GreaterOrEqual(t, s.seqs.acked(), seq)
		require.Positive(t, next.LogRecordCount())
	})
}

// A client's timer may run a little fast. A frame that comes just before the end of the
// silence was not under way when it was asked for, and nothing would make the client send
// it again.
//
// spec: SRV-04
func TestFramesJustBeforeTheEndOfASilenceAreTaken(t *testing.T) {
	c := startCollector(t)
	full := true
	c.receiver.shared.next = consumerOf(t, func(context.Context, plog.Logs) error {
		if full {
			return errors.New("queue is full")
		}
		return nil
	})
	s := welcomed(c.receiver.shared, func([]byte) {})
	now := time.Now()
	require.Nil(t, s.message([]byte(strings.ReplaceAll(fabricText, "%d", "1")), now))
	require.Nil(t, s.message([]byte(logText(1)), now))
	s.flush(now)
	require.Nil(t, s.message([]byte(logText(1)), now.Add(time.Millisecond)))
	require.False(t, s.due(), "what was under way comes again")
	full = false
	now = now.Add(c.receiver.timing.retry - 2*time.Millisecond)
	require.Nil(t, s.message([]byte(logText(1)), now))
	s.flush(now)
	require.EqualValues(t, 1, s.seqs.acked())
}

func consumerOf(t *testing.T, consume consumer.ConsumeLogsFunc) consumer.Logs {
	t.Helper()
	next, err := consumer.NewLogs(consume)
	require.NoError(t, err)
	return next
}

func frame8(dst []byte, seq uint64) []byte {
	dst = fmt.Appendf(dst, `{"type":"stats","seq":%d,"at":1763702170123,"fabric":1,"intervalMs":10003,"rows":[`, seq)
	for i := range 8 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `[2,%d,"VP8",402110,501,2,3.1,41.25,300,298,1,2,1280,720,29.97,0,0,1,3]`, 3735928559+i)
	}
	return append(dst, "]}"...)
}

const columns8 = `{"type":"columns","set":2,"statsType":"inbound-rtp","mediaType":"video","names":["ssrc","codec","bytes",` +
	`"packets","packetsLost","jitterMs","rttMs","frames","framesDecoded","framesDropped","keyFrames","width","height","fps",` +
	`"freezes","freezeMs","plis","nacks"]}`

// BenchmarkSessionStats8 is a measurement of 8 streams from its bytes to the pipeline.
func BenchmarkSessionStats8(b *testing.B) {
	c := startCollector(b)
	c.receiver.shared.next = consumertest.NewNop()
	s := welcomed(c.receiver.shared, func([]byte) {})
	now := time.Now()
	s.message([]byte(strings.ReplaceAll(fabricText, "%d", "1763702160000")), now)
	s.message([]byte(columns8), now)
	s.isPost = true // no rate limit
	var text []byte
	seq := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		seq++
		text = frame8(text[:0], seq)
		s.message(text, now)
		s.flush(now)
	}
	if s.seqs.acked() != seq {
		b.Fatal("frames were lost")
	}
}

// BenchmarkFrameSocketToNop is the same over a real WebSocket, client and network
// included.
func BenchmarkFrameSocketToNop(b *testing.B) {
	c := startCollector(b, func(c *collector) {
		c.receiver.next = consumertest.NewNop()
		c.receiver.cfg.MaxFramesPerSecond = 1 << 30
		unlimited := perSecond(1<<30, throttle.MaxBurst)
		c.receiver.cfg.Throttle.Bytes = byteRates{PerApp: unlimited, PerAddress: unlimited, PerUser: unlimited, PerConnection: unlimited}
	})
	p := c.connect("demo")
	p.say(columns8)
	var text []byte
	var seq, acked uint64
	b.ReportAllocs()
	for b.Loop() {
		seq++
		text = frame8(text[:0], seq)
		p.say(string(text))
		if seq-acked == protocol.WindowFrames {
			acked = p.hear("ack").Seq
		}
	}
	if acked < seq {
		p.acked(seq)
	}
}

// BenchmarkIdleConnection measures what a welcomed connection that says nothing holds in
// heap and stacks, with about 1 kB for the test's half of it.
func BenchmarkIdleConnection(b *testing.B) {
	const connections = 2000
	taken := make(chan struct{}, connections)
	c := startCollector(b, before(func(context.Context, plog.Logs) error {
		taken <- struct{}{}
		return consumererror.NewPermanent(errors.New("not kept"))
	}), with(func(r *wssReceiver) { // the test's telemetry keeps every span
		r.set.TelemetrySettings = componenttest.NewNopTelemetrySettings()
		quiet, err := newReceiver(r.set, r.cfg, r.next)
		require.NoError(b, err)
		r.obs, r.metrics = quiet.obs, quiet.metrics
	}))
	token := c.login("demo", testOrigin)
	address := c.receiver.listener.Addr().String()
	before := inUse()
	open := make([]net.Conn, 0, connections)
	for range connections {
		open = append(open, dialRaw(b, address, helloText(token, 0), strings.ReplaceAll(fabricText, "%d", "1"), columns8, string(frame8(nil, 1))))
	}
	for range connections {
		<-taken
	}
	held := float64(inUse()-before) / connections
	for b.Loop() { // there is nothing to repeat
		runtime.KeepAlive(open)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(held, "B/connection")
	for _, conn := range open {
		conn.Close()
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	for range 3 { // stacks shrink one step a cycle, pools empty in two
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// dialRaw upgrades and sends masked text messages by hand, without a client's buffers.
func dialRaw(b *testing.B, address string, messages ...string) net.Conn {
	b.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(b, err)
	out := []byte("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: " + testOrigin + "\r\n\r\n")
	_, err = conn.Write(out)
	require.NoError(b, err)
	_, err = conn.Read(make([]byte, 4<<10)) // the whole answer is one segment
	require.NoError(b, err)
	out = out[:0]
	for _, m := range messages {
		out = append(out, 0x81, 0x80|126, byte(len(m)>>8), byte(len(m)), 0, 0, 0, 0) // a mask of zeros
		out = append(out, m...)
	}
	_, err = conn.Write(out)
	require.NoError(b, err)
	return conn
}
