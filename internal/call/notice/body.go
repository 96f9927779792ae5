package notice

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Format is the format of a webhook's bodies.
type Format string

// The formats. The empty one is Native.
const (
	Native    Format = "native"
	Slack     Format = "slack"
	Teams     Format = "teams"
	PagerDuty Format = "pagerduty"
)

// Formats lists the names of the formats.
var Formats = []string{string(Native), string(Slack), string(Teams), string(PagerDuty)}

// ValidFormat reports whether a webhook may have a format.
func ValidFormat(f string) bool { return f == "" || slices.Contains(Formats, f) }

// NeedsSecret reports whether a format is signed, or has the secret in its body. Services with other formats verify no signature.
func (f Format) NeedsSecret() bool { return f != Slack && f != Teams }

// Hook is a webhook with its secrets, the newest first.
type Hook struct {
	ID        string
	URL       string
	Format    Format
	Secrets   []string
	CreatedAt time.Time // zero where the configuration declares it
}

// Takes reports whether a message is sent to the hook: resolve notices have no native form.
func (h *Hook) Takes(m Message) bool {
	return !m.Resolved || h.Format != Native && h.Format != ""
}

// Body returns the body of a delivery attempt at a time.
func (h *Hook) Body(m Message, at time.Time) ([]byte, error) {
	switch h.Format {
	case Slack:
		return json.Marshal(slack(m))
	case Teams:
		return json.Marshal(teams(m))
	case PagerDuty:
		return json.Marshal(pagerDuty(m, h.Secrets))
	}
	return json.Marshal(native{
		m.Reason, at.Unix(), m.AppID, m.TriggerType, m.Actual, m.Threshold, m.Fraction, period{m.Start, m.End}, m.URL, m.Text,
	})
}

// native has exactly the ten keys of docs/interface.md, section 6.3.
type native struct {
	Reason          Reason  `json:"reason"`
	Timestamp       int64   `json:"timestamp"`
	AppID           string  `json:"appId"`
	TriggerType     string  `json:"triggerType"`
	ActualValue     int     `json:"actualValue"`
	Threshold       float64 `json:"threshold"`
	FractionalValue float64 `json:"fractionalValue"`
	Period          period  `json:"period"`
	URL             string  `json:"url"`
	Text            string  `json:"text"`
}

type period struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// title returns the first line of a message.
func title(m Message) string {
	if m.Resolved {
		return "Resolved: " + string(m.Reason)
	}
	return string(m.Reason)
}

// slackEscape prevents IDs that clients chose from being mentions or links.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func slack(m Message) any {
	text := "*" + title(m) + "*\n" + slackEscape.Replace(m.Text)
	if m.URL != "" {
		text += "\n<" + slackEscape.Replace(m.URL) + "|Show the conferences>"
	}
	return map[string]any{
		"text":   slackEscape.Replace(title(m) + ": " + m.Text),
		"blocks": []any{map[string]any{"type": "section", "text": map[string]any{"type": "mrkdwn", "text": text}}},
	}
}

// teams returns an Adaptive Card. A RichTextBlock has no Markdown, so IDs that clients chose remain text.
func teams(m Message) any {
	run := func(text, weight string) any {
		return map[string]any{"type": "RichTextBlock", "inlines": []any{map[string]any{"type": "TextRun", "text": text, "weight": weight}}}
	}
	card := map[string]any{
		"type": "AdaptiveCard", "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "version": "1.4",
		"body": []any{run(title(m), "bolder"), run(m.Text, "default")},
	}
	if m.URL != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Show the conferences", "url": m.URL}}
	}
	return map[string]any{
		"type":        "message",
		"attachments": []any{map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}},
	}
}

// maxSummaryBytes bounds a summary in PagerDuty.
const maxSummaryBytes = 1024

// pagerDuty returns an event of PagerDuty's Events API, version 2. The webhook's secret is the integration key.
func pagerDuty(m Message, secrets []string) any {
	event := map[string]any{"event_action": "trigger", "dedup_key": m.Incident, "routing_key": ""}
	if len(secrets) > 0 {
		event["routing_key"] = secrets[0]
	}
	if m.Resolved {
		event["event_action"] = "resolve"
		return event
	}
	summary := m.Text
	if len(summary) > maxSummaryBytes {
		summary = strings.ToValidUTF8(summary[:maxSummaryBytes], "")
	}
	event["payload"] = map[string]any{
		"summary": summary, "source": "qos app " + m.AppID, "severity": "error", "class": string(m.Reason),
		"timestamp": time.Unix(m.End, 0).UTC().Format(time.RFC3339),
		"custom_details": map[string]any{
			"triggerType": m.TriggerType, "actualValue": m.Actual, "threshold": m.Threshold, "fractionalValue": m.Fraction,
		},
	}
	if m.URL != "" {
		event["links"] = []any{map[string]any{"href": m.URL, "text": "Show the conferences"}}
	}
	return event
}
