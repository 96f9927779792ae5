package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// lastDate is the end of the year 9999, in seconds.
const lastDate = 253402300799

// members are those of one JSON object, each as it is written.
type members map[string]json.RawMessage

// readMembers reads a part of a token. A member that is there twice is refused: two readers may take different ones.
func readMembers(part string) (members, error) {
	raw, err := decode(part)
	if err != nil {
		return nil, err
	}
	all, err := jsonobject.Members(raw)
	if twice := new(jsonobject.Fault); errors.As(err, &twice) {
		return nil, errors.New("names a member twice")
	}
	if err != nil {
		return nil, errors.New("is no JSON object, or has more after it")
	}
	return all, nil
}

// text returns a member that is a string and not empty.
func (m members) text(name string) (text string, ok bool) {
	err := json.Unmarshal(m[name], &text)
	return text, err == nil && text != ""
}

// show returns a member for printing. Control characters are escaped, for the terminal's sake.
func (m members) show(name string) string {
	if m[name] == nil {
		return "none"
	}
	if text, ok := m.text(name); ok {
		return strconv.Quote(text)
	}
	quoted := strconv.Quote(string(m[name]))
	return quoted[1 : len(quoted)-1]
}

// times compares iat, nbf and exp with now.
func (r *Report) times(claims members, now time.Time) {
	r.line("now", "%s", now.UTC().Format(time.RFC3339))
	issued, start, end := r.date(claims, "iat", now), r.date(claims, "nbf", now), r.date(claims, "exp", now)
	r.refuse(issued.After(now.Add(leeway)), "iat lies in the future: the agent's clock is ahead by %s", distance(issued.Sub(now)))
	r.refuse(start.After(now.Add(leeway)), "nbf: it is not good before %s from now", distance(start.Sub(now)))
	ended := !end.IsZero() && !end.After(now.Add(-leeway))
	r.refuse(ended, "exp: it ended %s ago", distance(now.Sub(end)))
	r.advise(claims["exp"] == nil, "without exp the token never ends; 5 to 10 minutes are recommended")
	r.advise(!ended && !issued.IsZero() && end.Sub(issued) > 10*time.Minute, "it is good for %s; 5 to 10 minutes are recommended", distance(end.Sub(issued)))
	r.advise(claims["iat"] == nil, "without iat a revocation of earlier tokens hits it at any age")
}

// date reads a NumericDate (RFC 7519, 2). It is zero without one.
func (r *Report) date(claims members, name string, now time.Time) time.Time {
	var seconds float64
	err := json.Unmarshal(claims[name], &seconds)
	if raw := claims[name]; err != nil || raw[0] < '0' || raw[0] > '9' || seconds > lastDate {
		r.line(name, "%s", claims.show(name))
		r.refuse(raw != nil, "%s is no time: a number of seconds since 1970 is needed", name)
		return time.Time{}
	}
	at := time.UnixMilli(int64(seconds * 1000))
	relative := "now"
	switch offset := at.Sub(now); {
	case offset > 0:
		relative = "in " + distance(offset)
	case offset < 0:
		relative = distance(-offset) + " ago"
	}
	r.line(name, "%s  (%s)", at.UTC().Format(time.RFC3339), relative)
	return at
}

func distance(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	return d.Round(time.Second).String()
}
