package conference_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// crowd makes the records of a conference whose participants are behind a media server, if nobody is at the other end.
type crowd struct {
	c      *conference.Conference
	seq    uint64
	user   string // of all; empty: each has its own
	remote string
}

// add applies a record of a participant's fabric at a second.
func (w *crowd) add(participant, fabric, second int, e event.Event) {
	w.seq++
	e.AppID, e.ConferenceID, e.Session = "app", "crowd", fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", participant)
	e.UserID = w.user
	if w.user == "" {
		e.UserID = fmt.Sprint("user", participant)
	}
	e.RemoteType, e.RemoteUser = "server", w.remote
	if w.remote != "" {
		e.RemoteType = "peer"
	}
	e.Seq, e.Fabric, e.ConferenceAtMs, e.AtMs = w.seq, fabric, 1_763_702_160_000, 1_763_702_160_000+1000*int64(second)
	w.c.Apply(&e)
}

func (w *crowd) measure(participant, fabric, second int, m event.Measurement, values eventtest.Values) {
	m.IntervalMs = 2000
	m = eventtest.With(m, values)
	if m.Video() {
		m.Score = event.Score{MOS: event.Known(2), Label: quality.Poor}
	}
	w.add(participant, fabric, second, event.Event{Kind: event.KindStats, Measured: &m})
}

func (w *crowd) event(participant, fabric, second int, name string, data *event.Data) {
	w.add(participant, fabric, second, event.Event{Kind: event.KindEvent, Name: name, Data: data})
}

func received(media string, ssrc int) event.Measurement {
	return event.Measurement{StatsType: protocol.InboundRTP, MediaType: media, SSRC: int64(ssrc)}
}

func sent(ssrc int) event.Measurement {
	return event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Audio, SSRC: int64(ssrc)}
}

var nothingCame, some = eventtest.Values{protocol.Packets: 0, protocol.PacketsLost: 0}, eventtest.Values{protocol.Packets: 500, protocol.Bytes: 50_000}

// shapes are conferences of a size, by what is wrong in them.
var shapes = map[string]func(w *crowd, n int){
	"silent streams behind a server": func(w *crowd, n int) {
		for i := range n {
			for k := range 10 {
				w.measure(i, 1, 4+4*k, received(protocol.Audio, i), nothingCame)
				w.measure(i, 1, 4+4*k, sent(100_000+i), some)
			}
		}
	},
	"silent streams of one sender": func(w *crowd, n int) {
		w.remote = "user0"
		for k := range n {
			w.measure(0, 1, 4+4*k, sent(1), some)
		}
		for i := range n {
			w.measure(1, 1+i/100, 8, received(protocol.Audio, i), nothingCame)
		}
	},
	"silent streams of one user": func(w *crowd, n int) {
		w.user = "ann"
		for i := range n {
			w.measure(i, 1, 8, received(protocol.Audio, i), nothingCame)
			w.measure(i, 1, 8, sent(100_000+i), some)
			w.event(i, 1, 9, "associateMstWithUserID", &event.Data{SSRC: int64(i), UserID: "ann"})
		}
	},
	"shared screens": func(w *crowd, n int) {
		for i := range n {
			w.measure(i, 1, 8, received(protocol.Video, i), eventtest.Values{protocol.Packets: 500, protocol.PacketsLost: 0, protocol.FPS: 3, protocol.Width: 1280, protocol.Height: 720, protocol.Bytes: 900_000, protocol.FreezeMs: 1500})
			for k := range 10 {
				w.event(i, 1, 2*k, []string{"screenShareStart", "screenShareStop"}[k%2], &event.Data{})
			}
		}
	},
	"loss in many connections": func(w *crowd, n int) {
		for i := range n {
			w.remote = fmt.Sprint("nobody", i)
			w.measure(i/100, 1+i%100, 8, received(protocol.Audio, i), eventtest.Values{protocol.Packets: 500, protocol.PacketsLost: 100, protocol.JitterMs: 500})
			w.measure(i/100, 1+i%100, 8, sent(100_000+i), some)
		}
	},
	"loss between all": func(w *crowd, n int) {
		all := int(math.Sqrt(float64(n)))
		for i := range all {
			for k := range all {
				w.remote = fmt.Sprint("user", k)
				w.measure(i, 1+k, 8, received(protocol.Audio, all*i+k), eventtest.Values{protocol.Packets: 500, protocol.PacketsLost: float64(100 * ((i + k) % 2)), protocol.JitterMs: 5})
				w.measure(i, 1+k, 8, sent(100_000+all*i+k), some)
			}
		}
	},
	"connections without an end": func(w *crowd, n int) {
		for i := range n {
			w.remote = fmt.Sprint("user", (i+1)%n)
			w.event(i, 1, 1, "fabricSetupFailed", &event.Data{Reason: "failed", Stage: "connectivity"})
			w.event(i, 2, 1, "iceDisruptionStart", &event.Data{})
		}
	},
	"mutes in many connections": func(w *crowd, n int) {
		for i := range n {
			w.measure(0, 1+i, 8, received(protocol.Audio, i), nothingCame)
			for k := range 10 {
				w.event(0, 1+i, 2*k, []string{"audioMute", "audioUnmute"}[k%2], &event.Data{})
			}
		}
	},
}

// A client chooses how many participants, streams and times a conference has. What a summary and an evaluation of it
// allocate, which follows the work, grows with the conference, not with its square.
// spec: CONF-04, SRV-04
func TestWorkGrowsWithConference(t *testing.T) {
	for name, fill := range shapes {
		t.Run(name, func(t *testing.T) {
			work := func(n int) (bytes float64) {
				w := crowd{c: conference.New("app", "crowd", nil, quality.DefaultBounds())}
				fill(&w, n)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				w.c.Summary(quality.DefaultBounds())
				w.c.Evaluate(1_763_702_160_000+25_000, func([]conference.Issue) {})
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			const n = 200
			few, many := work(n), work(4*n)
			require.Less(t, many, 6*few, "%.0f and %.0f bytes", few, many)
		})
	}
}
