package measure

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// Where a measure is added, and one that the protocol does not have.
const (
	constant = "	NumMeasures\n"
	row      = "\n}\n\nvar measureByName"
	added    = "\n	Wobble: {\"wobbleMs\", Float, \"ms\", 0, maxMs, 0, 0, nil, inboundAudio, \"a measure of a test\"},"
)

// overlay writes the table of measures with one more, and returns the file that puts it in the
// place of the real one.
func overlay(t *testing.T) string {
	t.Helper()
	table, err := filepath.Abs(filepath.Join(root, "protocol", "measures.go"))
	require.NoError(t, err)
	source, err := os.ReadFile(table)
	require.NoError(t, err)
	text := string(source)
	require.Equal(t, 1, strings.Count(text, constant))
	require.Equal(t, 1, strings.Count(text, row))
	text = strings.Replace(text, constant, "	Wobble\n"+constant, 1)
	text = strings.Replace(text, row, added+row, 1)
	dir := t.TempDir()
	changed := filepath.Join(dir, "measures.go")
	require.NoError(t, os.WriteFile(changed, []byte(text), 0o600))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{table: changed}})
	require.NoError(t, err)
	file := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, replace, 0o600))
	return file
}

// TestNewMeasureReachesThePage: a measure that is added to the protocol's table, and nowhere
// else, comes from a frame to the receiver's record, and from that to the page's answer and to the page
// in a browser.
//
// spec: DASH-01, DASH-02
func TestNewMeasureReachesThePage(t *testing.T) {
	send := func(args ...string) (string, error) {
		// The options are those of other tests, so that what does not change is compiled already.
		cmd := exec.Command("go", append(append([]string{"test", "-vet=off", "-trimpath", "-count=1", "-run", "^(TestMeasureReachesThePage|TestTranslateKnowsAllMeasures)$"}, args...),
			"./tests/measure/way", "./receivers/qoswssreceiver")...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "QOS_MEASURE=wobbleMs")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := send("-overlay", overlay(t))
	require.NoError(t, err, out)
	out, err = send()
	require.Error(t, err, "without the row it is no measure")
	require.Contains(t, out, "wobbleMs is not in the page's answer")
}
