package house

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRooms holds the first level of internal/ to a dozen rooms, each of which says in its doc.go what it is for, and is in
// the table of docs/architecture.md. What one component alone uses is in the internal/ of that component.
func TestRooms(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	rooms, err := os.ReadDir(filepath.Join(root, "internal"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(rooms), 12)
	for _, room := range rooms {
		doc, err := os.ReadFile(filepath.Join(root, "internal", room.Name(), "doc.go"))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(doc), "// Package "+room.Name()+" is the room of "), room.Name())
		require.Contains(t, string(table), "| `internal/"+room.Name()+"/` |")
	}
	users := map[string]map[string]bool{} // components by the package that they import
	for _, p := range list(t) {
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			inside, ours := strings.CutPrefix(imported, module)
			if ours && strings.HasPrefix(inside, "internal/") {
				if users[inside] == nil {
					users[inside] = map[string]bool{}
				}
				users[inside][component(strings.TrimPrefix(p.ImportPath, module))] = true
			}
		}
	}
	for inside, by := range users {
		for user := range by {
			folder, _, _ := strings.Cut(user, "/")
			alone := len(by) == 1 && (folder == "receivers" || folder == "processors" || folder == "exporters" || folder == "connectors" || folder == "extensions")
			require.False(t, alone, "%s is used by %s alone: it belongs to its internal/", inside, user)
		}
	}
}
