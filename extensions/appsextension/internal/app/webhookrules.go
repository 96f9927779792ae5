package app

import (
	"github.com/qosrtc/qos/internal/notice"
)

// webhookRules reads the rules of an app's webhooks; nil where they are absent.
func (o object) webhookRules(name string) *notice.Override {
	rules, ok := o.object(name, append([]string{"reasons"}, times...)...)
	if !ok {
		return nil
	}
	out := &notice.Override{Times: rules.times(), Reasons: map[notice.Reason]notice.RuleOverride{}}
	var known []string
	for _, reason := range notice.Reasons {
		known = append(known, string(reason))
	}
	reasons, _ := rules.object("reasons", known...)
	for _, reason := range notice.Reasons {
		rule, ok := reasons.object(string(reason), append([]string{"threshold", "minSamples", "limit", "interval", "individual"}, times...)...)
		if !ok {
			continue
		}
		out.Reasons[reason] = notice.RuleOverride{
			Times: rule.times(), Threshold: optional[float64](rule, "threshold", "be a number"), MinSamples: optional[int](rule, "minSamples", "be a whole number"),
			Limit: optional[float64](rule, "limit", "be a number"), Interval: optional[bool](rule, "interval", "be true or false"),
			Individual: optional[bool](rule, "individual", "be true or false"),
		}
	}
	if fault := out.Check(); fault != nil && o.Fault() == nil {
		o.Refuse(name+"."+fault.Field, fault.Limit, fault.Got)
	}
	return out
}

// times are the members of notice.Times.
var times = []string{"windowMs", "holdDownMs", "recoveryMs"} //nolint:gochecknoglobals // a constant

func (o object) times() notice.Times {
	const limit = "be a whole number of ms"
	return notice.Times{
		WindowMs: optional[int64](o, "windowMs", limit), HoldDownMs: optional[int64](o, "holdDownMs", limit), RecoveryMs: optional[int64](o, "recoveryMs", limit),
	}
}

// optional reads a member; nil where it is absent.
func optional[T any](o object, name, limit string) *T {
	var v T
	if !o.Value(name, limit, &v) {
		return nil
	}
	return &v
}
