package detect

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocument holds the table of docs/quality.md to the code.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/quality.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| .*$").FindAllStringSubmatch(string(text), -1) {
		rows[row[1]] = row[0]
	}
	for _, kind := range Kinds {
		require.NotEmpty(t, rows[string(kind)], kind)
	}
	c := DefaultConfig()
	rules := NewRules(c)
	for l := range NumLevels {
		rule, row := rules.Level(l), rows[string(l.Kind())]
		require.Contains(t, row, "| `"+l.Metric()+"`", l.Kind())
		require.Contains(t, row, fmt.Sprintf(" | %g | %g | %s | %s |", rule.Raise, rule.Resolve, rule.After, l.Confidence()))
	}
	require.Contains(t, rows[string(SilentMicrophone)], fmt.Sprintf("After %s (`never_heard`)", c.NeverHeard.After))
	require.Contains(t, rows[string(WeakWiFi)], fmt.Sprintf(" | %g | %g | %s |", c.WeakWiFi.Raise, c.WeakWiFi.Resolve, c.WeakWiFi.After))
	for kind, timing := range map[Kind]Timing{NoMedia: c.NoMedia, OneWayMedia: c.OneWayMedia, ICEDisruption: c.ICEDisruption, NotPlayed: c.NotPlayed, LateJoin: c.LateJoin} {
		require.Contains(t, rows[string(kind)], fmt.Sprintf(" | | | %s |", timing.After), kind)
	}
}
