package conference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
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

// TestGapFacts: sound that is concealed while as many packets did not arrive is missing although none counts as lost. If they
// arrive the machine is late, and lost packets count as such.
//
// spec: CONF-03
func TestGapFacts(t *testing.T) {
	f := func(want detect.Facts, packets, lost, concealed, silent float64) {
		t.Helper()
		m := eventtest.With(event.Measurement{StatsType: inboundRTP, MediaType: audio, IntervalMs: 2000}, eventtest.Values{
			protocol.Packets: packets, protocol.PacketsLost: lost, protocol.JitterMs: 5, protocol.Samples: 96_000,
			protocol.ConcealedSamples: concealed, protocol.SilentConcealedSamples: silent, protocol.JitterBufferDelayMs: 40,
		})
		require.Equal(t, want, causeFactsOf(&m)&(gap|surplus|choppy|lossy))
	}
	f(0, 100, 0, 0, 0)
	f(gap, 23, 0, 72_120, 70_560) // recorded: nothing passed for a second and a half
	f(gap, 73, 0, 24_708, 17_022)
	f(0, 96, 0, 5_594, 5_280)   // its end
	f(0, 85, 0, 15_000, 13_000) // so few packets count as lost
	f(surplus, 120, 0, 0, 0)
	f(choppy, 100, 0, 24_708, 17_022)
	f(lossy, 73, 27, 24_708, 17_022)
	f(lossy, 5, 40, 90_000, 80_000)
	f(0, 0, 0, 96_000, 96_000)
}

// TestGaps: what a sender did not send, what counts as lost, and what arrives later, is not missing.
//
// spec: CONF-03
func TestGaps(t *testing.T) {
	var s stream
	for i, fact := range []detect.Facts{gap, 0, gap, gap | lossy, gap, gap, surplus} {
		s.causeFacts.AddFacts(int64(2000*i), int64(2000*(i+1)), hasMeasurement|fact)
	}
	require.Empty(t, s.gaps())
	s.unbroken = []detect.Span{{FromMs: 0, ToMs: 9000}, {FromMs: 10_000, ToMs: 20_000}}
	require.Equal(t, []detect.Span{{FromMs: 0, ToMs: 2000}, {FromMs: 4000, ToMs: 6000}}, s.gaps())
}

// TestRoom: bandwidth that the only encoder of a connection does not use is not what limits it.
//
// spec: CONF-03
func TestRoom(t *testing.T) {
	f := func(want float64, availableBps float64, videos ...int64) {
		t.Helper()
		fabric := &fabric{streams: map[streamKey]*stream{}}
		add := func(key streamKey, m event.Measurement) {
			s := new(stream)
			m.StatsType, m.MediaType, m.IntervalMs = key.statsType, key.mediaType, 2000
			for i := range 5 {
				s.causeFacts.AddFacts(int64(2000*i), int64(2000*(i+1)), causeFactsOf(&m))
			}
			fabric.streams[key] = s
		}
		add(streamKey{statsType: candidatePair}, eventtest.With(event.Measurement{}, eventtest.Values{protocol.AvailableOutgoingBps: availableBps}))
		for _, ssrc := range videos {
			add(streamKey{outboundRTP, video, ssrc}, eventtest.With(event.Measurement{Limitation: "bandwidth"},
				eventtest.Values{protocol.Packets: 60, protocol.Bytes: 30_000, protocol.TargetBitrateBps: 150_000}))
		}
		e := fabric.evidence(&Fabric{EndMs: 10_000}, nil, nil)
		require.Len(t, e.Streams, len(videos))
		require.InDelta(t, want, e.Streams[0].LimitedMs, 0)
	}
	f(10_000, 399_000, 1)
	f(0, 400_000, 1)
	f(10_000, 400_000, 1, 2) // together they may use all of it
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
