package digest

import (
	"slices"

	"github.com/qosrtc/qos/internal/call/conference"
)

// Filter selects conferences by their digests. Zero values do not narrow, all others together do. Texts are exact.
type Filter struct {
	Failed             bool   // an outcome of FailedOutcomes
	Outcome            string // one of conference.Outcomes
	Label              string // of the score
	Cause              string
	MinMOS, MaxMOS     float64 // conferences with a score in this range, both ends included
	MinSetupMs         int64   // conferences whose longest setup delay is at least this
	AboveRTTMs         float64 // conferences whose highest median round-trip time is above this
	AboveLoss          float64 // conferences of which a stream lost more than this fraction
	MaxRating          int     // conferences whose lowest rating is at most this, 1 to 5
	Function           string  // of a reported error
	Issue              string  // kind of an issue
	SiteID             string  // of a participant, as the next three
	ApplicationVersion string
	Browser            string // family
	BrowserVersion     string // major, of the same participant as Browser
}

// FailedOutcomes are the outcomes of conferences that failed: those of which webhooks notify.
var FailedOutcomes = []string{string(conference.OutcomeTotallyFailed), string(conference.OutcomePartiallyFailed), string(conference.OutcomeDropped)}

// Failed reports whether an outcome is one of FailedOutcomes.
func Failed(outcome string) bool { return slices.Contains(FailedOutcomes, outcome) }
