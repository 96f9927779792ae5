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

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

var writeOpenAPI = flag.Bool("write-openapi", false, "write openapi.json")

// describedRoute is a route of the read API.
type describedRoute struct {
	text       string
	parameters []parameter
	answer     reflect.Type // nil: no JSON
	mediaType  string       // without answer
	missing    bool         // it answers 404 for a conference that does not exist
}

type m = map[string]any

// parametersNamed returns parameters by name. A name with ! is of a required one, and may have the prefix of a baseline.
func parametersNamed(names ...string) (out []parameter) {
	for _, name := range names {
		p := parameterNamed(strings.TrimPrefix(strings.TrimSuffix(name, "!"), prefixBaseline))
		p.name, p.required = strings.TrimSuffix(name, "!"), strings.HasSuffix(name, "!")
		out = append(out, p)
	}
	return out
}

// ofBaseline returns the parameters of a baseline.
func ofBaseline(all []parameter) []parameter {
	out := slices.Clone(all)
	for i := range out {
		out[i].name = prefixBaseline + out[i].name
	}
	return out
}

// describedRoutes is the read API.
func describedRoutes() map[string]describedRoute {
	search := slices.Concat(parametersOf[storage.Query](), unindexed, parametersNamed("state", "fact", "reason", "past"))
	all := slices.DeleteFunc(slices.Clone(search), func(d parameter) bool { return d.role == rolePaging })
	ref, counted := requiring(parametersOf[storage.Ref](), "app", "id", "at"), requiring(parametersOf[period](), "from", "to")
	set := append(requiring(parametersOf[conferenceSet](), "from", "to"), ofBaseline(defining)...)
	limit := parameterNamed("limit")
	limit.high = maxCalls
	user := append(requiring(parametersOf[userQuery](), "app", "user"), limit)
	return map[string]describedRoute{
		"/api/conferences":        {text: "Lists conferences, the newest first.", parameters: search, answer: reflect.TypeFor[listing]()},
		"/api/conferences.csv":    {text: "Exports all conferences that a search finds as CSV, at most 10,000.", parameters: all, mediaType: "text/csv"},
		"/api/conferences.json":   {text: "Exports all conferences that a search finds as JSON, at most 10,000.", parameters: all, mediaType: "application/json"},
		"/api/conference":         {text: "Returns one conference with its time-line, streams and summary.", parameters: ref, answer: reflect.TypeFor[detail](), missing: true},
		"/api/conference/tail":    {text: "Returns the newest measurements of a conference.", parameters: append(slices.Clone(ref), parametersNamed("from!")...), answer: reflect.TypeFor[tail](), missing: true},
		"/api/conference/text":    {text: "Returns one conference as plain text.", parameters: ref, mediaType: "text/plain", missing: true},
		"/api/unattached":         {text: "Lists annotations that no conference owns, the newest first.", parameters: parametersOf[storage.UnattachedQuery](), answer: reflect.TypeFor[unattachedList]()},
		"/api/precalls":           {text: "Lists pre-call tests, the newest first.", parameters: parametersOf[storage.PreCallQuery](), answer: reflect.TypeFor[preCallList]()},
		"/api/precalls/providers": {text: "Counts pre-call tests of a time by provider, by hour or by day.", parameters: append(slices.Clone(counted), parametersNamed("zone")...), answer: reflect.TypeFor[providersAnswer]()},
		"/api/overview":           {text: "Counts conferences of a time and of a baseline, without parameters the same time a week earlier.", parameters: append(slices.Clone(counted), parametersNamed("baseline.from", "baseline.to")...), answer: reflect.TypeFor[overviewAnswer]()},
		"/api/contrast":           {text: "Returns what is more frequent in a set of conferences than in a baseline.", parameters: set, answer: reflect.TypeFor[contrastAnswer]()},
		"/api/user":               {text: "Lists the calls of one user, with what is usual and what was different.", parameters: user, answer: reflect.TypeFor[historyAnswer]()},
		"/api/trend":              {text: "Counts conferences of a time by the values of a list, by hour or by day.", parameters: append(slices.Clone(counted), parametersNamed("by!", "zone")...), answer: reflect.TypeFor[trendAnswer]()},
		"/api/live":               {text: "Sends Server-Sent Events, one for each committed change.", parameters: parametersNamed("app", "conference"), mediaType: "text/event-stream"},
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
			text := p.description()
			if p.kind == timeKind {
				text += ", in ms since the Unix epoch"
			}
			one := m{"name": p.name, "in": "query", "required": p.required, "description": text, "schema": p.schema()}
			if example := e.query(path).Get(p.name); example != "" {
				one["example"] = exampleOf(p.schema(), example)
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
	names := []string{}
	for _, d := range slices.Concat(parameterTable, ofBaseline(defining)) {
		names = append(names, d.name)
	}
	for path, route := range describedRoutes() {
		if path == "/api/openapi.json" {
			continue
		}
		for _, name := range names {
			values := url.Values{"app": {"a"}, "id": {"b"}, "at": {"1"}, "from": {"1"}, "to": {"2"}, "user": {"u"}, "reason": {string(notice.Reasons[0])}, "by": {trendNames[0]}}
			values[name] = []string{"twice", "twice"}
			if path == "/api/live" && name != "conference" && name != "app" || strings.HasPrefix(path, "/api/conferences.") && (name == "limit" || name == "cursor") {
				continue // a stream does not end, and an export refuses the parameters of pages
			}
			status, body, _ := get(t, base+path+"?"+values.Encode())
			reads := status == http.StatusBadRequest && strings.Contains(body, `"field":"`+name+`"`)
			described := slices.ContainsFunc(route.parameters, func(p parameter) bool { return p.name == name })
			require.Equal(t, described, reads, "%s of %s: %s", name, path, body)
		}
	}
}
