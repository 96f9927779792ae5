//go:build !fuzz

package readapi

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/access"
	"github.com/qosrtc/qos/protocol"
)

var writeOpenAPI = flag.Bool("write-openapi", false, "write openapi.json")

// describedParameter is a parameter of a route of the read API.
type describedParameter struct {
	name, text string
	schema     map[string]any
	required   bool
}

// describedRoute is a route of the read API.
type describedRoute struct {
	text       string
	parameters []describedParameter
	answer     reflect.Type // nil: no JSON
	mediaType  string       // without answer
	missing    bool         // it answers 404 for a conference that does not exist
}

type m = map[string]any

// describedParameters are those of all routes, by name.
func describedParameters() map[string]describedParameter {
	text := m{"type": "string", "maxLength": 256}
	ms := m{"type": "integer", "minimum": 0, "maximum": maxTimeMs}
	score := m{"type": "number", "minimum": 1, "maximum": 5}
	words := func(of []string) m { return m{"type": "string", "enum": of} }
	out := map[string]describedParameter{}
	for _, p := range []describedParameter{
		{name: "app", text: "AppID", schema: text},
		{name: "id", text: "conferenceID", schema: text},
		{name: "at", text: "a time in the conference, in ms since the Unix epoch", schema: ms},
		{name: "from", text: "start of the time, inclusive, in ms since the Unix epoch", schema: ms},
		{name: "to", text: "end of the time, exclusive, in ms since the Unix epoch", schema: ms},
		{name: "q", text: "any search term, the whole text", schema: text},
		{name: "user", text: "ID of a user, the whole text; real names only where the reader may see them", schema: text},
		{name: "site", text: "siteID of a participant", schema: text},
		{name: "version", text: "applicationVersion of a participant", schema: text},
		{name: "additional", text: "value of an additional ID", schema: text},
		{name: "additionalKey", text: "key of the additional ID", schema: m{"type": "string"}},
		{name: "outcome", text: "outcome; failed stands for those of conferences that failed", schema: words(outcomes())},
		{name: "quality", text: "label of the score", schema: words(labels)},
		{name: "cause", text: "likely cause", schema: words(causes())},
		{name: "scoreFrom", text: "lowest score", schema: score},
		{name: "scoreTo", text: "highest score", schema: score},
		{name: "setupFrom", text: "least setup delay of the connection that took the longest, in ms", schema: m{"type": "integer", "minimum": 1, "maximum": maxSetupMs}},
		{name: "rttAbove", text: "round-trip time in ms that the highest median of a candidate pair or stream is above", schema: m{"type": "number", "exclusiveMinimum": 0, "maximum": maxRTTMs}},
		{name: "lossAbove", text: "fraction of packets of which a stream lost more over the whole call", schema: m{"type": "number", "exclusiveMinimum": 0, "maximum": 1}},
		{name: "ratingTo", text: "highest value of the lowest rating that a user gave", schema: m{"type": "integer", "minimum": 1, "maximum": 5}},
		{name: "state", text: "state of the conference", schema: words([]string{stateLive})},
		{name: "function", text: "function of a reported error", schema: text},
		{name: "issue", text: "kind of an issue", schema: words(issueKinds())},
		{name: "browser", text: "browser of a participant", schema: text},
		{name: "browserVersion", text: "major version of that browser", schema: text},
		{name: "fact", text: "attribute and value of a participant, such as siteID:berlin; at most 8, all of the same participant", schema: m{"type": "array", "items": m{"type": "string"}, "maxItems": maxFacts}},
		{name: "reason", text: "reason of a notification", schema: words(reasons())},
		{name: "past", text: "limit of the notification", schema: m{"type": "number", "minimum": 0}},
		{name: "provider", text: "provider of a pre-call test, the whole text", schema: text},
		{name: "status", text: "status of a pre-call test", schema: words(protocol.PreCallStatuses)},
		{name: "failed", text: "only tests that failed and were not interrupted: of the provider, or of all", schema: words([]string{"true"})},
		{name: "limit", text: "rows of a page", schema: m{"type": "integer", "minimum": 1, "maximum": maxLimit, "default": defaultLimit}},
		{name: "cursor", text: "next of the page before", schema: m{"type": "string"}},
		{name: "conference", text: "conferenceID", schema: text},
		{name: "by", text: "list of values that are counted", schema: words(trendNames)},
		{name: "zone", text: "minutes by which the days are east of UTC", schema: m{"type": "integer", "minimum": -maxZone, "maximum": maxZone, "default": 0}},
	} {
		out[p.name] = p
	}
	return out
}

func parametersOf(names ...string) (out []describedParameter) {
	all := describedParameters()
	for _, name := range names {
		p := all[strings.TrimPrefix(strings.TrimSuffix(name, "!"), prefixBaseline)]
		p.name = strings.TrimSuffix(name, "!")
		p.required = strings.HasSuffix(name, "!")
		out = append(out, p)
	}
	return out
}

// describedRoutes is the read API.
func describedRoutes() map[string]describedRoute {
	search := []string{"app", "id", "from", "to", "q", "user", "site", "version", "additional", "additionalKey", "outcome", "quality", "cause", "scoreFrom", "scoreTo", "setupFrom", "rttAbove", "lossAbove", "ratingTo", "state", "function", "issue", "browser", "browserVersion", "fact", "reason", "past"}
	set := []string{"app", "from!", "to!", "site", "version", "browser", "browserVersion", "outcome", "quality", "cause", "scoreFrom", "scoreTo", "setupFrom", "rttAbove", "lossAbove", "ratingTo", "function", "issue"}
	for _, name := range slices.Clone(set) {
		set = append(set, prefixBaseline+strings.TrimSuffix(name, "!"))
	}
	user := parametersOf("app!", "user!", "from", "to", "limit", "cursor")
	user[4].schema = m{"type": "integer", "minimum": 1, "maximum": 150, "default": defaultLimit}
	return map[string]describedRoute{
		"/api/conferences":        {text: "Lists conferences, the newest first.", parameters: parametersOf(append(search, "limit", "cursor")...), answer: reflect.TypeFor[listing]()},
		"/api/conferences.csv":    {text: "Exports all conferences that a search finds as CSV, at most 10,000.", parameters: parametersOf(search...), mediaType: "text/csv"},
		"/api/conferences.json":   {text: "Exports all conferences that a search finds as JSON, at most 10,000.", parameters: parametersOf(search...), mediaType: "application/json"},
		"/api/conference":         {text: "Returns one conference with its time-line, streams and summary.", parameters: parametersOf("app!", "id!", "at!"), answer: reflect.TypeFor[detail](), missing: true},
		"/api/conference/tail":    {text: "Returns the newest measurements of a conference.", parameters: parametersOf("app!", "id!", "at!", "from!"), answer: reflect.TypeFor[tail](), missing: true},
		"/api/conference/text":    {text: "Returns one conference as plain text.", parameters: parametersOf("app!", "id!", "at!"), mediaType: "text/plain", missing: true},
		"/api/unattached":         {text: "Lists annotations that no conference owns, the newest first.", parameters: parametersOf("app", "id", "from", "to", "limit", "cursor"), answer: reflect.TypeFor[unattachedList]()},
		"/api/precalls":           {text: "Lists pre-call tests, the newest first.", parameters: parametersOf("app", "from", "to", "user", "site", "version", "additional", "additionalKey", "provider", "status", "failed", "limit", "cursor"), answer: reflect.TypeFor[preCallList]()},
		"/api/precalls/providers": {text: "Counts pre-call tests of a time by provider, by hour or by day.", parameters: parametersOf("app", "from!", "to!", "zone"), answer: reflect.TypeFor[providersAnswer]()},
		"/api/overview":           {text: "Counts conferences of a time and of a baseline, without parameters the same time a week earlier.", parameters: parametersOf("app", "from!", "to!", "baseline.from", "baseline.to"), answer: reflect.TypeFor[overviewAnswer]()},
		"/api/contrast":           {text: "Returns what is more frequent in a set of conferences than in a baseline.", parameters: parametersOf(set...), answer: reflect.TypeFor[contrastAnswer]()},
		"/api/user":               {text: "Lists the calls of one user, with what is usual and what was different.", parameters: user, answer: reflect.TypeFor[historyAnswer]()},
		"/api/trend":              {text: "Counts conferences of a time by the values of a list, by hour or by day.", parameters: parametersOf("app", "from!", "to!", "by!", "zone"), answer: reflect.TypeFor[trendAnswer]()},
		"/api/live":               {text: "Sends Server-Sent Events, one for each committed change.", parameters: parametersOf("app", "conference"), mediaType: "text/event-stream"},
		"/api/openapi.json":       {text: "Returns this document.", mediaType: "application/json"},
	}
}

// answerSchema returns the schema of the answer of a route.
func answerSchema(t *testing.T, of reflect.Type) *jsonschema.Schema {
	t.Helper()
	var d describer
	s := d.schema(t, of)
	require.Empty(t, d.missing, "fields of answers have no comment, which is their description")
	return s
}

// described returns the document.
func described(t *testing.T) []byte {
	t.Helper()
	e := newExamples(t)
	refusals := m{"400": "a parameter is wrong; field names it", "401": "no login and no API token, or an invalid one", "403": "the roles do not permit it", "429": "too many wrong API tokens from this network", "500": "the store could not be read", "503": "others read large conferences; Retry-After has the seconds"}
	schemas, paths := m{"Refusal": m{"examples": []any{e.refusal(t)}, "type": "object", "required": []string{"error"}, "properties": m{"error": m{
		"description": "why there is no answer", "type": "object", "required": []string{"message"}, "properties": m{
			"message": m{"type": "string", "description": "a sentence for people"}, "field": m{"type": "string", "description": "name of the parameter that is wrong"},
		},
	}}}}, m{}
	for path, route := range describedRoutes() {
		parameters := []m{}
		for _, p := range route.parameters {
			one := m{"name": p.name, "in": "query", "required": p.required, "description": p.text, "schema": p.schema}
			if example := e.query(path).Get(p.name); example != "" {
				one["example"] = exampleOf(p.schema, example)
			}
			parameters = append(parameters, one)
		}
		body := m{}
		if example := e.answer(t, path); example != nil {
			body["example"] = example
		}
		content := m{route.mediaType: body}
		if route.answer != nil {
			name := strings.ReplaceAll(strings.TrimPrefix(path, "/api/"), "/", "-")
			schemas[name] = answerSchema(t, route.answer)
			body["schema"] = m{"$ref": "#/components/schemas/" + name}
			content = m{"application/json": body}
		}
		responses := m{"200": m{"description": "the answer", "content": content}}
		for status, text := range refusals {
			responses[status] = m{"description": text, "content": m{"application/json": m{"schema": m{"$ref": "#/components/schemas/Refusal"}}}}
		}
		if route.missing {
			responses["404"] = m{"description": "there is no such conference, or its app is not in scope", "content": m{"application/json": m{"schema": m{"$ref": "#/components/schemas/Refusal"}}}}
		}
		paths[path] = m{"get": m{"summary": route.text, "parameters": parameters, "responses": responses}}
	}
	doc, err := json.MarshalIndent(m{
		"openapi":    "3.1.0",
		"info":       m{"title": "qos read API", "version": "1", "description": "Read-only. Times end in At and are ms since the Unix epoch, durations end in Ms, a fraction is 0 to 1. An unknown value is null or absent."},
		"security":   []m{{"token": []string{}}},
		"components": m{"securitySchemes": m{"token": m{"type": "http", "scheme": "bearer", "description": "an API token: qos_…"}}, "schemas": schemas},
		"paths":      paths,
	}, "", " ")
	require.NoError(t, err)
	return append(doc, '\n')
}

// exampleOf returns the example of a parameter.
func exampleOf(schema m, text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && schema["type"] == "integer" {
		return n
	}
	return text
}

// The committed document is that of the types. Its examples may be those of an earlier fold: TestExamplesFit. `go test -run TestOpenAPI -write-openapi` writes it, and fails.
func TestOpenAPI(t *testing.T) {
	want := described(t)
	if *writeOpenAPI {
		require.NoError(t, os.WriteFile("openapi.json", want, 0o600))
		t.Fatal("openapi.json was written")
	}
	require.Equal(t, withoutExamples(parsed(t, string(want))), withoutExamples(parsed(t, string(openAPI))), "run go test ./extensions/dashboardextension/internal/readapi -run TestOpenAPI -write-openapi")
	_, body, header := get(t, start(t, &memory{}, nil)+"/api/openapi.json")
	require.Equal(t, string(openAPI), body)
	require.Equal(t, "application/json", header.Get("Content-Type"))
	res := do(t, start(t, &memory{}, nil)+"/api/openapi.json", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") })
	unzipped, err := gzip.NewReader(res.Body)
	require.NoError(t, err)
	small, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	require.Equal(t, openAPI, small)
}

// Each route of the read API is described.
func TestOpenAPIHasEachRoute(t *testing.T) {
	known := describedRoutes()
	for _, r := range access.Routes {
		method, path, _ := strings.Cut(r.Pattern, " ")
		if r.Need == access.Calls && method == http.MethodGet && strings.HasPrefix(path, "/api/") {
			require.Contains(t, known, path, "it is not described: describedRoutes in openapi_test.go")
			delete(known, path)
		}
	}
	require.Empty(t, known)
}

// A route reads the parameters that are described, and no others: it refuses one that is given twice if it reads it.
func TestOpenAPIHasEachParameter(t *testing.T) {
	base := start(t, &memory{at: noon}, nil)
	names := slices.Clone(defining)
	for name := range describedParameters() {
		names = append(names, name)
	}
	for _, name := range defining {
		names = append(names, prefixBaseline+name)
	}
	slices.Sort(names)
	for path, route := range describedRoutes() {
		if path == "/api/openapi.json" {
			continue
		}
		for _, name := range slices.Compact(names) {
			values := url.Values{"app": {"a"}, "id": {"b"}, "at": {"1"}, "from": {"1"}, "to": {"2"}, "user": {"u"}, "reason": {reasons()[0]}, "by": {trendNames[0]}}
			values[name] = []string{"twice", "twice"}
			if path == "/api/live" && name != "conference" && name != "app" || strings.HasPrefix(path, "/api/conferences.") && (name == "limit" || name == "cursor") {
				continue // a stream does not end, and an export refuses the parameters of pages
			}
			status, body, _ := get(t, base+path+"?"+values.Encode())
			reads := status == http.StatusBadRequest && strings.Contains(body, `"field":"`+name+`"`)
			described := slices.ContainsFunc(route.parameters, func(p describedParameter) bool { return p.name == name })
			require.Equal(t, described, reads, "%s of %s: %s", name, path, body)
		}
	}
}
