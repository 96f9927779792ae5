package readapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// toolParameter is a parameter of a tool, which is one of the read API of the same name.
type toolParameter struct {
	name     string
	kind     parameterKind
	text     string // for the model
	words    []string
	required bool

	low, high float64 // bounds of a number, those of the read API
	above     bool    // low itself is out of bounds
}

// parameterKind is what a value of a parameter is.
type parameterKind int

const (
	textKind parameterKind = iota
	timeKind
	integerKind
	numberKind
)

// framingParameters say which apps and which time.
func framingParameters(required bool) []toolParameter {
	return []toolParameter{
		{name: "app", text: "AppID. Without it: all apps that you may read."},
		{name: "from", kind: timeKind, text: "Start of the time, inclusive: RFC 3339 with a zone, such as 2026-05-01T09:00:00Z, or milliseconds since the Unix epoch. Compute words such as yesterday yourself, in the time zone of the person who asks.", required: required},
		{name: "to", kind: timeKind, text: "End of the time, exclusive, in the same forms. At most 93 days after from where conferences are compared.", required: required},
	}
}

// setParameters select conferences by what took part and what happened.
func setParameters() []toolParameter {
	return []toolParameter{
		{name: "outcome", text: "Outcome of the conference; failed stands for all outcomes of failed ones.", words: outcomes()},
		{name: "quality", text: "Label of the score.", words: labels},
		{name: "cause", text: "Likely cause.", words: causes()},
		{name: "scoreFrom", kind: numberKind, low: 1, high: 5, text: "Lowest score (MOS), 1 to 5."},
		{name: "scoreTo", kind: numberKind, low: 1, high: 5, text: "Highest score (MOS), 1 to 5."},
		{name: "setupFrom", kind: integerKind, low: 1, high: maxSetupMs, text: "Least setup delay of the connection that took the longest, in ms."},
		{name: "rttAbove", kind: numberKind, high: maxRTTMs, above: true, text: "Round-trip time in ms that the highest median of a candidate pair or stream is above."},
		{name: "lossAbove", kind: numberKind, high: 1, above: true, text: "Fraction of packets, 0 to 1, of which a stream lost more over the whole call."},
		{name: "ratingTo", kind: integerKind, low: 1, high: 5, text: "Highest value of the lowest rating that a user gave, 1 to 5."},
		{name: "function", text: "Function of which an error was reported, such as createOffer."},
		{name: "issue", text: "Kind of a detected issue.", words: issueKinds()},
		{name: "site", text: "siteID of a participant."},
		{name: "version", text: "applicationVersion of a participant."},
		{name: "browser", text: "Browser of a participant, such as firefox."},
		{name: "browserVersion", text: "Major version of that browser, such as 144."},
	}
}

// searchParameters are those of search_conferences.
func searchParameters() []toolParameter {
	return slices.Concat(framingParameters(false), []toolParameter{
		{name: "user", text: "A user by userName (only where your roles show it) or aliasName, the whole text."},
		{name: "q", text: "Any identifier: conferenceID, user, site, application version or additional ID, the whole text."},
		{name: "id", text: "conferenceID, the whole text."},
		{name: "additional", text: "Value of an additional ID."},
		{name: "additionalKey", text: "Key of the additional ID.", words: protocol.AdditionalIDKeys},
	}, setParameters(), []toolParameter{
		{name: "limit", kind: integerKind, low: 1, high: maxToolRows, text: fmt.Sprintf("Conferences of one answer, 1 to %d; %d without it.", maxToolRows, defaultToolRows)},
		{name: "cursor", text: "The member next of the answer before, to read on."},
	})
}

// explainParameters are those of explain_conference.
func explainParameters() []toolParameter {
	return []toolParameter{
		{name: "app", text: "AppID, as search_conferences returned it.", required: true},
		{name: "id", text: "conferenceID, as search_conferences returned it.", required: true},
		{name: "at", kind: timeKind, text: "A time in the conference: its start, RFC 3339 with a zone or milliseconds since the Unix epoch. A conferenceID may be used again later.", required: true},
	}
}

// schema returns the JSON schema of an object with some parameters.
func schema(parameters []toolParameter) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range parameters {
		one := map[string]any{"type": "string", "description": p.text, "maxLength": protocol.MaxIDBytes}
		switch p.kind {
		case timeKind:
			one = map[string]any{"type": []string{"string", "integer"}, "description": p.text}
		case integerKind:
			one = map[string]any{"type": "integer", "minimum": p.low, "maximum": p.high, "description": p.text}
		case numberKind:
			lowest := "minimum"
			if p.above {
				lowest = "exclusiveMinimum"
			}
			one = map[string]any{"type": "number", lowest: p.low, "maximum": p.high, "description": p.text}
		}
		if p.words != nil {
			one = map[string]any{"type": "string", "enum": p.words, "description": p.text}
		}
		properties[p.name] = one
		if p.required {
			required = append(required, p.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// toolValues returns the query of the read API for the arguments of a tool.
func toolValues(parameters []toolParameter, prefix string, arguments map[string]any) (url.Values, error) {
	values := url.Values{}
	for _, p := range parameters {
		argument, ok := arguments[p.name]
		if !ok {
			continue
		}
		text, err := p.value(argument)
		if err != nil {
			return nil, &badParameter{prefix + p.name, err.Error()}
		}
		values.Set(prefix+p.name, text)
	}
	return values, nil
}

// value returns an argument as the read API takes it.
func (p *toolParameter) value(argument any) (string, error) {
	switch v := argument.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case string:
		if p.kind != timeKind {
			return v, nil
		}
		if _, err := strconv.ParseInt(v, 10, 64); err == nil {
			return v, nil
		}
		at, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return "", errors.New("must be a time of RFC 3339 with a zone, such as 2026-05-01T09:00:00Z")
		}
		return strconv.FormatInt(at.UnixMilli(), 10), nil
	}
	return "", errors.New("must be a text or a number")
}
