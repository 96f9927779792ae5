package grafana_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/deploy/grafana"
)

// TestFilesAreGenerated: the folder has the JSON model of each dashboard and no other file.
//
// spec: DASH-04
func TestFilesAreGenerated(t *testing.T) {
	want := map[string]string{}
	for _, d := range grafana.Dashboards() {
		text, err := d.JSON()
		require.NoError(t, err)
		want[d.UID+".json"] = string(text)
	}
	files, err := filepath.Glob("dashboards/*")
	require.NoError(t, err)
	require.Len(t, files, len(want))
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want[filepath.Base(file)], string(text), "%s: run go generate ./deploy/grafana", file)
	}
}

var variable = regexp.MustCompile(`\$\{?([a-z]\w*)`)

// TestPanelsAreComplete: each panel has a description and a unit, fits its row of 24 columns,
// overlaps no other, and uses only variables that its dashboard has.
func TestPanelsAreComplete(t *testing.T) {
	uids := map[string]bool{}
	for _, d := range grafana.Dashboards() {
		require.False(t, uids[d.UID], d.UID)
		uids[d.UID] = true
		names := map[string]bool{"datasource": true}
		for _, v := range d.Templating.List {
			names[v.Name] = true
		}
		taken := map[[2]int]string{}
		for i, p := range d.Panels {
			name := d.UID + ": " + p.Title
			require.Equal(t, i+1, p.ID, name)
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					require.Less(t, x, 24, name)
					require.Empty(t, taken[[2]int{x, y}], name)
					taken[[2]int{x, y}] = p.Title
				}
			}
			if p.Type == "row" {
				continue
			}
			require.True(t, strings.HasSuffix(p.Description, "."), "%s: a sentence describes it", name)
			require.NotEmpty(t, p.FieldConfig.Defaults.Unit, name)
			require.NotEmpty(t, p.Targets, name)
			text, err := json.Marshal(p)
			require.NoError(t, err)
			for _, found := range variable.FindAllStringSubmatch(string(text), -1) {
				require.True(t, names[found[1]], "%s uses $%s", name, found[1])
			}
		}
	}
	require.Len(t, uids, 6)
}
