package conference_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/conference/conferencetest"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/event/eventtest"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestBytes: the estimate is between half and twice what conferences take of the heap, whatever they consist of.
func TestBytes(t *testing.T) {
	f := func(name string, conferences, participants, fabrics, streams, measurements int) {
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
			all[i] = conference.New("app", fmt.Sprint("conference ", i))
			fill(all[i], participants, fabrics, streams, measurements)
			estimate += all[i].Bytes()
		}
		taken := heap() - before
		t.Logf("%s: %d bytes taken, %d estimated", name, taken/int64(conferences), estimate/int64(conferences))
		require.Greater(t, estimate, taken/2, name)
		require.Less(t, estimate, taken*2, name)
		runtime.KeepAlive(all)
	}
	f("calls of two", 300, 2, 1, 5, 30)
	f("long calls of two", 40, 2, 1, 5, 600)
	f("many streams", 10, 1, 1, 250, 2)
	f("many fabrics", 10, 1, 500, 1, 1)
	f("many participants", 10, 500, 1, 2, 2)
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
