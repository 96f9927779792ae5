package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplaceSection: the other sections stay as they were measured before.
func TestReplaceSection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.md")
	require.NoError(t, os.WriteFile(path, []byte("# Figures\n\n### A\n\nold\n| a |\n\n### B\n\nold\n| b |\n\n## More\n"), 0o600))
	require.NoError(t, ReplaceSection(path, "A", "### A\n\nnew\n| 1 |\n"))
	require.NoError(t, ReplaceSection(path, "B", "### B\n\nnew\n| 2 |\n"))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "# Figures\n\n### A\n\nnew\n| 1 |\n\n### B\n\nnew\n| 2 |\n\n## More\n", string(bytes.ReplaceAll(text, []byte("\r"), nil)))
	require.ErrorContains(t, ReplaceSection(path, "C", ""), `"C"`)
}
