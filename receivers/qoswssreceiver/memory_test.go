package qoswssreceiver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
)

// welcomedAs returns a session of a user past its hello, without a socket.
func welcomedAs(t require.TestingT, d *shared, app, user, session string, send func([]byte)) *session {
	s := newSession(d, testOrigin, send)
	hello := testHello()
	hello.Session = session
	s.identity = auth.Identity{AppID: app, User: protocol.UserID{Name: user, Alias: user}}
	s.translator = newTranslator(endpoint{app, ownerOf(s.identity), hello}, &address.Policy{}, nil)
	s.seqs = newTracker(0)
	s.framesPerSecond, s.pace.at = 1_000_000, time.Unix(1, 0)
	require.True(t, d.perApp.enter(app, 1<<20))
	require.Nil(t, s.openOwn(100))
	return s
}

// hostile draws any message of a client that wants to be remembered.
func hostile(t *rapid.T, seq *uint64) string {
	long := func(what string, most int) string {
		return strings.Repeat("x", rapid.SampledFrom([]int{1, most / 9, most}).Draw(t, what)) + strconv.Itoa(rapid.IntRange(0, 1<<20).Draw(t, "suffix"))
	}
	next := func() uint64 { *seq++; return *seq }
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return fmt.Sprintf(`{"type":"fabric","fabric":%d,"conferenceID":%q,"addedAt":1,"remoteUserID":%q,"fabricUsage":"multiplex"}`,
			rapid.IntRange(1, 10_000).Draw(t, "fabric"), long("conference", 240), long("user", 240))
	case 1:
		return fmt.Sprintf(`{"type":"columns","set":%d,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc",%q,%q]}`,
			rapid.IntRange(1, 32).Draw(t, "set"), long("a", 50), "y"+long("b", 50))
	case 2:
		return fmt.Sprintf(`{"type":"stats","seq":%d,"at":1,"fabric":1,"intervalMs":1000,"keyed":[{"statsType":"inbound-rtp","mediaType":"audio","codec":%q,%q:1}]}`,
			next(), long("codec", 40), rapid.SampledFrom([]string{"bytes", "packets", "fps", "qp"}).Draw(t, "measure"))
	case 3:
		return fmt.Sprintf(`{"type":"log","seq":%d,"at":1,"fabric":1,"text":%q}`, next(), long("text", protocol.MaxLogTextBytes-10))
	case 4:
		return fmt.Sprintf(`{"type":"stats","seq":%d,"at":1,"fabric":1,"intervalMs":1000,"rows":[%s[1,1,"opus",1,1]]}`,
			next(), strings.Repeat(`[1,1,"opus",1,1],`, rapid.IntRange(0, 500).Draw(t, "rows")))
	case 5:
		return fmt.Sprintf(`{"type":"skip","seq":%d,"from":%d,"at":1,"lost":[%s{"fabric":1}]}`, *seq+2, next(), strings.Repeat(`{"fabric":1},`, rapid.IntRange(0, 4000).Draw(t, "lost")))
	case 6:
		return logText(max(*seq, 1))
	}
	return rapid.SampledFrom([]string{"nonsense", `{"type":"bye"}`, `{"type":"hello"}`, strings.Repeat("x", protocol.MaxFrameBytes+1)}).Draw(t, "text")
}

// Whatever the sessions of one user send: what they hold stays below the limits, also while the pipeline has their
// frames; another application's frames are accepted all the time; and the end of the sessions gives everything back.
//
// spec: SRV-04
func TestNoSequenceOfMessagesExceedsTheMemoryOfItsUser(t *testing.T) {
	c := startCollector(t, with(func(r *wssReceiver) { r.timing.linger = time.Hour })) // frames wait for others
	d := c.receiver.shared
	limits := budget.Limits{Total: 512 << 10, User: 96 << 10, Session: 64 << 10, Connection: 48 << 10}
	rapid.Check(t, func(t *rapid.T) {
		d.memory = budget.NewLedger(limits)
		check := func() {
			user := d.memory.Open(testAppID, "mallory", "probe")
			defer user.Close()
			require.LessOrEqual(t, d.memory.Used(), limits.Total)
			require.LessOrEqual(t, user.Holds(budget.User), limits.User)
		}
		d.next = consumerOf(c.t.(*testing.T), func(context.Context, plog.Logs) error { check(); return nil })
		now := time.UnixMilli(1763702160000)
		acks := 0
		honest := welcomedAs(t, d, "other", "bob", testSession, func(msg []byte) { acks += strings.Count(string(msg), `"ack"`) })
		require.Nil(t, honest.message([]byte(strings.ReplaceAll(fabricText, "%d", "1")), now))
		kept := honest.account.Used()
		type attacker struct {
			*session
			seq uint64
		}
		var attackers []*attacker
		for i := range rapid.SampledFrom([]int{1, 3, 6}).Draw(t, "sessions") {
			s := welcomedAs(t, d, testAppID, "mallory", fmt.Sprintf("%s%d", testSession[:35], i/2), func([]byte) {})
			s.message([]byte(strings.ReplaceAll(fabricText, "%d", "1")), now)
			s.message([]byte(columnText), now)
			attackers = append(attackers, &attacker{session: s})
		}
		for i := range rapid.SampledFrom([]int{10, 100, 300}).Draw(t, "messages") {
			now = now.Add(10 * time.Millisecond)
			if len(attackers) > 0 {
				k := rapid.IntRange(0, len(attackers)-1).Draw(t, "who")
				if a := attackers[k]; a.message([]byte(hostile(t, &a.seq)), now) != nil {
					a.close()
					attackers = append(attackers[:k], attackers[k+1:]...)
				}
			}
			check()
			require.Nil(t, honest.message([]byte(logText(uint64(i+1))), now))
			honest.flush(now)
			require.Equal(t, i+1, acks, "the other application's frame was not accepted")
			require.Equal(t, kept, honest.account.Used(), "a frame that is stored is held")
		}
		for _, a := range attackers {
			a.flush(now)
			a.close()
		}
		honest.close()
		require.Zero(t, d.memory.Used())
		require.Zero(t, d.memory.Accounts())
	})
}

// The announcements of one connection are refused with their limit, and the connection goes on; when its session has
// no room, it ends.
//
// spec: SRV-02, SRV-04
func TestAnnouncementsBeyondTheMemoryAreRefused(t *testing.T) {
	c := startCollector(t)
	d := c.receiver.shared
	var heard []string
	one := welcomedAs(t, d, testAppID, "alice", testSession, func(msg []byte) { heard = append(heard, string(msg)) })
	now := time.Now()
	fabric := func(s *session, n int) *ending {
		return s.message([]byte(fmt.Sprintf(`{"type":"fabric","fabric":%d,"conferenceID":"%s","addedAt":1,"remoteUserID":"%s","fabricUsage":"multiplex"}`,
			n, strings.Repeat("c", 256), strings.Repeat("u", 256))), now)
	}
	n := 1
	for ; len(heard) == 0; n++ {
		require.Nil(t, fabric(one, n))
	}
	require.InDelta(t, 4096, n, 1100, "half of 8 MiB, 1 KiB each")
	require.Contains(t, heard[0], `"code":"too_many"`)
	require.Contains(t, heard[0], `"limit":4194304`)
	now = now.Add(time.Second)
	require.Nil(t, one.message([]byte(strings.Replace(logText(1), `"fabric":1`, `"fabric":2`, 1)), now), "earlier ones are known")
	one.flush(now)
	require.EqualValues(t, 1, one.seqs.acked())

	two := welcomedAs(t, d, testAppID, "alice", testSession, func([]byte) {})
	for n = 1; n < 4096 && fabric(two, n) == nil; n++ { // until its session's 8 MiB are used up
	}
	three := newSession(d, testOrigin, func([]byte) {})
	three.identity, three.translator = two.identity, two.translator
	refusal := three.openOwn(1 << 16)
	require.NotNil(t, refusal)
	require.Equal(t, protocol.CodeOverloaded, refusal.Code)
	require.Positive(t, c.counted("receiver_qoswss_memory_refusals", "connection"))
	require.Positive(t, c.counted("receiver_qoswss_memory_refusals", "session"))
	one.close()
	two.close()
	require.Nil(t, three.keep(100), "the end of the others made room")
}

// Pings and empty fragments count, and a client that does not stop is sent away.
//
// spec: SRV-04
func TestFloodsOfControlFramesEnd(t *testing.T) {
	c := startCollector(t, with(func(r *wssReceiver) { r.cfg.MaxFramesPerSecond = 1 }))
	p := c.connect("demo")
	go func() {
		for p.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(patience)) == nil {
		}
	}()
	require.Positive(t, p.bye(protocol.CodeThrottled, true, websocket.CloseTryAgainLater).RetryAfterMs)
	require.EqualValues(t, 1, c.counted("receiver_qoswss_connections_closed", string(protocol.CodeThrottled)))
}

// A message in endless fragments, and repeated announcements, end like any flood.
//
// spec: SRV-04
func TestFloodsOfBytesEnd(t *testing.T) {
	c := startCollector(t)
	s := welcomedAs(t, c.receiver.shared, testAppID, "alice", testSession, func([]byte) {})
	defer s.close()
	var end *ending
	for range maxByteDebt/4096 + 4096<<10/4096 + 1 {
		require.Nil(t, end)
		end = s.receiveBytes(4096, time.Now())
	}
	require.NotNil(t, end)
	require.Equal(t, protocol.CodeThrottled, end.bye.Code)
	s.framesPerSecond, end = 1, nil
	n := 0
	for ; end == nil; n++ {
		end = s.message([]byte(columnText), time.Now())
	}
	require.Equal(t, burstFrames+maxFrameDebt+1, n)
}

// A connection that goes on sending after a slow-down ends, and its user pays for all that it sent.
//
// spec: SRV-04
func TestFloodsAfterASlowDownEnd(t *testing.T) {
	c := startCollector(t)
	now := time.Now()
	s := welcomedAs(t, c.receiver.shared, testAppID, "mallory", testSession, func([]byte) {})
	t.Cleanup(s.close)
	s.network = 7
	for range 2 { // each wait allows for the frames that are under way
		s.slowDown(now, 2*time.Second)
		for range maxIgnoredBytes / chargedBytes {
			require.Nil(t, s.receiveBytes(chargedBytes, now))
		}
	}
	s.slowDown(now, 2*time.Second)
	require.Nil(t, s.receiveBytes(maxIgnoredBytes, now))
	end := s.receiveBytes(1, now)
	require.NotNil(t, end)
	require.Equal(t, protocol.CodeThrottled, end.bye.Code)
	require.Positive(t, end.bye.RetryAfterMs)

	// The user was charged: a bucket that was full has no more than the rest.
	user := c.receiver.shared.throttles.bytes.user
	key := c.receiver.shared.throttles.hash.Of(testAppID, "mallory", 7)
	require.Equal(t, user.rate.Burst-3*maxIgnoredBytes/kib, left(user, key, now))

	// Small messages cost more than their bytes.
	s.pace.unpaid = 0
	require.Nil(t, s.message([]byte(columnText), now))
	require.Equal(t, messageBytes, s.pace.unpaid)
}

// A large message before the hello is charged to the strangers of its address, who have a share of one user's memory: an
// address leaves room to the next one. Who said hello is not affected.
//
// spec: SRV-04
func TestStrangersShareOneUsersMemory(t *testing.T) {
	c := startCollector(t)
	d := c.receiver.shared
	var all []*reservation
	var sessions []*session
	grow := func(s *session) bool {
		r := &reservation{holder: s}
		all, sessions = append(all, r), append(sessions, s)
		return r.grow(protocol.MaxFrameBytes)
	}
	for i, want := range []int{256, 192, 48} { // of 32 MiB: half, which one session may have, then three times of what is free
		n := 0
		for ok := true; ok; n++ {
			s := newSession(d, testOrigin, func([]byte) {})
			s.network = throttle.Key(i) // 0: not known
			ok = grow(s)
		}
		require.Equal(t, want, n-1)
	}
	require.EqualValues(t, 3, c.counted("receiver_qoswss_memory_refusals", "address"))
	require.True(t, grow(welcomedAs(t, d, testAppID, "alice", testSession, func([]byte) {})))
	for i, r := range all {
		r.giveBack()
		sessions[i].close()
	}
	require.Zero(t, d.memory.Used())
	require.Zero(t, d.memory.Accounts())
}

// What has arrived before the hello is charged to the address: at once if it is much, and the rest at the end.
//
// spec: SRV-04
func TestTheAddressPaysForBytesBeforeTheHello(t *testing.T) {
	c, _ := throttledCollector(t, func(cfg *Config) { cfg.Throttle.Bytes.PerAddress = rarely(1000) })
	may := c.receiver.shared.throttles
	now := time.Now()
	s := newSession(c.receiver.shared, testOrigin, func([]byte) {})
	s.network = 7
	at, key := may.bytes.address, may.hash.Of("", "", 7)
	require.Nil(t, s.receiveBytes(chargedBytes-1, now))
	require.Zero(t, at.table.Tracked())
	require.Nil(t, s.receiveBytes(1+5*kib, now))
	require.Equal(t, at.rate.Burst-chargedBytes/kib-5, left(at, key, now))

	one, _ := c.dialFrom("203.0.113.8")
	one.say(strings.Repeat("x", 10*kib))
	one.bye(protocol.CodeMalformed, false, websocket.CloseProtocolError)
	require.NoError(t, one.ws.Close())
	c.receiver.sockets.wg.Wait()
	network := may.hash.Network(networkOf(parseHop("203.0.113.8")))
	require.Equal(t, at.rate.Burst-10, left(at, may.hash.Of("", "", network), time.Now()))
	require.Zero(t, may.bytes.app.table.Tracked(), "no application is known")
	s.close()
}

// left returns the tokens of a bucket, which it takes.
func left(l *limit, key throttle.Key, now time.Time) (n int) {
	for l.table.Take(key, l.rate, now) == 0 {
		n++
	}
	return n
}

// A buffer that has grown is not used for a message to which it would not be charged.
//
// spec: SRV-04
func TestGrownBuffersAreNotKept(t *testing.T) {
	for range 100 {
		buf := newBuffer()
		require.Len(t, *buf, bufferBytes)
		n, err := fill(strings.NewReader(strings.Repeat("x", 5000)), buf, func(int) bool { return true })
		require.NoError(t, err)
		require.Equal(t, 5000, n)
		freeBuffer(buf)
	}
}
