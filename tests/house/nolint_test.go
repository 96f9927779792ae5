package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var nolint = regexp.MustCompile(`//nolint:([a-z,]+)`)

// TestNolintNamesALinterThatRuns: a comment for another linter has no effect, and golangci-lint does not report it.
func TestNolintNamesALinterThatRuns(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	require.NoError(t, err)
	var settings struct{ Linters struct{ Enable []string } }
	require.NoError(t, yaml.Unmarshal(text, &settings))
	require.NotEmpty(t, settings.Linters.Enable)
	eachText(t, func(path, text string) {
		if filepath.Ext(path) != ".go" {
			return
		}
		for _, match := range nolint.FindAllStringSubmatch(text, -1) {
			require.Subset(t, settings.Linters.Enable, strings.Split(match[1], ","), path)
		}
	})
}
