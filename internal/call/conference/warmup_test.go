package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// adapting is a stream of a call: it has packets from one second to another, and bad values from one to another.
type adapting struct {
	row              event.Measurement
	good, bad        eventtest.Values
	from, to         float64 // seconds
	badFrom, badTo   float64
	idleFrom, idleTo float64 // without packets
	mos              float64
}

// add adds the measurements of session a.
func (s *adapting) add(c *conferencetest.Call) {
	for at := s.from + 2; at <= s.to; at += 2 {
		m := eventtest.With(s.row, s.good)
		if at > s.badFrom && at <= s.badTo {
			m = eventtest.With(s.row, s.bad)
		}
		if at > s.idleFrom && at <= s.idleTo {
			m = eventtest.With(s.row, eventtest.Values{protocol.Packets: 0, protocol.Bytes: 0})
		}
		m.IntervalMs = 2000
		if s.mos > 0 {
			m.Score = event.Score{MOS: event.Known(s.mos), Label: quality.Fair}
		}
		c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &m})
	}
}

// buffer is received audio whose jitter buffer is long; encoder, camera and layers are video whose bandwidth is limited, whose rate
// is low, and for which key frames are requested.
func buffer(ms float64) adapting {
	good := eventtest.Values{protocol.Packets: 100, protocol.PacketsLost: 0, protocol.JitterMs: 4, protocol.JitterBufferDelayMs: 60}
	bad := eventtest.Values{protocol.Packets: 100, protocol.PacketsLost: 0, protocol.JitterMs: 4, protocol.JitterBufferDelayMs: ms}
	return adapting{row: event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, SSRC: 1, Codec: "opus"}, good: good, bad: bad}
}

func encoder() adapting {
	return adapting{
		row:  event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Video, SSRC: 2, Codec: "VP8"},
		good: eventtest.Values{protocol.Packets: 200, protocol.Bytes: 2e5, protocol.BandwidthLimitedMs: 0, protocol.RTTMs: 20, protocol.RemoteLossFraction: 0},
		bad:  eventtest.Values{protocol.Packets: 50, protocol.Bytes: 2e4, protocol.BandwidthLimitedMs: 2000, protocol.RTTMs: 20, protocol.RemoteLossFraction: 0},
	}
}

func camera() adapting {
	return adapting{
		row:  event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Video, SSRC: 3, Codec: "H264"},
		good: eventtest.Values{protocol.Packets: 200, protocol.Bytes: 2e5, protocol.FPS: 25, protocol.PacketsLost: 0},
		bad:  eventtest.Values{protocol.Packets: 90, protocol.Bytes: 5e4, protocol.FPS: 6, protocol.PacketsLost: 0},
	}
}

func layers() adapting {
	return adapting{
		row:  event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Video, SSRC: 4, Codec: "VP9"},
		good: eventtest.Values{protocol.Packets: 200, protocol.Bytes: 2e5, protocol.PLIs: 0, protocol.FIRs: 0},
		bad:  eventtest.Values{protocol.Packets: 200, protocol.Bytes: 2e5, protocol.PLIs: 3, protocol.FIRs: 0},
	}
}

// at sets the times of a stream: from and to, then those of its bad values.
func (s adapting) at(from, to, badFrom, badTo float64) adapting {
	s.from, s.to, s.badFrom, s.badTo = from, to, badFrom, badTo
	return s
}

// idle sets the time without packets.
func (s adapting) idle(from, to float64) adapting {
	s.idleFrom, s.idleTo = from, to
	return s
}

// warmUpCall is a call of a and b of a number of seconds, with a further stream of a.
func warmUpCall(seconds float64, s adapting) *conferencetest.Call {
	c := conferencetest.NewCall()
	s.add(c)
	c.Sound("b", 0, seconds, 100, 0)
	if s.row.SSRC != 1 {
		c.Sound("a", 0, seconds, 100, 0)
	}
	return c
}

// TestWarmUp: what adapts to a new stream is an issue if it continues after second 20 of the stream, then from its beginning. A
// shorter call has no later second.
//
// spec: CONF-03
func TestWarmUp(t *testing.T) {
	f := func(kind detect.Kind, sinceS float64, seconds float64, s adapting) {
		t.Helper()
		issues := conferencetest.Fold(warmUpCall(seconds, s).Events, quality.DefaultBounds()).Issues
		if kind == "" {
			require.Empty(t, issues)
			return
		}
		require.Len(t, issues, 1)
		require.Equal(t, string(kind), issues[0].Kind)
		require.InDelta(t, float64(conferencetest.Base)+sinceS*1000, float64(issues[0].SinceMs), 2000)
	}
	f("", 0, 60, buffer(300).at(0, 60, 0, 16))
	f(detect.HighJitterBuffer, 0, 60, buffer(300).at(0, 60, 0, 24))
	f(detect.HighJitterBuffer, 30, 60, buffer(450).at(0, 60, 30, 46))
	f("", 0, 90, buffer(220).at(44, 90, 46, 60))
	f(detect.HighJitterBuffer, 0, 14, buffer(300).at(0, 14, 0, 14))
	f("", 0, 48, encoder().at(0, 48, 0, 18))
	f(detect.BandwidthLimited, 12, 48, encoder().at(10, 48, 12, 34))
	f("", 0, 70, camera().at(20, 70, 20, 36))
	f(detect.LowFrameRate, 4, 32, camera().at(0, 32, 4, 22))
	f("", 0, 40, layers().at(0, 40, 4, 16))
	f(detect.KeyFrameStorm, 24, 60, layers().at(2, 60, 24, 36))
	f("", 0, 60, layers().at(50, 60, 50, 60)) // of a new stream at the end of a long call nothing else is known

	f("", 0, 80, encoder().at(0, 80, 40, 56).idle(10, 40)) // a stream that begins again
	f(detect.BandwidthLimited, 36, 80, encoder().at(0, 80, 36, 52).idle(30, 36))
	f(detect.BandwidthLimited, 20, 100, encoder().at(0, 100, 20, 38).idle(40, 70))
}

// TestWarmUpExcusesNothingElse: loss and missing media are issues from the beginning.
//
// spec: CONF-03
func TestWarmUpExcusesNothingElse(t *testing.T) {
	f := func(want detect.Kind, change func(*adapting)) {
		t.Helper()
		s := buffer(300).at(0, 60, 0, 12)
		change(&s)
		var kinds []string
		for _, issue := range conferencetest.Fold(warmUpCall(60, s).Events, quality.DefaultBounds()).Issues {
			kinds = append(kinds, issue.Kind)
		}
		require.Contains(t, kinds, string(want))
		require.NotContains(t, kinds, string(detect.HighJitterBuffer))
	}
	f(detect.HighPacketLoss, func(s *adapting) { s.bad[protocol.PacketsLost] = 20 })
	f(detect.HighJitter, func(s *adapting) { s.bad[protocol.JitterMs] = 80 })
	f(detect.NoMedia, func(s *adapting) {
		s.bad[protocol.Packets], s.bad[protocol.PacketsLost] = 0, 0
		delete(s.bad, protocol.JitterBufferDelayMs)
	})
}

// TestWarmUpOfALiveCall: an issue of a live call is raised when its stream has warmed up, whether or not a record raises it then.
//
// spec: CONF-03
func TestWarmUpOfALiveCall(t *testing.T) {
	f := func(want int, again bool, atS float64) {
		t.Helper()
		c := conference.New("app", "c", nil, quality.DefaultBounds())
		s := buffer(300).at(0, atS, 0, 24)
		for i, call := 0, warmUpCall(atS, s); i < len(call.Events); i++ {
			c.Apply(&call.Events[i])
		}
		raised := 0
		got := c.Evaluate(conferencetest.Base+int64(atS)*1000, func(spans []conference.Issue) {
			if spans[0].Kind == string(detect.HighJitterBuffer) {
				raised += len(spans)
			}
		})
		require.Equal(t, []any{want, again}, []any{raised, got}, "%g s", atS)
	}
	f(0, false, 6)
	f(0, true, 12)
	f(0, true, 18)
	f(1, false, 22)
	f(1, false, 60)
}

// TestWarmUpIsNoCause: a jitter buffer that was long, or an encoder that was limited, for a quarter of a call has no cause if that was
// its warm-up.
//
// spec: CONF-03
func TestWarmUpIsNoCause(t *testing.T) {
	f := func(want cause.Cause, s adapting, more ...adapting) {
		t.Helper()
		s.mos = 3.4
		c := warmUpCall(s.to, s)
		for _, again := range more {
			again.mos = 3.4
			again.add(c)
			c.Sound("b", again.from, again.to, 100, 0)
			s.to = again.to
		}
		for at := 2.0; at <= s.to; at += 2 { // it measures in time
			m := eventtest.With(event.Measurement{StatsType: protocol.CandidatePair, IntervalMs: 2000}, eventtest.Values{protocol.RTTMs: 20})
			c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &m})
		}
		for i := range c.Events {
			if s.row.MediaType == protocol.Video { // which b does not measure
				break
			}
			c.Events[i].RemoteUser = map[string]string{"a": "b", "b": "a"}[c.Events[i].Session]
		}
		found := conferencetest.Fold(c.Events, quality.DefaultBounds()).LikelyCause
		require.Equal(t, want, found.Cause, "%+v", found)
	}
	f(cause.None, buffer(400).at(0, 56, 0, 18))
	f(cause.PathOrTURN, buffer(400).at(0, 56, 20, 38))
	f(cause.PathOrTURN, buffer(400).at(0, 56, 0, 30))
	f(cause.PathOrTURN, buffer(400).at(0, 10, 0, 6), buffer(400).at(10, 20, 10, 16), buffer(400).at(20, 60, 20, 26)) // in turns
	f(cause.None, encoder().at(0, 60, 0, 18))
	f(cause.PathOrTURN, encoder().at(0, 60, 24, 42))
}
