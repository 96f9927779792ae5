package readapi

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/contrast"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// parameter is a parameter of requests. The parser, the tools of MCP, the description of the API and the forms of the pages are
// made from it.
type parameter struct {
	name      string
	field     string // of the queries that it sets (parameters.read); empty: a route reads it by its name
	kind      parameterKind
	role      role
	words     []string // the only values of a text; nil: any text
	low, high float64  // bounds of a number, both included
	above     bool     // low is not included
	step      float64  // the least distance from low, in forms
	missing   float64  // value of a number that is absent
	start     string   // the parameter that begins the range that this one ends
	needs     string   // the parameter without which this one is refused
	attribute string   // of the facts that it finds
	unit      string   // ms or fraction
	label     string   // in forms and in descriptions of a search; empty: in none
	example   string   // in forms
	text      string   // description
	without   string   // what holds without it
	required  bool     // by the tool
}

// parameterKind is what a value of a parameter is.
type parameterKind int

const (
	textKind    parameterKind = iota
	timeKind                  // ms since the Unix epoch
	integerKind               //
	numberKind                //
	cursorKind                // that the API returned
	factsKind                 // may be there several times
)

// role is what a parameter does in a search: a set of the following.
type role int

const (
	roleFraming    role = 1 << iota // selects apps and times
	rolePopulation                  // selects participants
	roleOutcome                     // selects by what happened: the baseline of a comparison is without it
	roleTerm                        // a whole text that the store has an index of
	roleUserText                    // may be the ID of a user
	rolePaging                      // selects a page of the rows
)

const (
	maxLimit     = 200
	defaultLimit = 50
	maxTimeMs    = 253_402_300_799_999 // the end of year 9999
	// maxMeasuredMs bounds a setup delay and a round-trip time that are searched for: the limit of a notification has the same bound.
	maxMeasuredMs = 1_000_000
	// maxZone is the largest distance of a time zone from UTC, in minutes.
	maxZone = 14 * 60
	// maxFacts bounds the facts of a request.
	maxFacts = 8
)

// parameterFact selects conferences of which one participant has a fact: "browserVersion:firefox 144". Several facts
// are of the same participant.
const parameterFact = "fact"

// outcomeFailed stands for the outcomes of conferences that failed.
const outcomeFailed = "failed"

// parameterTable has all parameters, in the order of forms.
var parameterTable = []parameter{
	{name: "app", field: "AppID", role: roleFraming, attribute: contrast.App, label: "App", example: "All", text: "AppID", without: "all apps that the reader may see"},
	{name: "q", field: "Any", role: roleTerm | roleUserText, label: "Anything", text: "any search term, the whole text: conferenceID, user, site, application version or additional ID"},
	{name: "id", field: "ConferenceID", role: roleTerm, label: "Conference ID", text: "conferenceID, the whole text"},
	{name: "at", field: "At", kind: timeKind, high: maxTimeMs, text: "a time in the conference, such as its start: a conferenceID may be used again"},
	{name: "from", field: "From", kind: timeKind, high: maxTimeMs, role: roleFraming, label: "From", text: "start of the time, inclusive"},
	{name: "to", field: "To", kind: timeKind, high: maxTimeMs, role: roleFraming, start: "from", label: "To", text: "end of the time, exclusive; at most 93 days after from where conferences are counted or compared"},
	{name: "user", field: "UserID", role: roleTerm | roleUserText, label: "User ID", text: "ID of a user, the whole text: userName, only where the reader may see it, or aliasName"},
	{name: "site", field: "SiteID", role: roleTerm | rolePopulation, attribute: contrast.Site, label: "Site", example: "All", text: "siteID of a participant"},
	{name: "version", field: "ApplicationVersion", role: roleTerm | rolePopulation, attribute: contrast.ApplicationVersion, label: "App version", example: "All", text: "applicationVersion of a participant"},
	{name: "additional", field: "AdditionalID", role: roleTerm | roleUserText, label: "Additional ID", text: "value of an additional ID"},
	{name: "additionalKey", field: "AdditionalKey", words: protocol.AdditionalIDKeys, needs: "additional", text: "key of the additional ID"},
	{name: "outcome", field: "Outcome", role: roleOutcome, words: append([]string{outcomeFailed}, conference.Outcomes...), label: "Outcome", text: "outcome; failed stands for those of conferences that failed"},
	{name: "quality", field: "Label", role: roleOutcome, words: []string{quality.Excellent, quality.Good, quality.Fair, quality.Poor, quality.Bad}, label: "Quality", text: "label of the score"},
	{name: "cause", field: "Cause", role: roleOutcome, words: wordsOf(cause.Causes), label: "Likely cause", text: "likely cause"},
	{name: "scoreFrom", field: "MinMOS", kind: numberKind, role: roleOutcome, low: 1, high: 5, label: "Score from", example: "1", text: "lowest score, MOS 1 to 5"},
	{name: "scoreTo", field: "MaxMOS", kind: numberKind, role: roleOutcome, low: 1, high: 5, start: "scoreFrom", label: "Score to", example: "5", text: "highest score, MOS 1 to 5"},
	{name: "setupFrom", field: "MinSetupMs", kind: integerKind, role: roleOutcome, low: 1, high: maxMeasuredMs, unit: "ms", label: "Setup of at least", example: "1", text: "least setup delay of the connection that took the longest"},
	{name: "rttAbove", field: "AboveRTTMs", kind: numberKind, role: roleOutcome, high: maxMeasuredMs, above: true, step: 0.001, unit: "ms", label: "Round-trip time above", example: "300", text: "round-trip time that the highest median of a candidate pair or stream is above"},
	{name: "lossAbove", field: "AboveLoss", kind: numberKind, role: roleOutcome, high: 1, above: true, step: 0.000001, unit: "fraction", label: "Packet loss above", example: "0.05", text: "fraction of packets of which a stream lost more over the whole call"},
	{name: "ratingTo", field: "MaxRating", kind: integerKind, role: roleOutcome, low: 1, high: 5, label: "Rated at most", example: "5", text: "highest value of the lowest rating that a user gave, 1 to 5"},
	{name: "issue", field: "Issue", role: roleOutcome, words: wordsOf(detect.Kinds), label: "Issue", text: "kind of an issue"},
	{name: "function", field: "Function", role: roleOutcome, label: "Error of", example: "createOffer", text: "function of a reported error, such as createOffer"},
	{name: "browser", field: "Browser", role: rolePopulation, label: "Browser", example: "firefox", text: "browser of a participant, such as firefox"},
	{name: "browserVersion", field: "BrowserVersion", role: rolePopulation, label: "Browser version", example: "144", text: "major version of that browser, such as 144"},
	{name: "state", words: []string{stateLive}, label: "State", text: "state of the conference"},
	{name: parameterFact, kind: factsKind, label: "With", text: "attribute and value of a participant, such as siteID:berlin; at most 8, all of the same participant"},
	{name: notice.ParameterReason, words: wordsOf(notice.Reasons[:]), label: "Notification", text: "reason of a notification"},
	{name: notice.ParameterLimit, kind: numberKind, high: math.MaxFloat64, text: "limit of the notification"},
	{name: notice.ParameterProvider, field: "Provider", label: "Provider", text: "provider of a pre-call test, the whole text"},
	{name: "status", field: "Status", words: protocol.PreCallStatuses, text: "status of a pre-call test"},
	{name: notice.ParameterFailed, field: "OnlyFailed", words: []string{"true"}, text: "only tests that failed and were not interrupted: of the provider, or of all"},
	{name: "limit", field: "Limit", kind: integerKind, role: rolePaging, low: 1, high: maxLimit, missing: defaultLimit, text: "rows of a page"},
	{name: "cursor", field: "Before", kind: cursorKind, role: rolePaging, text: "next of the page before"},
	{name: "conference", text: "conferenceID"},
	{name: "by", words: trendNames, text: "list of values that are counted"},
	{name: "zone", kind: integerKind, low: -maxZone, high: maxZone, text: "minutes by which the days are east of UTC, 0 without it"},
}

func wordsOf[T ~string](words []T) (out []string) {
	for _, word := range words {
		out = append(out, string(word))
	}
	return out
}

// parameterNamed returns the parameter of a name that exists.
func parameterNamed(name string) parameter {
	return parameterTable[slices.IndexFunc(parameterTable, func(d parameter) bool { return d.name == name })]
}

// namesOf returns the names of the parameters with a role.
func namesOf(with role) (out []string) {
	for _, d := range parameterTable {
		if d.role&with != 0 {
			out = append(out, d.name)
		}
	}
	return out
}

// sets reports whether a query has a field of the parameter.
func (d *parameter) sets(query reflect.Type) bool {
	_, ok := query.FieldByName(d.field)
	return ok
}

// parametersOf returns the parameters that set a field of a query.
func parametersOf[Query any]() []parameter {
	return slices.DeleteFunc(slices.Clone(parameterTable), func(d parameter) bool { return !d.sets(reflect.TypeFor[Query]()) })
}

// schema returns the JSON schema of the values.
func (d *parameter) schema() map[string]any {
	switch {
	case d.words != nil:
		return map[string]any{"type": "string", "enum": d.words}
	case d.high != 0:
		return d.numbers()
	case d.kind == factsKind:
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": maxFacts}
	case d.kind == cursorKind:
		return map[string]any{"type": "string"}
	}
	return map[string]any{"type": "string", "maxLength": protocol.MaxIDBytes}
}

// numbers returns the JSON schema of numbers.
func (d *parameter) numbers() map[string]any {
	out := map[string]any{"type": "integer", "minimum": d.low}
	if d.kind == numberKind {
		out["type"] = "number"
	}
	if d.above {
		out["exclusiveMinimum"] = d.low
		delete(out, "minimum")
	}
	if d.high < math.MaxFloat64 {
		out["maximum"] = d.high
	}
	if d.missing != 0 {
		out["default"] = d.missing
	}
	return out
}

// bounds returns which numbers are permitted, as a text.
func (d *parameter) bounds() string {
	switch {
	case d.kind != numberKind:
		return fmt.Sprintf("an integer from %.0f to %.0f", d.low, d.high)
	case d.above:
		return fmt.Sprintf("a number above %g and at most %.0f", d.low, d.high)
	case d.high == math.MaxFloat64:
		return "a number that is not negative"
	}
	return fmt.Sprintf("a number from %g to %g", d.low, d.high)
}

// description returns the text with the unit.
func (d *parameter) description() string {
	text := d.text + map[string]string{"ms": ", in ms", "fraction": ", 0 to 1"}[d.unit]
	if d.without != "" && !d.required {
		text += "; without it " + d.without
	}
	return text
}
