package conferencetest

import (
	"runtime"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

// Base is second 0 of the tests, in ms.
const Base int64 = 1_763_702_160_000

// Event returns an event of the one session of a conference, fabric 1.
func Event(conferenceID string, seq uint64, atMs int64, name string) event.Event {
	return event.Event{
		AppID: "app", ConferenceID: conferenceID, Session: "s of " + conferenceID, Seq: seq, AtMs: Base + atMs, ConferenceAtMs: Base,
		Fabric: 1, Kind: event.KindEvent, Name: name,
	}
}

// Stats returns a measurement as a record of a session.
func Stats(session string, seq uint64, m event.Measurement) event.Event {
	m.DropOutOfRange()
	return event.Event{
		AppID: "app", ConferenceID: "c", Session: session, UserID: session, Seq: seq, Fabric: 1, RemoteUser: "other",
		AtMs: Base + int64(seq)*2000, ConferenceAtMs: Base, Kind: event.KindStats, Measured: &m,
	}
}

// Row returns row i of frame seq of a session: two inbound streams, two outbound ones, the candidate pair.
func Row(conferenceID, session string, seq uint64, i int, stats *event.Measurement) event.Event {
	*stats = eventtest.With(event.Measurement{StatsType: [...]string{"inbound-rtp", "inbound-rtp", "outbound-rtp", "outbound-rtp", "candidate-pair"}[i], MediaType: [...]string{"audio", "video", "audio", "video", ""}[i], SSRC: int64(i), Codec: "opus", IntervalMs: 10_000, Score: event.Score{MOS: event.Known(4 + float64(seq*17%30)/100), Label: "good"}}, eventtest.Values{
		protocol.Bytes: 40_000 + float64(seq*7919%1000), protocol.Packets: 500, protocol.JitterMs: 3 + float64(seq*31%17), protocol.RTTMs: 20 + float64(seq*13%11), protocol.FPS: 30,
	})
	return event.Event{
		AppID: "app", ConferenceID: conferenceID, Session: session, UserID: "user", Alias: "alias", Seq: seq, Index: i,
		AtMs: Base + int64(seq)*10_000, ConferenceAtMs: Base, Fabric: 1, Usage: "multiplex", Kind: event.KindStats, Measured: stats,
	}
}

// Heap returns the bytes in use after a collection.
func Heap() uint64 {
	runtime.GC()
	runtime.GC() // a sync.Pool keeps its elements for one collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
