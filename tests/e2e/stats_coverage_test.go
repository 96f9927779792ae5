package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// unsupplied are the measures that no browser has.
var unsupplied = []string{"availableIncomingBps"}

// TestEveryMeasureIsCompared: TestFiguresInChromium and TestFiguresInFirefox hold each measure of the protocol against the
// browser's reports, within the range that the collector takes.
//
// spec: STAT-04
func TestEveryMeasureIsCompared(t *testing.T) {
	compared := map[string]figure{}
	for _, f := range measures {
		compared[f.name] = f
	}
	for _, text := range texts {
		compared[text.name] = figure{name: text.name, sets: text.sets}
	}
	for _, m := range protocol.Measures {
		f, ok := compared[m.Name]
		require.NotEqual(t, slices.Contains(unsupplied, m.Name), ok, m.Name)
		require.Equal(t, ok, f.sets != "", m.Name)
		if m.Type != protocol.Text && ok {
			require.Equal(t, [2]float64{m.Min, m.Max}, [2]float64{f.least, f.most}, m.Name)
			require.True(t, m.Type == protocol.Float || f.decimals == 0, m.Name)
		}
		delete(compared, m.Name)
	}
	require.Empty(t, compared, "no measures of the protocol")
}

// supplied lists the columns that had a number other than 0, or a text, and those that had none.
func supplied(measurements [][]object) (some, none []string) {
	had := map[string]bool{}
	for _, rows := range measurements {
		for _, row := range rows {
			for name, value := range row {
				had[name] = had[name] || value != nil && value != 0.0
			}
		}
	}
	for _, m := range protocol.Measures {
		if had[m.Name] {
			some = append(some, m.Name)
		} else {
			none = append(none, m.Name)
		}
	}
	return some, none
}
