package explain

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// lastDate is the end of the year 9999, in seconds.
const lastDate = 253402300799

// times looks at iat, nbf and exp, all relative to now.
func (r *Report) times(claims members, now time.Time) {
	r.line("now", "%s", now.UTC().Format(time.RFC3339))
	issued := r.date(claims, "iat", now)
	start := r.date(claims, "nbf", now)
	end := r.date(claims, "exp", now)
	if issued != nil && issued.After(now.Add(leeway)) {
		r.refuse("iat lies in the future: the agent's clock is ahead by %s", distance(issued.Sub(now)))
	}
	if start != nil && start.After(now.Add(leeway)) {
		r.refuse("nbf: it is not good before %s from now", distance(start.Sub(now)))
	}
	switch {
	case claims["exp"] == nil:
		r.Advice = append(r.Advice, "without exp the token never ends; 5 to 10 minutes are recommended")
	case end == nil:
	case !end.After(now.Add(-leeway)):
		r.refuse("exp: it ended %s ago", distance(now.Sub(*end)))
	case issued != nil && end.Sub(*issued) > 10*time.Minute:
		r.Advice = append(r.Advice, fmt.Sprintf("it is good for %s; 5 to 10 minutes are recommended", distance(end.Sub(*issued))))
	}
	if claims["iat"] == nil {
		r.Advice = append(r.Advice, "without iat a revocation of earlier tokens hits it at any age")
	}
}

// date reads a NumericDate (RFC 7519, 2); nil where there is none.
func (r *Report) date(claims members, name string, now time.Time) *time.Time {
	raw := claims[name]
	if raw == nil {
		r.line(name, "none")
		return nil
	}
	var seconds float64
	if err := json.Unmarshal(raw, &seconds); err != nil || raw[0] < '0' || raw[0] > '9' || seconds > lastDate {
		r.line(name, "%s", claims.show(name))
		r.refuse("%s is no time: a number of seconds since 1970 is needed", name)
		return nil
	}
	at := time.UnixMilli(int64(math.Floor(seconds * 1000)))
	r.line(name, "%s  (%s)", at.UTC().Format(time.RFC3339), relative(at.Sub(now)))
	return &at
}

func relative(offset time.Duration) string {
	switch {
	case offset > 0:
		return "in " + distance(offset)
	case offset < 0:
		return distance(-offset) + " ago"
	default:
		return "now"
	}
}

func distance(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	return d.Round(time.Second).String()
}
