package notice

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of docs/webhooks.md has the default rule of each reason.
//
// spec: OUT-05
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/webhooks.md")
	require.NoError(t, err)
	rules := DefaultRules()
	for i, reason := range Reasons {
		row := regexp.MustCompile("(?m)^\\| `" + string(reason) + "` \\|[^|]*\\|[^|]*\\|([^|]*)\\|([^|]*)\\|([^|]*)\\|$").FindStringSubmatch(string(text))
		require.NotNil(t, row, reason)
		rule := rules[i]
		limit, _, _ := strings.Cut(strings.TrimSpace(row[1]), " ")
		want := ""
		if rule.Limit != 0 {
			want = strconv.FormatFloat(rule.Limit, 'g', -1, 64)
		}
		require.Equal(t, want, limit, reason)
		require.Equal(t, strconv.FormatFloat(rule.Threshold, 'g', -1, 64), strings.TrimSpace(row[2]), reason)
		require.Equal(t, map[bool]string{true: "yes", false: "no"}[rule.Individual], strings.TrimSpace(row[3]), reason)
	}
	require.Contains(t, string(text), "`min_samples` is "+strconv.Itoa(rules[0].MinSamples))
}
