package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/call/quality"
)

// soFar returns SoFar at a second, from the records until that second.
func soFar(c *conferencetest.Call, second float64) conference.Summary {
	at := conferencetest.Base + int64(second*1000)
	folded := conference.New("app", "c", nil, quality.DefaultBounds())
	for i := range c.Events {
		if c.Events[i].AtMs <= at {
			folded.Apply(&c.Events[i])
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
	c := conferencetest.NewCall()
	c.Sound("a", 0, 20, 100, 0)
	c.Sound("a", 20, 60, 80, 20)
	c.Sound("a", 60, 100, 100, 0)
	c.Sound("b", 0, 100, 100, 0)
	f := func(second float64, want map[string]bool) {
		t.Helper()
		require.Equal(t, want, found(soFar(c, second)), "at %g s", second)
	}
	f(20, map[string]bool{})
	f(24, map[string]bool{})
	f(32, map[string]bool{loss: true})
	f(60, map[string]bool{loss: true})
	f(70, map[string]bool{loss: true})
	f(78, map[string]bool{loss: false})
	f(100, map[string]bool{loss: false})

	c = conferencetest.NewCall()
	c.Sound("a", 0, 40, 80, 20)
	c.Sound("b", 0, 200, 100, 0)
	f(60, map[string]bool{loss: true})
	f(80, map[string]bool{loss: false})
	c.Event("a", 41, "fabricTerminated", `{"reason":"application"}`)
	f(42, map[string]bool{loss: false})
}

// TestSoFarHasPresentParticipants: a participant is present until it leaves or silence ends it.
//
// spec: CONF-02
func TestSoFarHasPresentParticipants(t *testing.T) {
	c := conferencetest.NewCall()
	c.Sound("a", 0, 60, 100, 0)
	c.Sound("b", 0, 20, 100, 0)
	reasons := func(second float64) (out []string) {
		s := soFar(c, second)
		require.Empty(t, s.Outcome)
		for _, p := range s.Participants {
			out = append(out, p.EndReason)
			require.Equal(t, p.EndReason, p.Fabrics[0].EndReason)
		}
		return out
	}
	require.Equal(t, []string{"", ""}, reasons(50))
	require.Equal(t, []string{"", "silence"}, reasons(51))
	c.Event("a", 52, "fabricTerminated", `{}`)
	require.Equal(t, []string{"application", "silence"}, reasons(53))
}

// TestMediaOfDepartedParticipants: missing media of a participant that has left are no fault, and
// none is reported while it is unknown whether it has left.
//
// spec: CONF-03
func TestMediaOfDepartedParticipants(t *testing.T) {
	c := conferencetest.NewCall()
	c.Sound("b", 0, 20, 100, 0)
	c.Sound("a", 0, 20, 100, 0)
	c.Sound("a", 20, 120, 0, 0)
	for second := 20.0; second <= 120; second += 2 {
		require.Empty(t, soFar(c, second).Issues, "at %g s", second)
	}
	c.Sound("b", 20, 120, 100, 0) // b is present
	require.True(t, found(soFar(c, 60))[string(detect.OneWayMedia)])
}

// TestConnectingIsNoFault for half a minute; then it is.
//
// spec: CONF-03
func TestConnectingIsNoFault(t *testing.T) {
	c := &conferencetest.Call{}
	for second := range 60 {
		c.Event("a", float64(second), "customEvent", `{}`)
	}
	require.Equal(t, cause.None, soFar(c, 20).LikelyCause.Cause)
	require.NotEqual(t, cause.None, soFar(c, 40).LikelyCause.Cause)
	c.Event("a", 5, "fabricSetupFailed", `{"reason":"failed","stage":"connectivity"}`)
	require.NotEqual(t, cause.None, soFar(c, 20).LikelyCause.Cause)
}

// TestSoFarIsAFunctionOfTheSet of records and of the time; when all have been silent for long
// it is the summary.
//
// spec: CONF-03, SRV-03
func TestSoFarIsAFunctionOfTheSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := conferencetest.Events(t, 120_000)
		at := conferencetest.Base + rapid.Int64Range(0, 200_000).Draw(t, "at")
		fold := func(events []event.Event) *conference.Conference {
			c := conference.New("app", "c", nil, quality.DefaultBounds())
			for i := range events {
				c.Apply(&events[i])
			}
			return c
		}
		inOrder, otherwise := fold(events), fold(append(conferencetest.Shuffled(t, events), events...))
		require.JSONEq(t, conferencetest.JSON(t, inOrder.SoFar(quality.DefaultBounds(), at)), conferencetest.JSON(t, otherwise.SoFar(quality.DefaultBounds(), at)))

		over := inOrder.SoFar(quality.DefaultBounds(), conferencetest.Base+120_000+2*instance.Gap+600_000)
		final := inOrder.Summary(quality.DefaultBounds())
		for i := range final.Issues {
			require.False(t, over.Issues[i].Open)
			over.Issues[i].Open = final.Issues[i].Open
		}
		over.Outcome = final.Outcome
		require.JSONEq(t, conferencetest.JSON(t, final), conferencetest.JSON(t, over))
	})
}
