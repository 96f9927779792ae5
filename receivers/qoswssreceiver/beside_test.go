package qoswssreceiver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/protocol"
)

// mostFabrics is for how many fabrics a skip of a drawn flood is. A frame is not divided: a skip of more than some 200
// fabrics takes longer than an ack takes alone (TestALargeSkipDelaysAcksByItsOwnTime).
const mostFabrics = 64

// mostSockets is how many connections a user can open at once (throttle::sockets::per_user).
const mostSockets = 60

// kinds are the messages of a client that wants to take time, for a number of entries.
var kinds = map[string]func(n int) template{
	"announcement": func(n int) template { return same(announceText(n)) },
	"long announcement": func(n int) template {
		return same(strings.Replace(announceText(n), "bob", strings.Repeat("u", 256), 1))
	},
	"columns":   func(int) template { return same(columnText) },
	"short log": func(int) template { return longText(1) },
	"long log":  func(n int) template { return longText(protocol.MaxLogTextBytes * n / protocol.MaxRows) },
	"rows":      rowsText,
	"skip":      func(n int) template { return skipText(1 + n%mostFabrics) },
	"duplicate": func(int) template { return func(seq uint64) string { return longText(1)(seq/2 + 1) } },
	"other conference": func(int) template {
		return func(seq uint64) string {
			return fmt.Sprintf(`{"type":"log","seq":%d,"at":1,"conferenceID":"n%d","conferenceAt":1,"text":"x"}`, seq, seq)
		}
	},
	"broken": func(int) template { return same(`{"type":"stats","seq":`) },
	"ping":   func(int) template { return same("") },
}

var sizes = []int{1, 7, 31, 200, protocol.MaxRows}

// drawn draws one message.
func drawn(t *rapid.T) template {
	kind := rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))).Draw(t, "kind")
	return kinds[kind](rapid.SampledFrom(sizes).Draw(t, "size"))
}

// Whatever one user sends over several connections: each ack of another application's frame takes at most twice the time
// that it takes alone. Alone it includes the wait for other frames, of the receiver and of the store.
//
// spec: SRV-04
func TestNoSequenceOfMessagesMakesAnotherApplicationWait(t *testing.T) {
	c, of := loginBoth(t)
	alone := slices.Max(c.acksBeside(t, attack{}, of, 2))
	rapid.Check(t, func(rt *rapid.T) {
		f := attack{
			connections: rapid.SampledFrom([]int{1, 2, 4, 8, 16, mostSockets}).Draw(rt, "connections"),
			fabrics:     mostFabrics,
			lead:        time.Duration(rapid.IntRange(0, 15_000).Draw(rt, "lead")) * time.Microsecond,
			heeds:       rapid.Bool().Draw(rt, "heeds"),
		}
		for range rapid.IntRange(1, 5).Draw(rt, "messages") {
			f.messages = append(f.messages, drawn(rt))
		}
		require.LessOrEqual(rt, slices.Max(c.acksBeside(t, f, of, 2)), 2*alone)
	})
}

// The time that a message takes is in proportion to its charge: at the rate of bytes that a user may send for ever
// (throttle::bytes::per_user) all that is charged takes at most a tenth of a core.
//
// spec: SRV-04
func TestNoMessageTakesMoreOfTheCoreThanItIsCharged(t *testing.T) {
	var stored time.Duration
	c := startCollector(t, before(func(_ context.Context, logs plog.Logs) error {
		stored += storeTime(logs)
		return nil
	}))
	rate := c.receiver.cfg.Throttle.Bytes.PerUser.PerSecond * kib
	f := func(name string, message template) {
		t.Helper()
		now, seq := time.Now(), uint64(0)
		s := welcomedAs(t, c.receiver.shared, testAppID, "mallory", testSession, func([]byte) {})
		defer s.close()
		require.Nil(t, s.message([]byte(columnText), now))
		for fabric := range protocol.MaxFabrics / 2 {
			s.pace.frames = burstFrames
			require.Nil(t, s.message([]byte(announceText(fabric+1)), now))
		}
		for range 3 {
			seq++
			s.pace.frames, s.pace.at, stored = burstFrames, now, 0
			msg := message(seq)
			require.Nil(t, s.message([]byte(msg), now))
			s.flush(now)
			charged := float64(len(msg)) + messageBytes*(burstFrames-s.pace.frames)
			took := time.Duration((len(msg)+inboxBytes-1)/inboxBytes)*readTime + stored
			require.LessOrEqual(t, took.Seconds(), charged/rate/10, name)
		}
	}
	for name, kind := range kinds {
		if name == "ping" { // TestFloodsOfControlFramesEnd
			continue
		}
		for _, n := range sizes {
			f(fmt.Sprint(name, " ", n), kind(n))
		}
	}
	f("skip 2000", skipText(2000))
}

// A frame is not divided. A skip of more than some 200 fabrics, or a POST of many rows, takes longer than an ack takes alone:
// an ack waits for the one that is being committed, and for one in its own transaction.
//
// spec: SRV-04
func TestALargeSkipDelaysAcksByItsOwnTime(t *testing.T) {
	const fabrics = 400
	c, of := loginBoth(t)
	alone := slices.Max(c.acksBeside(t, attack{}, of, 1))
	its := commitTime + frameTime + fabrics*(scopeTime+recordTime)
	for _, heeds := range []bool{true, false} {
		f := attack{connections: 4, fabrics: fabrics, messages: []template{skipText(fabrics)}, heeds: heeds, lead: 10 * time.Millisecond}
		require.LessOrEqual(t, slices.Max(c.acksBeside(t, f, of, 5)), alone+2*its)
	}
}
