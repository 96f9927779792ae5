package cause

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/detect"
)

// expectations are issues, as "kind user media direction" as far as they are given, that a
// recorded call must have and must not have. Traces are named by patterns (path.Match).
var expectations = []struct {
	trace       string
	must, never []string
}{
	// Nothing was done to these, or what is no fault. A machine that was busy while it
	// recorded makes gaps and freezes of its own.
	{trace: "good-*", never: faults},
	{trace: "good-direct", never: []string{"highPacketLoss", "highRoundTripTime"}},
	{trace: "muted*", never: faults},
	{trace: "held", never: faults},
	{trace: "paused*", never: faults},
	{trace: "microphone-off-unsaid", never: faults},
	{trace: "senders-emptied*", never: faults},
	{trace: "camera-disabled*", never: faults},
	{trace: "camera-stopped", never: faults},
	{trace: "encoding-off", never: faults},
	{trace: "framerate-limited", never: faults},
	{trace: "bitrate-limited", never: faults},
	{trace: "sound-not-played", must: []string{"notPlayed ada audio inbound"}, never: append([]string{"notPlayed ben"}, faults...)},
	{trace: "little-loss-and-jitter", never: faults},
	{trace: "dtx-muted", never: faults},
	{trace: "tab-closed-mesh", never: faults},
	{trace: "ice-restarted", never: faults},

	{trace: "pair-up-loss-15", must: []string{"highPacketLoss ben audio inbound", "highPacketLoss ben video inbound"}, never: []string{"highPacketLoss ada"}},
	{trace: "pair-down-loss-15", must: []string{"highPacketLoss ada audio inbound", "concealedAudio ada"}, never: []string{"highPacketLoss ben"}},
	{trace: "pair-firefox-loss", must: []string{"highPacketLoss ben audio inbound"}},
	{trace: "pair-both-delay", must: []string{"highRoundTripTime ada", "highRoundTripTime ben"}, never: []string{"highPacketLoss"}},
	{trace: "pair-down-jitter", must: []string{"highJitter ada"}, never: []string{"highJitter ben"}},
	{trace: "pair-up-cap", must: []string{"bandwidthLimited ada video outbound"}, never: []string{"bandwidthLimited ben"}},
	{trace: "pair-wifi-up", must: []string{"weakWiFi ada"}, never: []string{"weakWiFi ben"}},
	{trace: "mesh-up-loss-a", must: []string{"highPacketLoss ben", "highPacketLoss cyd"}, never: []string{"highPacketLoss ada"}},
	{trace: "mesh-down-loss-a", must: []string{"highPacketLoss ada"}, never: []string{"highPacketLoss ben", "highPacketLoss cyd"}},
	{trace: "camera-2fps", must: []string{"lowFrameRate ada video outbound", "lowFrameRate ben video inbound"}, never: []string{"frozenVideo ada"}},
	{trace: "camera-unplugged", must: []string{"oneWayMedia ben video inbound", "noMedia ada video outbound"}, never: []string{"oneWayMedia ben audio"}},
	{trace: "camera-unplugged-server", must: []string{"noMedia ben video outbound"}, never: []string{"noMedia ada", "noMedia cyd", "noMedia ben audio", "oneWayMedia"}},
	{trace: "camera-unplugged-firefox", must: []string{"frozenVideo ben video inbound"}, never: []string{"oneWayMedia ben audio"}}, // Firefox goes on with black pictures
	{trace: "camera-unplugged-mesh", must: []string{"oneWayMedia ada video inbound", "oneWayMedia cyd video inbound"}, never: []string{"oneWayMedia ada audio"}},
	{trace: "server-stops*", never: []string{"noMedia ada video outbound", "noMedia ben video outbound", "noMedia cyd video outbound"}}, // they send
	{trace: "camera-4fps-mesh", must: []string{"lowFrameRate cyd video outbound", "lowFrameRate ada video inbound"}, never: []string{"lowFrameRate ada video outbound"}},
	{trace: "microphone-silent-mesh", must: []string{"silentMicrophone ben audio outbound"}, never: []string{"silentMicrophone ada", "silentMicrophone cyd"}},
	{trace: "microphone-silent", must: []string{"silentMicrophone ada audio outbound"}, never: []string{"silentMicrophone ben"}},
	{trace: "microphone-unplugged", must: []string{"noMedia ben audio outbound", "oneWayMedia ada audio inbound"}, never: []string{"noMedia ada", "oneWayMedia ben"}},
	{trace: "pair-up-jitter", must: []string{"highJitter ben video inbound"}, never: []string{"highJitter ada", "highPacketLoss"}},
	{trace: "mesh-up-cap-a", must: []string{"bandwidthLimited ada video outbound"}, never: []string{"bandwidthLimited ben", "bandwidthLimited cyd"}},
	{trace: "sound-paused", must: []string{"notPlayed ben audio inbound"}, never: append([]string{"notPlayed ada"}, faults...)},
	{trace: "ice-cut", must: []string{"iceDisruption ada", "iceDisruption ben"}, never: []string{"oneWayMedia", "noMedia"}},
	{trace: "ice-cut-back", must: []string{"lossBurst ada audio", "lossBurst ben audio"}, never: []string{"iceDisruption", "noMedia"}}, // 2 and 3 s, as ICE tells it
	{trace: "ice-cut-mesh", must: []string{"iceDisruption ben"}},
	{trace: "ice-cut-server", must: []string{"iceDisruption cyd"}, never: []string{"iceDisruption ada", "iceDisruption ben"}},
}

// faults are what no call has to which nothing was done.
var faults = []string{
	string(detect.NoMedia), string(detect.OneWayMedia), string(detect.ICEDisruption), string(detect.SilentMicrophone),
	string(detect.BandwidthLimited), string(detect.KeyFrameStorm), string(detect.WeakWiFi), string(detect.DroppedFrames),
}

// TestIssuesOfRecordedCalls holds detectors to what was done to real calls.
//
// spec: CONF-03, QUAL-01
func TestIssuesOfRecordedCalls(t *testing.T) {
	checked := 0
	for _, trace := range traces(t, "testdata") {
		for _, want := range expectations {
			fits, err := path.Match(want.trace, trace.Name)
			require.NoError(t, err)
			if !fits {
				continue
			}
			checked++
			t.Run(trace.Name, func(t *testing.T) {
				found := issuesOf(replay(t, trace))
				for _, issue := range want.must {
					require.True(t, has(found, issue), "%s in %q", issue, found)
				}
				for _, issue := range want.never {
					require.False(t, has(found, issue), "%s in %q", issue, found)
				}
			})
		}
	}
	require.GreaterOrEqual(t, checked, len(expectations), "each has its traces")
}

// TestNothingIsMissedThatIsThere: where no device failed and no application took tracks away
// nobody is reported to send nothing, in any call that was recorded.
//
// spec: CONF-03
func TestNothingIsMissedThatIsThere(t *testing.T) {
	for _, dir := range []string{"testdata", "testdata/fresh", "testdata/second"} {
		calls := 0
		for _, trace := range traces(t, dir) {
			if c := trace.Label.Cause; c == "sendingCapture" || c == "application" {
				continue
			}
			calls++
			for _, found := range issuesOf(replay(t, trace)) {
				require.False(t, strings.HasPrefix(found, "silentMicrophone") || strings.HasSuffix(found, "video outbound") && strings.HasPrefix(found, "noMedia"),
					"%s of %s: %s", found, trace.Name, trace.Label.Did)
			}
		}
		require.Greater(t, calls, 20, dir)
	}
}

func has(found []string, issue string) bool {
	return slices.ContainsFunc(found, func(have string) bool { return have == issue || strings.HasPrefix(have, issue+" ") })
}

func issuesOf(s conference.Summary) (found []string) {
	for _, i := range s.Issues {
		found = append(found, strings.Join([]string{i.Kind, i.UserID, i.MediaType, i.Direction}, " "))
	}
	return found
}
