package digest

import (
	"slices"

	"github.com/qosrtc/qos/internal/conference"
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
	Site               string  // of a participant, as the next three
	ApplicationVersion string
	Browser            string // family
	BrowserVersion     string // major, of the same participant as Browser
}

// FailedOutcomes are the outcomes of conferences that failed: those of which webhooks notify.
var FailedOutcomes = []string{string(conference.OutcomeTotallyFailed), string(conference.OutcomePartiallyFailed), string(conference.OutcomeDropped)}

// Failed reports whether an outcome is one of FailedOutcomes.
func Failed(outcome string) bool { return slices.Contains(FailedOutcomes, outcome) }

// Match reports whether the filter selects a conference.
func (f *Filter) Match(d *Digest) bool {
	return f.matchResult(d) && f.matchCounts(d) && f.matchMember(d)
}

func (f *Filter) matchResult(d *Digest) bool {
	switch {
	case f.Failed && !Failed(d.Outcome),
		f.Outcome != "" && f.Outcome != d.Outcome,
		f.Label != "" && f.Label != d.Label,
		f.Cause != "" && f.Cause != d.Cause,
		f.MinMOS > 0 && d.MOS < f.MinMOS,
		f.MaxMOS > 0 && (d.MOS == 0 || d.MOS > f.MaxMOS),
		f.MinSetupMs > 0 && (len(d.SetupMs) == 0 || d.SetupMs[len(d.SetupMs)-1] < f.MinSetupMs),
		f.AboveRTTMs > 0 && d.RTTMs <= f.AboveRTTMs,
		f.AboveLoss > 0 && d.LossFraction <= f.AboveLoss,
		f.MaxRating > 0 && (d.WorstRating == 0 || d.WorstRating > f.MaxRating):
		return false
	}
	return true
}

func (f *Filter) matchCounts(d *Digest) bool {
	return (f.Function == "" || has(d.Errors, f.Function)) && (f.Issue == "" || has(d.Issues, f.Issue))
}

func has(counts []Count, name string) bool {
	return slices.ContainsFunc(counts, func(c Count) bool { return c.Name == name })
}

func (f *Filter) matchMember(d *Digest) bool {
	someone := func(match func(m *Member) bool) bool {
		for i := range d.Members {
			if match(&d.Members[i]) {
				return true
			}
		}
		return false
	}
	return (f.Site == "" || someone(func(m *Member) bool { return m.SiteID == f.Site })) &&
		(f.ApplicationVersion == "" || someone(func(m *Member) bool { return m.ApplicationVersion == f.ApplicationVersion })) &&
		(f.Browser == "" && f.BrowserVersion == "" || someone(func(m *Member) bool {
			return (f.Browser == "" || m.Browser == f.Browser) && (f.BrowserVersion == "" || m.BrowserVersion == f.BrowserVersion)
		}))
}
