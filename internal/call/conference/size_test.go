package conference_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestBytes: the estimate is between half and twice what conferences take of the heap, whatever they consist of and
// whatever holes are in the numbers of their records.
//
// spec: SRV-04
func TestBytes(t *testing.T) {
	f := func(name string, conferences int, fill func(*conference.Conference)) {
		t.Helper()
		heap := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := heap()
		all := make([]*conference.Conference, conferences)
		estimate := int64(0)
		for i := range all {
			all[i] = conference.New("app", fmt.Sprint("conference ", i), nil, quality.DefaultBounds())
			fill(all[i])
			estimate += all[i].Bytes()
		}
		taken := heap() - before
		t.Logf("%s: %d bytes taken, %d estimated", name, taken/int64(conferences), estimate/int64(conferences))
		require.Greater(t, estimate, taken/2, name)
		require.Less(t, estimate, taken*2, name)
		runtime.KeepAlive(all)
	}
	filled := func(participants, fabrics, streams, measurements int) func(*conference.Conference) {
		return func(c *conference.Conference) { fill(c, participants, fabrics, streams, measurements) }
	}
	f("calls of two", 300, filled(2, 1, 5, 30))
	f("long calls of two", 40, filled(2, 1, 5, 600))
	f("many streams", 10, filled(1, 1, 250, 2))
	f("many fabrics", 10, filled(1, 500, 1, 1))
	f("many participants", 10, filled(500, 1, 2, 2))
	f("frames of 100 records and of one in turns", 10, func(c *conference.Conference) { holes(c, 2000, 100, 0, 0) })
	f("each second record", 10, func(c *conference.Conference) { holes(c, 2000, 5, 1, 0) })
	f("without the first one, in turns", 10, func(c *conference.Conference) { holes(c, 2000, 5, 0, 1) })
	f("merged", 10, func(c *conference.Conference) {
		o := conference.New("app", "o", nil, quality.DefaultBounds())
		holes(c, 2000, 5, 0, 1)
		holes(o, 5000, 5, 1, 1)
		c.Merge(o)
	})
}

// holes applies frames of so many rows and of one in turns. Of each frame the first ones, and then so many after each
// one are missing.
func holes(c *conference.Conference, frames, rows, missing, first int) {
	for seq := range frames {
		last := rows
		if seq%2 == 0 {
			last = 1
		}
		for index := first; index < last; index += 1 + missing {
			e := conferencetest.Event("c", uint64(seq+1), 0, "customEvent")
			e.Index = index
			c.Apply(&e)
		}
	}
}

// fill applies measurements that change all the time.
func fill(c *conference.Conference, participants, fabrics, streams, measurements int) {
	for p := range participants {
		session, seq := fmt.Sprint("session ", p), uint64(0)
		for fabric := 1; fabric <= fabrics; fabric++ {
			for n := range measurements {
				for ssrc := range streams {
					seq++
					m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, SSRC: int64(ssrc + 1), IntervalMs: 2000, Codec: "opus"}, eventtest.Values{
						protocol.Packets: 100, protocol.PacketsLost: float64(n * 7 % 30), protocol.JitterMs: float64(n * 13 % 90), protocol.RTTMs: float64(n * 37 % 700), protocol.Bytes: float64(n*101%9000) + 1,
					})
					mos := 1 + float64(n*17%300)/100
					m.Score = event.Score{MOS: event.Known(mos), Label: quality.Label(mos, quality.DefaultBounds())}
					e := conferencetest.Stats(session, seq, m)
					e.Fabric, e.AtMs = fabric, conferencetest.Base+int64(n)*2000
					c.Apply(&e)
				}
			}
		}
	}
}
