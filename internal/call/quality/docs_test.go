package quality

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// factors lists Ie/Bpl, and at which kbit/s where that matters.
func (c *audioCodec) factors() string {
	var list []string
	for _, p := range c.points {
		text := fmt.Sprintf("%g/%g", p.ie, p.bpl)
		if c.rated() {
			text += fmt.Sprintf(" at %g", p.bps/1000)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// TestDocument holds docs/quality.md to the code where it repeats it: a reader who computes a
// score again starts there.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/quality.md")
	require.NoError(t, err)
	doc := string(text)
	contains := func(words string) {
		t.Helper()
		require.Contains(t, doc, words)
	}
	row := func(name, format string, of func(ratePoint) float64) {
		var b strings.Builder
		for _, p := range opusPoints {
			fmt.Fprintf(&b, " "+format+" |", of(p))
		}
		contains("| " + name + " |" + b.String() + "\n")
	}
	row("kbit/s", "%g", func(p ratePoint) float64 { return p.bps / 1000 })
	row("Ie", "%.2f", func(p ratePoint) float64 { return p.ie })
	row("Bpl", "%.2f", func(p ratePoint) float64 { return p.bpl })
	row("Bpl in runs", "%.2f", func(p ratePoint) float64 { return p.bursty })
	for i, label := range []string{Excellent, Good, Fair, Poor} {
		b := DefaultBounds()[i]
		contains(fmt.Sprintf("| %s | %g | ", label, b))
	}
	for why := NoPackets; why < NumReasons; why++ {
		contains("`" + why.String() + "`")
	}
	for in := range NumInputs {
		require.True(t, strings.Contains(doc, "`"+in.String()+"`") || strings.Contains(doc, "input."+in.String()+"`"), in.String())
	}
	for _, c := range audioCodecs[1:] { // the first is Opus
		contains("| " + strings.ToUpper(strings.Join(c.names, ", ")) + " | " + c.factors() + " |")
	}
	for set := AssumedCodec; set < assumedEnd; set <<= 1 {
		contains("`" + set.String() + "`")
	}
	contains("`" + modelVideo + "`")
	contains("`" + strings.TrimSuffix(modelFullband, " (G.107.2)") + "`")
}

// TestDocumentIsExactEnough: who computes a score again with the document's two decimals is off
// by less than the third.
//
// spec: QUAL-01
func TestDocumentIsExactEnough(t *testing.T) {
	printed := *opus()
	printed.points = slices.Clone(printed.points)
	round := func(v float64) float64 { return math.Round(v*100) / 100 }
	for i := range printed.points {
		p := &printed.points[i]
		p.ie, p.bpl, p.bursty = round(p.ie), round(p.bpl), round(p.bursty)
	}
	for bps := 5e3; bps < 45e3; bps += 250 {
		for ppl := 0.0; ppl <= 30; ppl += 0.5 {
			lost := losses{ppl: ppl, bursty: math.Mod(ppl, 1.5) / 1.5}
			require.InDelta(t, MOS(opus().rating(bps, lost)), MOS(printed.rating(bps, lost)), 0.001)
		}
	}
}

// TestDocumentsExample: what the document computes by hand is what the models give.
//
// spec: QUAL-01
func TestDocumentsExample(t *testing.T) {
	text, err := os.ReadFile("../../../docs/quality.md")
	require.NoError(t, err)
	for _, record := range []stored{
		{model: modelFullband, codec: "opus", inputs: map[string]float64{
			"loss_fraction": 0.089, "delay_ms": 77.5, "bitrate_bps": 18_800, "loss_run_packets": 0.85,
		}},
		{model: modelVideo, codec: "vp8", inputs: map[string]float64{
			"pixels": 307_200, "fps": 18.2, "qp": 12, "freezes_60s": 1, "frozen_fraction": 0.1,
		}},
	} {
		mos := record.again()
		want := fmt.Sprintf("= %.3f: %s.", mos, Label(mos, DefaultBounds()))
		require.Contains(t, string(text), want)
	}
}
