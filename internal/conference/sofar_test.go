package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/cause"
	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/event/eventtest"
	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/protocol"
)

// call makes the records of a call of a and b, which measure every 2 s.
type call struct {
	seqs   map[string]uint64
	events []event.Event
}

func (c *call) add(session string, second float64, e event.Event) {
	if c.seqs == nil {
		c.seqs = map[string]uint64{}
	}
	c.seqs[session]++
	e.AppID, e.ConferenceID, e.Session, e.UserID, e.Seq = "app", "c", session, session, c.seqs[session]
	e.Fabric, e.ConferenceAtMs, e.AtMs = 1, base, base+int64(second*1000)
	c.events = append(c.events, e)
}

func (c *call) event(session string, second float64, name string, data string) {
	c.add(session, second, event.Event{Kind: event.KindEvent, Name: name, Data: event.ParseData(name, []byte(data))})
}

// sound adds measurements of received and sent audio, every 2 s until the given second.
func (c *call) sound(session string, from, to float64, came, lost float64) {
	for at := from + 2; at <= to; at += 2 {
		for i, statsType := range []string{"inbound-rtp", "outbound-rtp"} {
			e := event.Event{Kind: event.KindStats, Index: i, Measured: new(eventtest.With(event.Measurement{StatsType: statsType, MediaType: "audio", SSRC: int64(i + 1), IntervalMs: 2000}, eventtest.Values{
				protocol.Packets: 100, protocol.RTTMs: 20, protocol.PacketsLost: 0,
			}))}
			if i == 0 {
				e.Measured.Set(protocol.Packets, came)
				e.Measured.Set(protocol.PacketsLost, lost)
			}
			c.seqs[session] -= uint64(i)
			c.add(session, at, e)
		}
	}
}

func newCall() *call {
	c := &call{seqs: map[string]uint64{}}
	for _, session := range []string{"a", "b"} {
		c.event(session, 0, "fabricAdded", `{}`)
		c.event(session, 0, "remoteDescriptionSet", `{}`)
		c.event(session, 0, "fabricSetup", `{"setupMs":100}`)
	}
	return c
}

// soFar returns SoFar at a second, from the records until that second.
func (c *call) soFar(second float64) conference.Summary {
	at := base + int64(second*1000)
	folded := conference.New("app", "c")
	for i := range c.events {
		if c.events[i].AtMs <= at {
			folded.Apply(&c.events[i])
		}
	}
	return folded.SoFar(quality.DefaultBounds(), at)
}

// found returns the issues by kind, and whether they are open.
func found(s conference.Summary) map[string]bool {
	out := map[string]bool{}
	for _, i := range s.Issues {
		out[i.Kind] = i.Open
	}
	return out
}

const loss = string(detect.HighPacketLoss)

// TestSoFarHasOpenIssues: an issue is listed when it is raised, and not open any more when its
// metric has recovered, its stream is silent, or its participant has left.
//
// spec: CONF-03, DASH-05
func TestSoFarHasOpenIssues(t *testing.T) {
	c := newCall()
	c.sound("a", 0, 20, 100, 0)
	c.sound("a", 20, 60, 80, 20)
	c.sound("a", 60, 100, 100, 0)
	c.sound("b", 0, 100, 100, 0)
	f := func(second float64, want map[string]bool) {
		t.Helper()
		require.Equal(t, want, found(c.soFar(second)), "at %g s", second)
	}
	f(20, map[string]bool{})
	f(24, map[string]bool{})
	f(32, map[string]bool{loss: true})
	f(60, map[string]bool{loss: true})
	f(70, map[string]bool{loss: true})
	f(78, map[string]bool{loss: false})
	f(100, map[string]bool{loss: false})

	c = newCall()
	c.sound("a", 0, 40, 80, 20)
	c.sound("b", 0, 200, 100, 0)
	f(60, map[string]bool{loss: true})
	f(80, map[string]bool{loss: false})
	c.event("a", 41, "fabricTerminated", `{"reason":"application"}`)
	f(42, map[string]bool{loss: false})
}

// TestSoFarHasPresentParticipants: a participant is present until it leaves or silence ends it.
//
// spec: CONF-02
func TestSoFarHasPresentParticipants(t *testing.T) {
	c := newCall()
	c.sound("a", 0, 60, 100, 0)
	c.sound("b", 0, 20, 100, 0)
	reasons := func(second float64) (out []string) {
		s := c.soFar(second)
		require.Empty(t, s.Outcome)
		for _, p := range s.Participants {
			out = append(out, p.EndReason)
			require.Equal(t, p.EndReason, p.Fabrics[0].EndReason)
		}
		return out
	}
	require.Equal(t, []string{"", ""}, reasons(50))
	require.Equal(t, []string{"", "silence"}, reasons(51))
	c.event("a", 52, "fabricTerminated", `{}`)
	require.Equal(t, []string{"application", "silence"}, reasons(53))
}

// TestMediaOfDepartedParticipants: missing media of a participant that has left are no fault, and
// none is reported while it is unknown whether it has left.
//
// spec: CONF-03
func TestMediaOfDepartedParticipants(t *testing.T) {
	c := newCall()
	c.sound("b", 0, 20, 100, 0)
	c.sound("a", 0, 20, 100, 0)
	c.sound("a", 20, 120, 0, 0)
	for second := 20.0; second <= 120; second += 2 {
		require.Empty(t, c.soFar(second).Issues, "at %g s", second)
	}
	c.sound("b", 20, 120, 100, 0) // b is present
	require.True(t, found(c.soFar(60))[string(detect.OneWayMedia)])
}

// TestConnectingIsNoFault for half a minute; then it is.
//
// spec: CONF-03
func TestConnectingIsNoFault(t *testing.T) {
	c := &call{}
	for second := range 60 {
		c.event("a", float64(second), "customEvent", `{}`)
	}
	require.Equal(t, cause.None, c.soFar(20).LikelyCause.Cause)
	require.NotEqual(t, cause.None, c.soFar(40).LikelyCause.Cause)
	c.event("a", 5, "fabricSetupFailed", `{"reason":"failed","stage":"connectivity"}`)
	require.NotEqual(t, cause.None, c.soFar(20).LikelyCause.Cause)
}

// TestSoFarIsAFunctionOfTheSet of records and of the time; when all have been silent for long
// it is the summary.
//
// spec: CONF-03, SRV-03
func TestSoFarIsAFunctionOfTheSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := genEvents(t, 120_000)
		at := base + rapid.Int64Range(0, 200_000).Draw(t, "at")
		fold := func(events []event.Event) *conference.Conference {
			c := conference.New("app", "c")
			for i := range events {
				c.Apply(&events[i])
			}
			return c
		}
		inOrder, otherwise := fold(events), fold(append(shuffled(t, events), events...))
		require.JSONEq(t, asJSON(t, inOrder.SoFar(quality.DefaultBounds(), at)), asJSON(t, otherwise.SoFar(quality.DefaultBounds(), at)))

		over := inOrder.SoFar(quality.DefaultBounds(), base+120_000+2*instance.Gap+600_000)
		final := inOrder.Summary(quality.DefaultBounds())
		for i := range final.Issues {
			require.False(t, over.Issues[i].Open)
			over.Issues[i].Open = final.Issues[i].Open
		}
		over.Outcome = final.Outcome
		require.JSONEq(t, asJSON(t, final), asJSON(t, over))
	})
}
