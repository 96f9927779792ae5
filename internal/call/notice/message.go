package notice

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Trigger types (docs/interface.md, section 6.3).
const (
	TriggerInterval   = "interval"
	TriggerIndividual = "individual"
)

// Message is the content of one notification, in its stored form. Times are Unix seconds.
type Message struct {
	Reason      Reason  `json:"reason"`
	AppID       string  `json:"appId"`
	TriggerType string  `json:"triggerType"`
	Resolved    bool    `json:"resolved,omitempty"`
	Actual      int     `json:"actualValue"`
	Threshold   float64 `json:"threshold"`
	Fraction    float64 `json:"fractionalValue"`
	Start       int64   `json:"start"`
	End         int64   `json:"end"`
	URL         string  `json:"url"`
	Text        string  `json:"text"`
	Incident    string  `json:"incident"` // the same for a notification and its resolve notice
}

// Encode returns the message as the body of a stored notice.
func (m Message) Encode() ([]byte, error) { return json.Marshal(m) }

// DecodeMessage returns the message in the body of a stored notice.
func DecodeMessage(body []byte) (m Message, err error) {
	err = json.Unmarshal(body, &m)
	return m, err
}

// ID returns the webhook-id of a notification with these identifying parts. It is equal for equal
// parts.
func ID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return "msg_" + hex.EncodeToString(h.Sum(nil)[:16])
}

// Parameters of the search that a notification links to, in addition to those of the list.
const (
	ParameterReason = "reason"
	ParameterLimit  = "past" // the rule's limit
)

// Parameters of the list of pre-call tests, which a search has for the reason PreCallFailures.
const (
	ParameterProvider = "provider"
	ParameterFailed   = "failed" // true: only tests that failed
)

// search returns the URL of a search.
func search(dashboard string, values url.Values) string {
	return strings.TrimSuffix(dashboard, "/") + "/search?" + values.Encode()
}

// Interval returns the message of a change.
func Interval(c Change, dashboard string) Message {
	to := c.To.Truncate(time.Second).Add(time.Second)
	m := Message{
		Reason: c.Reason, AppID: c.AppID, TriggerType: TriggerInterval, Resolved: c.Resolved, Actual: c.Count, Threshold: c.Rule.Threshold,
		Start: c.From.Unix(), End: to.Unix(), Incident: ID("incident", c.AppID, string(c.key()), strconv.Itoa(c.Next.Episode)),
	}
	if c.Total > 0 {
		m.Fraction = float64(c.Count) / float64(c.Total)
	}
	m.URL = c.url(dashboard, c.From.Add(time.Millisecond-1), to) // of whole ms, the first in the window
	state := "above"
	if c.Resolved {
		state = "no longer above"
	}
	m.Text = fmt.Sprintf("%d of %d %s of app %s %s (%s, %s the threshold of %s) from %s to %s UTC.", c.Count, c.Total, c.subject(), c.AppID,
		predicate(c.Reason, c.Rule.Limit), percent(m.Fraction), state, percent(m.Threshold), c.From.UTC().Format(clock), to.UTC().Format(clock))
	return m
}

// url returns the URL of the list of the conferences, ratings or tests that count. Its time ends with the last sample of the
// window, since conferences that ended after it and are recorded later were not counted.
func (c *Change) url(dashboard string, from, to time.Time) string {
	if !c.Last.IsZero() {
		to = c.Last.Add(time.Millisecond)
	}
	if c.Reason == PreCallFailures {
		return preCalls(dashboard, c.AppID, c.Provider, from, to)
	}
	values := url.Values{
		"app": {c.AppID}, "from": {ms(from)}, "to": {ms(to)}, ParameterReason: {string(c.Reason)},
	}
	if outcome := outcomes[c.Reason]; outcome != "" {
		values.Set("outcome", outcome)
	} else {
		values.Set(ParameterLimit, strconv.FormatFloat(c.Rule.Limit, 'g', -1, 64))
	}
	return search(dashboard, values)
}

// preCalls returns the URL of the list of failed tests of a provider, or of all.
func preCalls(dashboard, app, provider string, from, to time.Time) string {
	values := url.Values{"app": {app}, "from": {ms(from)}, "to": {ms(to)}, ParameterFailed: {"true"}, ParameterReason: {string(PreCallFailures)}}
	if provider != "" {
		values.Set(ParameterProvider, provider)
	}
	return search(dashboard, values)
}

const clock = "2006-01-02 15:04:05"

func ms(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) + " %" }

// Individual returns the message of one conference or feedback that counts for a reason.
func Individual(app, conference string, start, end time.Time, r Reason, limit float64, f Fact, dashboard string) Message {
	m := Message{
		Reason: r, AppID: app, TriggerType: TriggerIndividual, Actual: 1, Threshold: 1, Fraction: 1, Start: start.Unix(), End: end.Unix(),
		Incident: ID("conference", app, string(r), conference, ms(start)),
		Text:     fmt.Sprintf("Conference %s of app %s, which started at %s UTC, %s.", conference, app, start.UTC().Format(clock), predicate(r, limit)),
		URL:      search(dashboard, url.Values{"app": {app}, "id": {conference}, "from": {ms(start)}, "to": {ms(start.Add(time.Millisecond))}}),
	}
	if r == PreCallFailures {
		m.Text = fmt.Sprintf("A pre-call test of app %s, which ended at %s UTC, failed.", app, end.UTC().Format(clock))
		m.URL = preCalls(dashboard, app, "", end, end.Add(time.Millisecond))
	}
	if f.Rating != nil {
		m.Text = fmt.Sprintf("Conference %s of app %s, which started at %s UTC, was rated %d of 5.", conference, app, start.UTC().Format(clock), *f.Rating)
	}
	return m
}

// AppURL returns the URL of the conferences of an app. A test notification links to it.
func AppURL(app, dashboard string) string { return search(dashboard, url.Values{"app": {app}}) }

// TestMessage returns the message of a test. Its URL is added where the dashboard is known.
func TestMessage(app, hook string, now time.Time) Message {
	return Message{
		Reason: Test, AppID: app, TriggerType: TriggerIndividual, Actual: 1, Threshold: 1, Fraction: 1, Start: now.Unix(), End: now.Unix(), Incident: ID("test", app, hook),
		Text: fmt.Sprintf("This is a test of webhook %s of app %s.", hook, app),
	}
}

func (c *Change) subject() string {
	switch {
	case c.Reason == DissatisfactoryUserFeedback:
		return "ratings"
	case c.Provider != "":
		return "pre-call tests of provider " + c.Provider
	case c.Reason == PreCallFailures:
		return "pre-call tests"
	}
	return "conferences"
}

func predicate(r Reason, limit float64) string {
	switch r {
	case FailedConferences, PreCallFailures:
		return "failed"
	case PartiallyFailedConferences:
		return "partially failed"
	case DroppedConferences:
		return "dropped"
	case HighSetupDelays:
		return fmt.Sprintf("had a setup delay above %g ms", limit)
	case HighRoundTripTime:
		return fmt.Sprintf("had a round trip time above %g ms", limit)
	case HighPacketLoss:
		return "had a packet loss above " + percent(limit)
	case LowQuality:
		return fmt.Sprintf("had a score below %g", limit)
	case DissatisfactoryUserFeedback:
		return fmt.Sprintf("were %g or lower", limit)
	}
	return string(r)
}
