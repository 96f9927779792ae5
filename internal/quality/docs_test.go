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
	rate, ie, bpl := "| kbit/s |", "| Ie |", "| Bpl |"
	for _, p := range opusPoints {
		rate += fmt.Sprintf(" %g |", p.bps/1000)
		ie += fmt.Sprintf(" %.1f |", p.ie)
		bpl += fmt.Sprintf(" %.1f |", p.bpl)
	}
	for _, row := range []string{rate, ie, bpl} {
		require.Contains(t, doc, row+"\n")
	}
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
}
