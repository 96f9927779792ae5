package notice

import (
	"slices"
	"time"
)

// Reason names a notification (docs/webhooks.md has the formulas).
type Reason string

// The reasons.
const (
	FailedConferences           Reason = "failedConferences"
	PartiallyFailedConferences  Reason = "partiallyFailedConferences"
	DroppedConferences          Reason = "droppedConferences"
	HighSetupDelays             Reason = "highSetupDelays"
	HighRoundTripTime           Reason = "highRoundTripTime"
	HighPacketLoss              Reason = "highPacketLoss"
	LowQuality                  Reason = "lowQuality"
	DissatisfactoryUserFeedback Reason = "dissatisfactoryUserFeedback"
	PreCallFailures             Reason = "preCallFailures"
)

// Test is the reason of a test notification, which a client of the management API requests.
const Test Reason = "test"

const reasons = 9

// Reasons lists all reasons with a rule.
var Reasons = [reasons]Reason{
	FailedConferences, PartiallyFailedConferences, DroppedConferences, HighSetupDelays,
	HighRoundTripTime, HighPacketLoss, LowQuality, DissatisfactoryUserFeedback,
	PreCallFailures,
}

// index returns the position of r in Reasons, -1 for others.
func (r Reason) index() int { return slices.Index(Reasons[:], r) }

// Rule is the condition of one reason of one app.
type Rule struct {
	Threshold  float64       // share of the window, 0 to 1, above which a notification is sent
	MinSamples int           // least number of samples in the window for a notification
	Limit      float64       // of the measure: ms, share, MOS or rating; 0 for outcomes
	Window     time.Duration // of event time that is counted
	HoldDown   time.Duration // the shortest time between two notifications
	Recovery   time.Duration // time for which the share has to be at most the threshold to count as recovered
	Interval   bool          // whether the window notifies
	Individual bool          // whether each single conference or feedback notifies
}

// Rules are the conditions of one app, in the order of Reasons.
type Rules [reasons]Rule

// Of returns the rule of a reason.
func (r *Rules) Of(reason Reason) Rule { return r[reason.index()] }

// CountsAs reports whether windows by r have the same tallies as windows by other.
func (r *Rules) CountsAs(other *Rules) bool {
	for i := range r {
		a, b := &r[i], &other[i]
		if a.Window != b.Window || a.Limit != b.Limit || a.Interval != b.Interval {
			return false
		}
	}
	return true
}

// Reach returns the length of the longest window, with its current part.
func (r *Rules) Reach() (longest time.Duration) {
	for i := range r {
		longest = max(longest, r[i].Window+max(r[i].Window/buckets, time.Second))
	}
	return longest
}

// DefaultRules returns the conditions of apps without their own.
func DefaultRules() Rules {
	var r Rules
	for i, rule := range map[Reason]Rule{
		FailedConferences:           {Threshold: 0.05, Individual: true},
		PartiallyFailedConferences:  {Threshold: 0.1},
		DroppedConferences:          {Threshold: 0.05},
		HighSetupDelays:             {Threshold: 0.1, Limit: 5000},
		HighRoundTripTime:           {Threshold: 0.1, Limit: 300},
		HighPacketLoss:              {Threshold: 0.1, Limit: 0.05},
		LowQuality:                  {Threshold: 0.1, Limit: 3.2},
		DissatisfactoryUserFeedback: {Threshold: 0.2, Limit: 2, Individual: true},
		PreCallFailures:             {Threshold: 0.2},
	} {
		rule.MinSamples, rule.Interval = 20, true
		rule.Window, rule.HoldDown, rule.Recovery = time.Hour, 15*time.Minute, 5*time.Minute
		r[i.index()] = rule
	}
	return r
}
