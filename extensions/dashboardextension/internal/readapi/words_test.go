package readapi

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/contrast"
)

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

// The pages have each attribute and each parameter of a comparison, and no other.
func TestWordsOfPages(t *testing.T) {
	require.Equal(t, contrast.Attributes(), listed(t, "values.js", `attributes = \{`, `\};`, `(\w+): \[`))
	require.ElementsMatch(t, namesIn(defining), listed(t, "comparison.js", `defining = \[`, `\]`, `"(\w+)"`))
	require.Equal(t, namesOf(roleOutcome), listed(t, "comparison.js", `conditions = \[`, `\]`, `"(\w+)"`))
}

func namesIn(all []parameter) (out []string) {
	for _, d := range all {
		out = append(out, d.name)
	}
	return out
}
