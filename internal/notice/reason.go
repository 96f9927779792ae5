package notice

import (
	"errors"
	"fmt"
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
)

// Test is the reason of a notification that the management API asks for.
const Test Reason = "test"

const reasons = 8

// Reasons lists all reasons that rules have.
//
//nolint:gochecknoglobals // a constant
var Reasons = [reasons]Reason{
	FailedConferences, PartiallyFailedConferences, DroppedConferences, HighSetupDelays,
	HighRoundTripTime, HighPacketLoss, LowQuality, DissatisfactoryUserFeedback,
}

// index returns the position of r in Reasons, -1 for others.
func (r Reason) index() int { return slices.Index(Reasons[:], r) }

// Rule is the condition of one reason.
type Rule struct {
	Threshold  float64 // share of the window, 0 to 1, above which a notification leaves
	MinSamples int     // of the window, below which none leaves
	Limit      float64 // of the measure: ms, share, MOS or rating; 0 for outcomes
	Interval   bool    // whether the window notifies
	Individual bool    // whether each single conference or feedback notifies
}

// Rules are the conditions of one app.
type Rules struct {
	Window   time.Duration // of event time that is counted
	HoldDown time.Duration // the shortest time between two notifications of one reason
	Recovery time.Duration // how long the share stays at most at the threshold before it counts as recovered
	Reasons  [reasons]Rule // in the order of Reasons
}

// Of returns the rule of a reason.
func (r *Rules) Of(reason Reason) Rule { return r.Reasons[reason.index()] }

// DefaultRules returns the conditions of apps without their own.
func DefaultRules() Rules {
	r := Rules{Window: time.Hour, HoldDown: 15 * time.Minute, Recovery: 5 * time.Minute}
	for i, rule := range map[Reason]Rule{
		FailedConferences:           {Threshold: 0.05, Individual: true},
		PartiallyFailedConferences:  {Threshold: 0.1},
		DroppedConferences:          {Threshold: 0.05},
		HighSetupDelays:             {Threshold: 0.1, Limit: 5000},
		HighRoundTripTime:           {Threshold: 0.1, Limit: 300},
		HighPacketLoss:              {Threshold: 0.1, Limit: 0.05},
		LowQuality:                  {Threshold: 0.1, Limit: 3.2},
		DissatisfactoryUserFeedback: {Threshold: 0.2, Limit: 2, Individual: true},
	} {
		rule.MinSamples, rule.Interval = 20, true
		r.Reasons[i.index()] = rule
	}
	return r
}

// Bounds of rules.
const (
	MinWindow = time.Minute
	MaxWindow = 24 * time.Hour
)

// Validate reports every fault of the rules.
func (r *Rules) Validate() error {
	var errs []error
	if r.Window < MinWindow || r.Window > MaxWindow {
		errs = append(errs, fmt.Errorf("window must be from %s to %s (got %s)", MinWindow, MaxWindow, r.Window))
	}
	if r.HoldDown < 0 || r.Recovery < 0 {
		errs = append(errs, fmt.Errorf("hold_down and recovery must not be negative (got %s and %s)", r.HoldDown, r.Recovery))
	}
	for i, rule := range r.Reasons {
		errs = append(errs, rule.validate(Reasons[i]))
	}
	return errors.Join(errs...)
}

func (r Rule) validate(reason Reason) error {
	switch {
	case !(r.Threshold >= 0 && r.Threshold < 1):
		return fmt.Errorf("%s.threshold must be at least 0 and below 1 (got %g)", reason, r.Threshold)
	case r.MinSamples < 1:
		return fmt.Errorf("%s.min_samples must be positive (got %d)", reason, r.MinSamples)
	case !(r.Limit >= 0):
		return fmt.Errorf("%s.limit must not be negative (got %g)", reason, r.Limit)
	}
	return nil
}
