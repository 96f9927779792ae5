package recipes

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmes have the blocks.
var readmes = []string{"exporters/timeseriesexporter", "connectors/seriesconnector"}

// notRun are the blocks that no recipe runs, with the reason.
var notRun = map[string]string{}

var (
	block   = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// blocks returns the YAML blocks of the READMEs by the component, the heading above and the number below
// that heading.
func blocks(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, folder := range readmes {
		raw, err := os.ReadFile(filepath.Join("..", "..", folder, "README.md"))
		require.NoError(t, err)
		text := string(raw)
		for _, found := range block.FindAllStringSubmatchIndex(text, -1) {
			above := heading.FindAllStringSubmatch(block.ReplaceAllString(text[:found[0]], ""), -1)
			name := filepath.Base(folder) + ": " + above[len(above)-1][1]
			n := 1
			for all[fmt.Sprint(name, " ", n)] != "" {
				n++
			}
			all[fmt.Sprint(name, " ", n)] = text[found[2]:found[3]]
		}
		require.Equal(t, strings.Count(text, "```yaml"), strings.Count(text, "\n```yaml\n"), "%s: blocks are not indented", folder)
	}
	return all
}

// TestEveryBlockRuns: each block is part of a recipe, or listed with the reason why it is not.
//
// spec: OUT-01
func TestEveryBlockRuns(t *testing.T) {
	var run []string
	for _, r := range recipes {
		run = append(run, r.blocks...)
	}
	for name, reason := range notRun {
		require.NotEmpty(t, reason)
		run = append(run, name)
	}
	var there []string
	for name := range blocks(t) {
		there = append(there, name)
	}
	slices.Sort(run)
	slices.Sort(there)
	require.Equal(t, there, run, "the blocks of the READMEs, and those that a recipe runs or the list names")
}
