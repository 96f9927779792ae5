package conference_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/cause"
	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/quality"
)

// pacedCall is of a and b, whose sound comes unevenly both ways. They measure in the intervals
// given, of ms, again and again.
func pacedCall(a, b []float64) []conference.Event {
	var events []conference.Event
	for who, intervals := range map[string][]float64{"a": a, "b": b} {
		other := map[string]string{"a": "b", "b": "a"}[who]
		at, seq := int64(0), uint64(0)
		add := func(kind conference.Kind, name string, stats *conference.Stats) {
			seq++
			events = append(events, conference.Event{
				AppID: "app", ConferenceID: "c", Session: who, UserID: who, RemoteUser: other, Fabric: 1, Usage: "audio", Direction: "sendrecv",
				Kind: kind, Name: name, Stats: stats, AtMs: base + at, ConferenceAtMs: base, Seq: seq,
			})
		}
		add(conference.KindEvent, "fabricSetup", nil)
		for i := range 20 {
			interval := intervals[i%len(intervals)]
			at += int64(interval)
			add(conference.KindStats, "", &conference.Stats{StatsType: "candidate-pair", IntervalMs: interval, RTTMs: conference.Known(20), BytesReceived: 1000})
			for direction, ssrc := range map[string]int64{"inbound-rtp": int64(other[0]), "outbound-rtp": int64(who[0])} {
				add(conference.KindStats, "", &conference.Stats{
					StatsType: direction, MediaType: "audio", SSRC: ssrc, IntervalMs: interval, Packets: 100, PacketsSeen: conference.Known(100),
					JitterMs: conference.Known(40), RemoteJitterMs: conference.Known(40), RemoteLossFraction: conference.Known(0),
				})
			}
		}
		add(conference.KindEvent, "fabricTerminated", nil)
	}
	return events
}

// TestPaceOfMeasurements: who alone measures unevenly has a machine without time. A page that
// nobody looks at is slowed down to whole seconds, or to a minute; a client that is asked to
// measure less does so in whole seconds as well; and where all are late nobody is named.
//
// spec: CONF-03
func TestPaceOfMeasurements(t *testing.T) {
	even, late := []float64{2000, 2003, 1998, 2000}, []float64{2350, 1700, 2600, 2010, 1450}
	for what, call := range map[string]struct {
		b    []float64
		want cause.Cause
	}{
		"late":                             {late, cause.ReceivingMachine},
		"late, and asked to measure less":  {[]float64{20_400, 19_650, 20_800}, cause.ReceivingMachine},
		"even":                             {even, cause.Unknown},
		"asked to measure less":            {[]float64{2000, 20_000, 20_004}, cause.Unknown},
		"out of sight":                     {[]float64{2000, 3000, 3002, 1000, 2999}, cause.Unknown},
		"out of sight for more than 5 min": {[]float64{60_000, 60_020, 59_990}, cause.Unknown},
		"late now and then":                {append(slices.Repeat(even, 3), late[:1]...), cause.Unknown},
	} {
		s := conference.Fold(pacedCall(even, call.b), quality.DefaultBounds())
		require.Equal(t, call.want, s.LikelyCause.Cause, what)
		if call.want != cause.Unknown {
			require.Equal(t, "b", s.LikelyCause.Session, what)
			require.Equal(t, "lateMeasurementsShare", s.LikelyCause.Evidence[0].Metric, what)
		}
	}
	s := conference.Fold(pacedCall(late, late), quality.DefaultBounds())
	require.Equal(t, cause.Unknown, s.LikelyCause.Cause, "one host carries both")
}

// TestDisruptionsAtTheEnd: what ICE tells half a second before the call ends is no cause; what
// goes on for ten seconds in which nothing comes is one, unless the other had left.
//
// spec: CONF-03
func TestDisruptionsAtTheEnd(t *testing.T) {
	f := func(sinceMs int64, mediaToMs, otherLeftMs int64, want cause.Cause) {
		t.Helper()
		var events []conference.Event
		for _, e := range pacedCall([]float64{2000}, []float64{2000}) {
			if e.Stats != nil {
				e.Stats.JitterMs, e.Stats.RemoteJitterMs = conference.Known(5), conference.Known(5)
			}
			if at := e.AtMs - base; e.Stats != nil && (at > mediaToMs || e.Session == "b" && at > otherLeftMs) {
				continue
			}
			if e.Session == "b" && e.Name == "fabricTerminated" {
				e.AtMs = base + otherLeftMs
			}
			events = append(events, e)
		}
		cut := events[0]
		cut.Session, cut.UserID, cut.RemoteUser, cut.Stats = "a", "a", "b", nil
		cut.Kind, cut.Name, cut.Seq, cut.AtMs = conference.KindEvent, "iceDisruptionStart", 999, base+sinceMs
		got := conference.Fold(append(events, cut), quality.DefaultBounds()).LikelyCause
		require.Equal(t, want, got.Cause, "%+v", got)
	}
	f(39_500, 40_000, 40_000, cause.None)
	f(28_000, 22_000, 40_000, cause.ICEConnectivity)
	f(39_500, 33_000, 40_000, cause.ICEConnectivity) // hung up as soon as it was told
	f(28_000, 40_000, 40_000, cause.None)            // media went on
	f(28_000, 22_000, 22_500, cause.None)            // the other had left
}
