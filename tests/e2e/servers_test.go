package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/mediaserver"
	"github.com/qosrtc/qos/tests/scenario"
)

// TestCallsThroughLiveKit makes calls through LiveKit's server, to whose rooms pages attach the library with one line.
//
// spec: SDK-01, CONF-03
func TestCallsThroughLiveKit(t *testing.T) {
	browser.Require(t, browser.Chromium)
	server := scenario.LiveKit{LiveKit: mediaserver.StartLiveKit(t)}
	callsThrough(t, testenv.Pick(scenario.Served(server), slices.Concat(scenario.ServedFurther(server), scenario.ServedByLiveKit(server))))
}

// TestCallsThroughJanus makes calls through Janus's VideoRoom, to whose handles pages attach the library with one line.
//
// spec: SDK-01, CONF-03
func TestCallsThroughJanus(t *testing.T) {
	browser.Require(t, browser.Chromium)
	server := scenario.Janus{Janus: mediaserver.StartJanus(t)}
	callsThrough(t, testenv.Pick(scenario.Served(server), scenario.ServedFurther(server)))
}

// callsThrough makes calls one after the other: three browsers that encode are enough for a machine.
func callsThrough(t *testing.T, calls []scenario.Scenario) {
	t.Helper()
	s := newCauseStage(t)
	s.start()
	b := browser.Start(t, browser.Chromium)
	for _, one := range calls {
		t.Run(one.Name, func(t *testing.T) {
			pressure := scenario.MeasurePressure(t)
			found := s.checks(t, &one, b, scenario.Full)
			ownersAreNamed(t, &one, &found)
			if pressure() > busyShare {
				t.Log("the machine was busy: the cause is not compared with the label")
				return
			}
			likely := found.LikelyCause
			require.Contains(t, append([]string{one.Label.Cause}, one.Label.Also...), string(likely.Cause), "%s: %+v", one.Label.Did, likely)
			require.Subset(t, one.Label.Users, accused(found))
			for _, p := range found.Participants {
				if one.Label.Cause == "none" {
					require.Greater(t, *p.AudioMOSIn, 4.0, "the sound that %s received", p.Alias)
				}
			}
			if one.Label.Cause == "none" {
				require.Empty(t, found.Issues)
			}
		})
	}
	require.Empty(t, b.ScriptErrors())
}

// busyShare of the time in which some task waits for a processor impairs a call of three browsers.
const busyShare = 0.25

// ownersAreNamed compares the owners and the labels of all received streams with who sent them.
func ownersAreNamed(t *testing.T, one *scenario.Scenario, s *conference.Summary) {
	t.Helper()
	for _, p := range s.Participants {
		var want, got []string
		for _, user := range slices.Concat(one.Users, one.Guests) {
			if user != p.Alias && !slices.Contains(one.Viewers, user) {
				want = append(want, user+" camera", user+" microphone")
			}
		}
		for _, f := range p.Fabrics {
			for _, received := range f.Streams {
				if received.StatsType == "inbound-rtp" {
					got = append(got, received.UserID+" "+received.UsageLabel)
				}
			}
		}
		slices.Sort(got)
		require.Equal(t, want, got, "received by %s", p.Alias)
	}
}
