package live_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
)

// outcomeOf returns the outcome of a conference of the records that lines name, as the
// scenarios write them.
func outcomeOf(t *testing.T, lines ...string) conference.Outcome {
	t.Helper()
	s := newScenario(t)
	for _, line := range lines {
		s.line(strings.Fields(line))
	}
	s.advance(s.now + 40_000)
	require.Len(t, s.out, 1)
	return s.out[0].Outcome
}

// Records of which the conferences of these tests consist.
const (
	added       = "0 alice fabricAdded"
	described   = "1 alice remoteDescriptionSet"
	up          = "2 alice fabricSetup setupMs=900"
	iceFailed   = "15 alice fabricSetupFailed stage=connectivity reason=failed"
	gaveUp      = "20 alice fabricSetupFailed stage=connectivity reason=terminated"
	hungUp      = "20 alice fabricTerminated"
	also        = "0 alice fabricAdded fabric=2"
	alsoUp      = "2 alice fabricSetup setupMs=900 fabric=2"
	alsoHungUp  = "20 alice fabricTerminated fabric=2"
	unanswered  = "20 alice fabricSetupFailed stage=noRemoteDescription reason=terminated"
	noCandidate = "5 alice error addIceCandidate"
	noOffer     = "5 alice error createOffer"
)

// TestOutcome: each outcome from what it needs and nothing else.
//
// spec: CONF-05
func TestOutcome(t *testing.T) {
	f := func(name string, want conference.Outcome, lines ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			require.Equal(t, want, outcomeOf(t, lines...))
		})
	}
	f("missed", conference.OutcomeMissed, added, unanswered)
	f("missed in silence", conference.OutcomeMissed, added)
	f("missed by both", conference.OutcomeMissed, added, "1 bob fabricAdded", unanswered)
	f("a log is no failure", conference.OutcomeMissed, added, "5 alice log", unanswered)
	f("failed by ICE", conference.OutcomeTotallyFailed, added, described, iceFailed, hungUp)
	f("failed by ICE, then given up", conference.OutcomeTotallyFailed, added, described, iceFailed, gaveUp)
	f("failed by ICE, the description lost on the way", conference.OutcomeTotallyFailed, added, iceFailed, hungUp)
	f("failed by report", conference.OutcomeTotallyFailed, added, described, "5 alice error addIceCandidate", gaveUp)
	f("failed by report of the other", conference.OutcomeTotallyFailed, added, "1 bob fabricAdded", "5 bob error createAnswer", unanswered)
	f("failed by report of who has no fabric", conference.OutcomeTotallyFailed, added, "5 bob error getUserMedia fabric=0", unanswered)
	f("an attempt without fabric", conference.OutcomeTotallyFailed, "0 alice error getUserMedia fabric=0")
	f("aborted", conference.OutcomeAborted, added, described, gaveUp)
	f("aborted in silence", conference.OutcomeAborted, added, described)
	f("aborted, the description lost on the way", conference.OutcomeAborted, added, gaveUp)
	f("dropped in silence", conference.OutcomeDropped, added, described, up)
	f("dropped by ICE", conference.OutcomeDropped, added, described, up, "9 alice iceDisruptionStart", "20 alice fabricTerminated reason=closed")
	f("partially failed", conference.OutcomePartiallyFailed, added, described, up, also, hungUp, alsoHungUp)
	f("success", conference.OutcomeSuccess, added, described, up, hungUp)
	f("success in spite of errors", conference.OutcomeSuccess, added, noOffer, described, up, hungUp)
}

// TestOutcomeOrder: of two neighbours in the order of the rules the first that fits is the
// outcome. Where no conference fits both, the pair differs in one record.
//
// spec: CONF-05
func TestOutcomeOrder(t *testing.T) {
	f := func(name string, want conference.Outcome, lines ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			require.Equal(t, want, outcomeOf(t, lines...))
		})
	}
	// A reported failure that is none of the setup: both rules fit.
	f("missed before totally failed", conference.OutcomeMissed, added, noCandidate, unanswered)
	f("totally failed, not missed", conference.OutcomeTotallyFailed, added, noCandidate, noOffer, unanswered)
	// Nobody connected and all left: both rules fit.
	f("totally failed before aborted", conference.OutcomeTotallyFailed, added, described, noOffer, gaveUp)
	f("aborted, not totally failed", conference.OutcomeAborted, added, described, gaveUp)
	// All were lost to silence: dropped needs a connection.
	f("aborted before dropped", conference.OutcomeAborted, added, described, "9 alice audioMute")
	f("dropped, not aborted", conference.OutcomeDropped, added, described, "9 alice audioMute", up)
	// All were lost to silence, and one fabric of two never connected: both rules fit.
	f("dropped before partially failed", conference.OutcomeDropped, added, described, up, also)
	f("partially failed, not dropped", conference.OutcomePartiallyFailed, added, described, up, also, hungUp)
	// All values that they left: success needs each fabric connected.
	f("partially failed before success", conference.OutcomePartiallyFailed, added, described, up, also, hungUp, alsoHungUp)
	f("success, not partially failed", conference.OutcomeSuccess, added, described, up, also, alsoUp, hungUp, alsoHungUp)
}

// TestOutcomeOfMerged: an ICE failure counts in whichever half of a conference it was, before
// late data made the halves one.
//
// spec: CONF-02, CONF-05
func TestOutcomeOfMerged(t *testing.T) {
	for _, halves := range [][2]string{{"failed", "terminated"}, {"terminated", "failed"}} {
		s := newScenario(t)
		for _, line := range []string{
			added, described, "15 alice fabricSetupFailed stage=connectivity reason=" + halves[0],
			"60 alice fabricSetupFailed stage=connectivity reason=" + halves[1], "62 alice audioMute at=40",
		} {
			s.line(strings.Fields(line))
		}
		s.advance(s.now + 40_000)
		require.Equal(t, conference.OutcomeTotallyFailed, s.out[len(s.out)-1].Outcome, halves)
		require.Equal(t, int64(60_000), s.out[len(s.out)-1].DurationMs, "of both")
	}
}

// TestOutcomeOfReportedFunctions: which failures explain that there is no remote description.
//
// spec: CONF-05, API-01
func TestOutcomeOfReportedFunctions(t *testing.T) {
	for function, want := range map[string]conference.Outcome{
		"getUserMedia":         conference.OutcomeTotallyFailed,
		"createOffer":          conference.OutcomeTotallyFailed,
		"createAnswer":         conference.OutcomeTotallyFailed,
		"setLocalDescription":  conference.OutcomeTotallyFailed,
		"setRemoteDescription": conference.OutcomeTotallyFailed,
		"signalingError":       conference.OutcomeTotallyFailed,
		"iceConnectionFailure": conference.OutcomeTotallyFailed,
		"addIceCandidate":      conference.OutcomeMissed,
		"createoffer":          conference.OutcomeMissed,
	} {
		t.Run(function, func(t *testing.T) {
			require.Equal(t, want, outcomeOf(t, added, "5 alice error "+function, unanswered))
			require.Equal(t, conference.OutcomeTotallyFailed, outcomeOf(t, added, described, "5 alice error "+function, gaveUp), "described")
			if function == "createoffer" {
				return // none of the interface's: without a fabric it is no attempt
			}
			require.Equal(t, conference.OutcomeTotallyFailed, outcomeOf(t, "0 alice error "+function+" fabric=0"), "no fabric")
		})
	}
}
