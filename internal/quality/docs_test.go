package quality

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocument holds docs/quality.md to the code where it repeats it: whoever computes a
// score again starts there.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/quality.md")
	require.NoError(t, err)
	doc := string(text)
	row := func(name, format string, of func(ratePoint) float64) {
		var b strings.Builder
		for _, p := range opusPoints {
			fmt.Fprintf(&b, " "+format+" |", of(p))
		}
		require.Contains(t, doc, "| "+name+" |"+b.String()+"\n")
	}
	row("kbit/s", "%g", func(p ratePoint) float64 { return p.bps / 1000 })
	row("Ie", "%.1f", func(p ratePoint) float64 { return p.ie })
	row("Bpl", "%.1f", func(p ratePoint) float64 { return p.bpl })
	row("Bpl in runs", "%.1f", func(p ratePoint) float64 { return p.bursty })
	for i, label := range []string{Excellent, Good, Fair, Poor} {
		b := DefaultBounds()[i]
		require.Contains(t, doc, fmt.Sprintf("| %s | %g | ", label, b))
	}
	for why := NoPackets; why < NumReasons; why++ {
		require.Contains(t, doc, "`"+why.String()+"`")
	}
	for in := range NumInputs {
		require.True(t, strings.Contains(doc, "`"+in.String()+"`") || strings.Contains(doc, "input."+in.String()+"`"), in.String())
	}
	for _, c := range audioCodecs {
		for _, name := range c.names {
			require.Contains(t, strings.ToLower(doc), name)
		}
	}
	require.Contains(t, doc, "`"+modelVideo+"`")
	require.Contains(t, doc, "`"+strings.TrimSuffix(modelFullband, " (G.107.2)")+"`")
}
