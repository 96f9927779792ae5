package readapi

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/qosrtc/qos/storage"
)

// timeForms are the forms of a time for a model.
const timeForms = ": RFC 3339 with a zone, such as 2026-05-01T09:00:00Z, or milliseconds since the Unix epoch. " +
	"Compute words such as yesterday yourself, in the time zone of the person who asks."

// searchParameters are those of search_conferences.
func searchParameters() []parameter {
	out := slices.Concat(parametersOf[storage.Query](), unindexed)
	for i := range out {
		if out[i].name == "limit" {
			out[i].high, out[i].missing = maxToolRows, defaultToolRows
		}
	}
	return out
}

// requiring returns parameters of which some are required.
func requiring(all []parameter, names ...string) []parameter {
	for i := range all {
		all[i].required = slices.Contains(names, all[i].name)
	}
	return all
}

// schema returns the JSON schema of an object with some parameters.
func schema(parameters []parameter) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range parameters {
		p := &parameters[i]
		one := p.schema()
		one["description"] = p.description()
		if p.kind == timeKind {
			one = map[string]any{"type": []string{"string", "integer"}, "description": p.text + timeForms}
		}
		properties[p.name] = one
		if p.required {
			required = append(required, p.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// schema returns the JSON schema of the arguments.
func (t *tool) schema() map[string]any {
	out := schema(t.parameters)
	if t.baseline {
		baseline := schema(requiring(slices.Clone(t.parameters)))
		baseline["description"] = "Parameters in which the baseline differs from the set. An empty text takes one of the set away."
		out["properties"].(map[string]any)["baseline"] = baseline
	}
	return out
}

// values returns the query of the read API for the arguments.
func (t *tool) values(arguments map[string]any) (url.Values, error) {
	values, err := toolValues(t.parameters, "", arguments)
	baseline, ok := arguments["baseline"].(map[string]any)
	if err != nil || !ok || !t.baseline {
		return values, err
	}
	own, err := toolValues(t.parameters, prefixBaseline, baseline)
	maps.Copy(values, own)
	return values, err
}

// toolValues returns the query of the read API for some arguments.
func toolValues(parameters []parameter, prefix string, arguments map[string]any) (url.Values, error) {
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
func (d *parameter) value(argument any) (string, error) {
	switch v := argument.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case string:
		if d.kind != timeKind {
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
