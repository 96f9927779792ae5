package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// unheard is audio that arrives, and of which no sample is taken.
func unheard(m *event.Measurement) {
	if m.StatsType == protocol.InboundRTP {
		m.Set(protocol.PacketsDiscarded, 100)
		m.Set(protocol.Samples, 0)
	}
}

// TestNotPlayed: sound that a page does not play is worth knowing, and no fault. It is the application's if an element was to play it.
//
// spec: CONF-03, CONF-06
func TestNotPlayed(t *testing.T) {
	const theirs = voice + 100 // the SSRC of what a receives
	fold := func(say func(c *choice)) conference.Summary {
		c := choice{conferencetest.NewCall(), 1, false}
		c.send(theirs, unheard)
		if say != nil {
			say(&c)
		}
		return conferencetest.Fold(c.Events, quality.DefaultBounds())
	}
	issues := func(s conference.Summary) (out []conference.Issue) {
		for _, i := range s.Issues {
			out = append(out, conference.Issue{Kind: i.Kind, UserID: i.UserID, SSRC: i.SSRC, Direction: i.Direction, Value: i.Value, Open: i.Open, Confidence: i.Confidence})
		}
		return out
	}
	notPlayed := func(ms float64, open bool) []conference.Issue {
		return []conference.Issue{{Kind: "notPlayed", UserID: "a", SSRC: theirs, Direction: "inbound", Value: ms, Open: open, Confidence: "high"}}
	}

	s := fold(nil) // as from a client that is no page
	require.Empty(t, s.Issues)
	require.Equal(t, cause.None, s.LikelyCause.Cause)
	untouched := s

	s = fold(func(c *choice) {
		c.Event("a", 22, "playoutChange", `{"ssrc":101,"playout":"none"}`)
		c.Event("a", 62, "playoutChange", `{"ssrc":101,"playout":"playing"}`)
	})
	require.Equal(t, notPlayed(40_000, false), issues(s))
	require.Equal(t, cause.None, s.LikelyCause.Cause)
	for i := range s.Participants {
		require.Equal(t, untouched.Participants[i].MOS, s.Participants[i].MOS)
	}

	s = fold(func(c *choice) {
		c.Event("a", 22, "playoutChange", `{"ssrc":101,"playout":"refused"}`)
		c.Event("a", 42, "playoutChange", `{"ssrc":101,"playout":"none"}`)
		c.Event("a", 46, "playoutChange", `{"ssrc":101,"playout":"refused"}`)
	})
	require.Equal(t, notPlayed(58_000, true), issues(s))
	require.Equal(t, cause.Application, s.LikelyCause.Cause)
	require.Equal(t, "a", s.LikelyCause.Session)
	require.InDelta(t, 0.675, s.LikelyCause.Evidence[0].Value, 0.01)

	s = fold(func(c *choice) { // too short, another stream, and while its sender is muted
		c.Event("a", 22, "playoutChange", `{"ssrc":101,"playout":"none"}`)
		c.Event("a", 28, "playoutChange", `{"ssrc":101,"playout":"playing"}`)
		c.Event("a", 30, "playoutChange", `{"ssrc":7,"playout":"none"}`)
		c.Event("b", 39, "audioMute", `{}`)
		c.Event("a", 40, "playoutChange", `{"ssrc":101,"playout":"none"}`)
		c.Event("a", 60, "playoutChange", `{"ssrc":101,"playout":"playing"}`)
		c.Event("b", 61, "audioUnmute", `{}`)
	})
	require.Empty(t, issues(s))
}
