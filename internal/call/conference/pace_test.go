package conference_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// pacedCall is a call of a and b with audio jitter in both directions. They measure in the given
// intervals, ms, repeatedly.
func pacedCall(a, b []float64) []event.Event {
	var events []event.Event
	for who, intervals := range map[string][]float64{"a": a, "b": b} {
		other := map[string]string{"a": "b", "b": "a"}[who]
		at, seq := int64(0), uint64(0)
		add := func(kind event.Kind, name string, stats *event.Measurement) {
			seq++
			events = append(events, event.Event{
				AppID: "app", ConferenceID: "c", Session: who, UserID: who, RemoteUser: other, Fabric: 1, Usage: "audio", Direction: "sendrecv",
				Kind: kind, Name: name, Measured: stats, AtMs: conferencetest.Base + at, ConferenceAtMs: conferencetest.Base, Seq: seq,
			})
		}
		add(event.KindEvent, "fabricSetup", nil)
		for i := range 20 {
			interval := intervals[i%len(intervals)]
			at += int64(interval)
			add(event.KindStats, "", new(eventtest.With(event.Measurement{StatsType: "candidate-pair", IntervalMs: interval}, eventtest.Values{protocol.RTTMs: 20, protocol.BytesReceived: 1000})))
			for direction, ssrc := range map[string]int64{"inbound-rtp": int64(other[0]), "outbound-rtp": int64(who[0])} {
				add(event.KindStats, "", new(eventtest.With(event.Measurement{StatsType: direction, MediaType: "audio", SSRC: ssrc, IntervalMs: interval}, eventtest.Values{
					protocol.Packets: 100, protocol.JitterMs: 40, protocol.RemoteJitterMs: 40, protocol.RemoteLossFraction: 0, protocol.PacketsLost: 0,
				})))
			}
		}
		add(event.KindEvent, "fabricTerminated", nil)
	}
	return events
}

// TestPaceOfMeasurements: a participant that alone measures at uneven intervals has an overloaded
// machine. Browsers slow hidden pages down to whole seconds, or to a minute, and a client with a
// longer interval measures in whole seconds too. If all measure unevenly there is no finding.
//
// spec: CONF-03
func TestPaceOfMeasurements(t *testing.T) {
	even, late := []float64{2000, 2003, 1998, 2000}, []float64{2350, 1700, 2600, 2010, 1450}
	for what, call := range map[string]struct {
		b    []float64
		want cause.Cause
	}{
		"late":                             {late, cause.ReceivingMachine},
		"late, at a longer interval":       {[]float64{20_400, 19_650, 20_800}, cause.ReceivingMachine},
		"even":                             {even, cause.Unknown},
		"at a longer interval":             {[]float64{2000, 20_000, 20_004}, cause.Unknown},
		"out of sight":                     {[]float64{2000, 3000, 3002, 1000, 2999}, cause.Unknown},
		"out of sight for more than 5 min": {[]float64{60_000, 60_020, 59_990}, cause.Unknown},
		"late now and then":                {append(slices.Repeat(even, 3), late[:1]...), cause.Unknown},
	} {
		s := conferencetest.Fold(pacedCall(even, call.b), quality.DefaultBounds())
		require.Equal(t, call.want, s.LikelyCause.Cause, what)
		if call.want != cause.Unknown {
			require.Equal(t, "b", s.LikelyCause.Session, what)
			require.Equal(t, "lateMeasurementsShare", s.LikelyCause.Evidence[0].Metric, what)
		}
	}
	s := conferencetest.Fold(pacedCall(late, late), quality.DefaultBounds())
	require.Equal(t, cause.Unknown, s.LikelyCause.Cause, "one host carries both")
}

// TestDisruptionsAtTheEnd: a disruption half a second before the end is no cause; one of ten
// seconds without media is one, unless the remote participant had left.
//
// spec: CONF-03
func TestDisruptionsAtTheEnd(t *testing.T) {
	f := func(sinceMs int64, mediaToMs, otherLeftMs int64, want cause.Cause) {
		t.Helper()
		var events []event.Event
		for _, e := range pacedCall([]float64{2000}, []float64{2000}) {
			if e.Measured != nil {
				e.Measured.Set(protocol.JitterMs, 5)
				e.Measured.Set(protocol.RemoteJitterMs, 5)
			}
			if at := e.AtMs - conferencetest.Base; e.Measured != nil && (at > mediaToMs || e.Session == "b" && at > otherLeftMs) {
				continue
			}
			if e.Session == "b" && e.Name == "fabricTerminated" {
				e.AtMs = conferencetest.Base + otherLeftMs
			}
			events = append(events, e)
		}
		cut := events[0]
		cut.Session, cut.UserID, cut.RemoteUser, cut.Measured = "a", "a", "b", nil
		cut.Kind, cut.Name, cut.Seq, cut.AtMs = event.KindEvent, "iceDisruptionStart", 999, conferencetest.Base+sinceMs
		got := conferencetest.Fold(append(events, cut), quality.DefaultBounds()).LikelyCause
		require.Equal(t, want, got.Cause, "%+v", got)
	}
	f(39_500, 40_000, 40_000, cause.None)
	f(28_000, 22_000, 40_000, cause.ICEConnectivity)
	f(39_500, 33_000, 40_000, cause.ICEConnectivity) // hung up as soon as it was reported
	f(28_000, 40_000, 40_000, cause.None)            // media continued
	f(28_000, 22_000, 22_500, cause.None)            // the other had left
}

// TestDisruptionsOfStarvedPaths: ICE reports a disruption of a path that loses most of its packets as well; then the loss
// is the cause. Where nothing is received for seconds before, the connection was interrupted.
//
// spec: CONF-03
func TestDisruptionsOfStarvedPaths(t *testing.T) {
	f := func(want cause.Cause, receive func(c *conferencetest.Call), ends string) {
		t.Helper()
		c := conferencetest.NewCall()
		c.Sound("b", 0, 60, 100, 0)
		receive(c)
		c.Event("a", 36, "iceDisruptionStart", `{"iceConnectionState":"disconnected"}`)
		if ends != "" {
			c.Event("a", 40, "iceDisruptionEnd", ends)
		}
		for i := range c.Events {
			c.Events[i].RemoteUser = map[string]string{"a": "b", "b": "a"}[c.Events[i].Session]
		}
		got := conferencetest.Fold(c.Events, quality.DefaultBounds()).LikelyCause
		require.Equal(t, want, got.Cause, "%+v", got)
		require.Equal(t, want == cause.ICEConnectivity, got.Confidence > 0.9, "%+v", got)
	}
	starved := func(c *conferencetest.Call) { c.Sound("a", 0, 60, 25, 75) }
	cut := func(c *conferencetest.Call) {
		c.Sound("a", 0, 30, 100, 0)
		c.Sound("a", 30, 40, 0, 0)
		c.Sound("a", 40, 60, 100, 0)
	}
	f(cause.PathOrTURN, starved, `{"durationMs":4000}`)
	f(cause.PathOrTURN, starved, "")
	f(cause.ICEConnectivity, cut, `{"durationMs":4000}`)
	f(cause.ICEConnectivity, func(c *conferencetest.Call) { c.Sound("a", 0, 32, 100, 0) }, "")
}

// TestNothingSentInTurns: a stream that stops for two seconds and a little more now and then. Only whole measurements have
// no packet, so each time counts half a measurement more at both ends.
//
// spec: CONF-03
func TestNothingSentInTurns(t *testing.T) {
	f := func(want cause.Cause, every int) {
		t.Helper()
		c := conferencetest.NewCall()
		c.Sound("a", 0, 60, 100, 0)
		c.Sound("b", 0, 60, 100, 0)
		for n, m := range c.Rows("a", "outbound-rtp") {
			if (n+1)%every == 0 {
				m.Set(protocol.Packets, 0)
			}
		}
		require.Equal(t, want, conferencetest.Fold(c.Events, quality.DefaultBounds()).LikelyCause.Cause)
	}
	f(cause.SendingCapture, 6)
	f(cause.Unknown, 9)
	f(cause.None, 20)
}

// TestDisruptionsOfSenders: a connection to a server that only sends receives reports as long as the path is not dead, also if the last interval before
// its end was not measured.
//
// spec: CONF-03
func TestDisruptionsOfSenders(t *testing.T) {
	f := func(want cause.Cause, deadFrom, end float64) {
		t.Helper()
		c := conferencetest.NewCall()
		for at := 2.0; at <= 60; at += 2 {
			pair := eventtest.With(event.Measurement{StatsType: protocol.CandidatePair, IntervalMs: 2000}, eventtest.Values{protocol.BytesSent: 9000, protocol.BytesReceived: 1000})
			sent := eventtest.With(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Audio, SSRC: 5, IntervalMs: 2000}, eventtest.Values{
				protocol.Packets: 100, protocol.Bytes: 8000, protocol.RTTMs: 300, protocol.RemotePacketsLost: 40, protocol.RemoteLossFraction: 0.4,
			})
			if at > deadFrom {
				pair.Set(protocol.BytesReceived, 0)
			}
			for _, m := range []*event.Measurement{&pair, &sent} {
				c.Add("a", at, event.Event{Kind: event.KindStats, Measured: m})
			}
		}
		c.Event("a", 54, "iceDisruptionStart", `{"iceConnectionState":"disconnected"}`)
		c.Event("a", end, "fabricTerminated", `{"reason":"application"}`)
		for i := range c.Events {
			c.Events[i].RemoteType = "server"
		}
		got := conferencetest.Fold(c.Events, quality.DefaultBounds()).LikelyCause
		require.Equal(t, want, got.Cause, "%+v", got)
	}
	f(cause.PathOrTURN, 60, 60)
	f(cause.PathOrTURN, 60, 61.9)
	f(cause.ICEConnectivity, 48, 60)
}
