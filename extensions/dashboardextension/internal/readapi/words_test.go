//go:build !fuzz

package readapi

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/contrast"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

var updatePages = flag.Bool("update", false, "write the parameters of the pages")

// listed returns the words that a module of the pages has between two marks.
func listed(t *testing.T, file, after, until, pattern string) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../../web/js/" + file)
	require.NoError(t, err)
	part := regexp.MustCompile(`(?s)` + after + `(.*?)` + until).FindSubmatch(text)
	require.NotNil(t, part, "%s in %s", after, file)
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(part[1], -1) {
		all = append(all, string(m[1]))
	}
	return all
}

// The pages have each attribute, and no other.
func TestAttributesOfPages(t *testing.T) {
	require.Equal(t, contrast.Attributes(), listed(t, "values.js", `attributes = \{`, `\};`, `(\w+): \[`))
}

// TestParametersOfPages compares the table that the forms of the pages are made from with that of this package.
//
// spec: DASH-01
func TestParametersOfPages(t *testing.T) {
	const file = "../../web/js/parameters.js"
	var b strings.Builder
	b.WriteString("// Written by go test ./extensions/dashboardextension/internal/readapi -run TestParametersOfPages -update: change the table there.\n\n")
	b.WriteString("/** The parameters of forms and searches: their label and unit, and the attributes of their input. */\nexport const parameters = {\n  __proto__: null,\n")
	for _, d := range parameterTable {
		if d.label != "" {
			fmt.Fprintf(&b, "  %s: { label: %q, unit: %q, attributes: %s },\n", d.name, d.label, d.unit, attributesOf(t, &d))
		}
	}
	b.WriteString("};\n")
	list := func(doc, name string, names []string) {
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(namesOf(rolePaging), name) })
		fmt.Fprintf(&b, "\n/** %s */\nexport const %s = [\n  \"%s\",\n];\n", doc, name, strings.Join(names, "\",\n  \""))
	}
	list("Those of the list of conferences.", "ofConferences", namesIn(slices.Concat(parametersOf[storage.Query](), unindexed, parametersNamed("state", "fact", "reason", "past"))))
	list("Those of them that are whole texts, by which the field of the list finds conferences.", "terms", namesOf(roleTerm))
	list("Those that define a set of a comparison.", "defining", namesIn(defining))
	list("Those of them that say what happened: all other conferences are the baseline of a set with one of these.", "conditions", namesOf(roleOutcome))
	list("Those of the list of pre-call tests.", "ofPreCalls", namesIn(parametersOf[storage.PreCallQuery]()))
	if *updatePages {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have))
}

// attributesOf returns the attributes of an input as JSON: their bounds are those of the parser.
func attributesOf(t *testing.T, d *parameter) string {
	t.Helper()
	out := m{"type": "text", "maxlength": protocol.MaxIDBytes, "autocomplete": "off", "spellcheck": "false", "placeholder": d.example}
	switch {
	case d.kind == timeKind:
		out = m{"type": "datetime-local"}
	case d.high != 0:
		out = m{"type": "number", "min": math.Max(d.low, d.step), "max": d.high, "step": "any", "inputmode": "decimal", "placeholder": d.example}
		if d.kind == integerKind {
			out["step"], out["inputmode"] = 1, "numeric"
		}
	}
	text, err := json.Marshal(out)
	require.NoError(t, err)
	return string(text)
}

func namesIn(all []parameter) (out []string) {
	for _, d := range all {
		out = append(out, d.name)
	}
	return out
}
