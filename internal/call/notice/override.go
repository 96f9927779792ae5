package notice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Override is the part of the rules of an app that differs from a base. Absent (nil) members have the
// value of the base.
type Override struct {
	Times // of all reasons without their own

	Reasons map[Reason]RuleOverride `json:"reasons,omitempty"`
}

// Times are the times of rules in ms.
type Times struct {
	WindowMs   *int64 `json:"windowMs,omitempty"`
	HoldDownMs *int64 `json:"holdDownMs,omitempty"`
	RecoveryMs *int64 `json:"recoveryMs,omitempty"`
}

// RuleOverride is the part of one rule that differs from the base.
type RuleOverride struct {
	Times

	Threshold  *float64 `json:"threshold,omitempty"`
	MinSamples *int     `json:"minSamples,omitempty"`
	Limit      *float64 `json:"limit,omitempty"`
	Interval   *bool    `json:"interval,omitempty"`
	Individual *bool    `json:"individual,omitempty"`
}

// Over returns base with the members of o that are not nil; o may be nil.
func (o *Override) Over(base Rules) Rules {
	if o == nil {
		return base
	}
	for i := range base {
		o.apply(&base[i])
		one := o.Reasons[Reasons[i]]
		one.apply(&base[i])
		setValue(&base[i].Threshold, one.Threshold)
		setValue(&base[i].MinSamples, one.MinSamples)
		setValue(&base[i].Limit, one.Limit)
		setValue(&base[i].Interval, one.Interval)
		setValue(&base[i].Individual, one.Individual)
	}
	return base
}

func (t *Times) apply(r *Rule) {
	setMs(&r.Window, t.WindowMs)
	setMs(&r.HoldDown, t.HoldDownMs)
	setMs(&r.Recovery, t.RecoveryMs)
}

func setValue[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}

func setMs(into *time.Duration, ms *int64) {
	if ms != nil {
		*into = time.Duration(*ms) * time.Millisecond
	}
}

// Bounds of rules.
const (
	MinWindow     = time.Minute
	MaxWindow     = 24 * time.Hour
	MaxHoldDown   = 7 * 24 * time.Hour // of the recovery too
	MaxMinSamples = 1_000_000
)

// limits are the bounds of the limit of each measure. Reasons of outcomes have no limit.
var limits = map[Reason][2]float64{
	HighSetupDelays: {0, 1e6}, HighRoundTripTime: {0, 1e6}, HighPacketLoss: {0, 1}, LowQuality: {1, 5}, DissatisfactoryUserFeedback: {1, 5},
}

// HasLimit reports whether a rule of the reason has a limit.
func (r Reason) HasLimit() bool { _, has := limits[r]; return has }

// Fault is a member of an override that is out of its bounds.
type Fault struct {
	Field string // its path: reasons.lowQuality.limit
	Limit string // what it must do: "be 1 to 5"
	Got   string
}

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprintf("%s must %s (got %s)", f.Field, f.Limit, f.Got) }

// Check returns the first member that is out of its bounds, or nil.
func (o *Override) Check() *Fault {
	fault := o.checkTimes("")
	for _, reason := range slices.Sorted(maps.Keys(o.Reasons)) {
		if reason.index() < 0 {
			return cmp.Or(fault, &Fault{"reasons." + clip(string(reason)), "be left out: known here are " + names(), "a rule"})
		}
		one := o.Reasons[reason]
		fault = cmp.Or(fault, one.check("reasons."+string(reason)+".", reason))
	}
	return fault
}

func (r *RuleOverride) check(at string, reason Reason) *Fault {
	fault := r.checkTimes(at)
	bounds := limits[reason]
	switch limit := value(r.Limit, bounds[0]); {
	case r.Limit != nil && !reason.HasLimit():
		fault = cmp.Or(fault, &Fault{at + "limit", "be left out: an outcome has no limit", number(limit)})
	case !(limit >= bounds[0] && limit <= bounds[1]):
		fault = cmp.Or(fault, &Fault{at + "limit", fmt.Sprintf("be %s to %s", number(bounds[0]), number(bounds[1])), number(limit)})
	}
	if threshold := value(r.Threshold, 0); !(threshold >= 0 && threshold < 1) {
		fault = cmp.Or(fault, &Fault{at + "threshold", "be at least 0 and below 1", number(threshold)})
	}
	if n := value(r.MinSamples, 1); n < 1 || n > MaxMinSamples {
		fault = cmp.Or(fault, &Fault{at + "minSamples", fmt.Sprintf("be 1 to %d", MaxMinSamples), strconv.Itoa(n)})
	}
	return fault
}

func (t *Times) checkTimes(at string) (fault *Fault) {
	for _, one := range []struct {
		name      string
		ms        *int64
		low, high time.Duration
	}{{"windowMs", t.WindowMs, MinWindow, MaxWindow}, {"holdDownMs", t.HoldDownMs, 0, MaxHoldDown}, {"recoveryMs", t.RecoveryMs, 0, MaxHoldDown}} {
		if ms := value(one.ms, one.low.Milliseconds()); ms < one.low.Milliseconds() || ms > one.high.Milliseconds() {
			fault = cmp.Or(fault, &Fault{at + one.name, fmt.Sprintf("be %d to %d ms", one.low.Milliseconds(), one.high.Milliseconds()), strconv.FormatInt(ms, 10)})
		}
	}
	return fault
}

func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func clip(text string) string { return strings.ToValidUTF8(text[:min(len(text), 100)], "") }

func names() string {
	var out []string
	for _, r := range Reasons {
		out = append(out, string(r))
	}
	return strings.Join(out, ", ")
}
