package conference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

// TestStallFacts: audio that is concealed while its buffer has grown is late, and no fault of the machine.
//
// spec: CONF-03
func TestStallFacts(t *testing.T) {
	f := func(bufferMs, concealed float64, wantJittery, wantChoppy bool) {
		t.Helper()
		m := eventtest.With(event.Measurement{StatsType: inboundRTP, MediaType: audio, IntervalMs: 2000}, eventtest.Values{
			protocol.Packets: 100, protocol.PacketsLost: 0, protocol.JitterMs: 5, protocol.Samples: 96_000,
			protocol.ConcealedSamples: concealed, protocol.SilentConcealedSamples: 0, protocol.JitterBufferDelayMs: bufferMs,
		})
		facts := causeFactsOf(&m)
		require.Equal(t, []bool{wantJittery, wantChoppy}, []bool{facts&jittery != 0, facts&choppy != 0})
	}
	f(60, 9600, false, true)
	f(151, 9600, true, false)
	f(151, 1900, false, false) // a buffer alone harms nobody
}

// TestStillAtEnd: the picture of a camera that changed and then does not.
//
// spec: CONF-03
func TestStillAtEnd(t *testing.T) {
	picture := func(bytes float64) detect.Facts {
		m := eventtest.With(event.Measurement{StatsType: outboundRTP, MediaType: video, IntervalMs: 2000}, eventtest.Values{
			protocol.Packets: 60, protocol.Frames: 30, protocol.Bytes: bytes, protocol.Width: 640, protocol.Height: 480,
		})
		return causeFactsOf(&m)
	}
	const same, changes, little = 30 * 100, 30 * 1500, 30 * 300
	f := func(want float64, excuses []Interval, bytes ...float64) {
		t.Helper()
		var s stream
		for i, size := range bytes {
			s.causeFacts.AddFacts(int64(2000*i), int64(2000*(i+1)), picture(size))
		}
		require.InDelta(t, want, s.stillAtEndMs(excuses), 0)
	}
	f(0, nil)
	f(0, nil, changes, changes, changes)
	f(6000, nil, changes, changes, same, same, same)
	f(0, nil, changes, same, same, same)                                     // a key frame
	f(0, nil, changes, changes, same, same, same, little)                    // it changes again
	f(0, nil, changes, same, same, changes, same, same, changes, same, same) // slides
	f(0, []Interval{{StartMs: 4000, EndMs: 10_000}}, changes, changes, same, same, same)
	f(2000, []Interval{{StartMs: 2000, EndMs: 8000}}, changes, changes, same, same, same)
}

// TestBlankInTurns: a camera that is switched off now and then. Its stretches are longer by half an interval at both ends,
// for they begin and end within measurements of other pictures. Slides are still for most of the time.
//
// spec: CONF-03
func TestBlankInTurns(t *testing.T) {
	const on, off = 30 * 1500, 30 * 100
	f := func(want float64, excuses []Interval, bytes ...float64) {
		t.Helper()
		var s stream
		for i, size := range bytes {
			m := eventtest.With(event.Measurement{StatsType: outboundRTP, MediaType: video, IntervalMs: 2000}, eventtest.Values{
				protocol.Packets: 60, protocol.Frames: 30, protocol.Bytes: size, protocol.Width: 640, protocol.Height: 480,
			})
			s.causeFacts.AddFacts(int64(2000*i), int64(2000*(i+1)), causeFactsOf(&m))
		}
		require.InDelta(t, want, s.blankInTurnsMs(2000, excuses), 0)
	}
	f(0, nil)
	f(0, nil, on, on, on)
	f(0, nil, on, off)        // it had too little time
	f(4000, nil, on, off, on) // 4 s of other pictures
	f(8000, nil, on, off, on, on, off, on)
	f(3000, nil, on, on, off)
	f(0, nil, on, off, off, on, off, off) // most is blank
	f(2000, []Interval{{StartMs: 0, EndMs: 3000}}, on, off, on)
	f(0, []Interval{{StartMs: 0, EndMs: 6000}}, on, off, on)
}
