package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/runner/plan"
)

func readPlan(t *testing.T) plan.Plan {
	t.Helper()
	p, err := plan.Read(read(t, "CONTRIBUTING.md"))
	require.NoError(t, err)
	return p
}

// testFile is a Go file of tests with its parsed source.
type testFile struct {
	path string // below the root
	text string
	set  *token.FileSet
	tree *ast.File
}

// parsed has the test files of folders.
var parsed = map[string][]testFile{}

// testFiles parses the test files of a folder below the root, once.
func testFiles(t *testing.T, folder string) (files []testFile) {
	t.Helper()
	if files, done := parsed[folder]; done {
		return files
	}
	defer func() { parsed[folder] = files }()
	found, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	require.NoError(t, err)
	for _, path := range found {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, testFile{strings.TrimPrefix(path, root+"/"), string(text), set, tree})
	}
	return files
}

// topLevel returns the tests of files, fuzz targets too.
func topLevel(files []testFile) (names []string) {
	for _, f := range files {
		for _, decl := range f.tree.Decls {
			if fn, is := decl.(*ast.FuncDecl); is && isTest(fn) {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

func isTest(fn *ast.FuncDecl) bool {
	name := fn.Name.Name
	return fn.Recv == nil && name != "TestMain" && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example"))
}

// testFolders returns the folders below the root that have Go tests.
func testFolders(t *testing.T) (folders []string) {
	t.Helper()
	for _, p := range list(t) {
		folder := strings.TrimPrefix(p.ImportPath, module)
		if len(topLevel(testFiles(t, folder))) > 0 {
			folders = append(folders, folder)
		}
	}
	require.NotEmpty(t, folders)
	return folders
}

// TestEveryTestRuns: the table of CONTRIBUTING.md assigns each package below tests and each browser test to a command,
// and has nothing that does not exist.
func TestEveryTestRuns(t *testing.T) {
	p := readPlan(t)
	folders := testFolders(t)
	for _, folder := range folders {
		for _, name := range topLevel(testFiles(t, folder)) {
			if folder == plan.Browsers {
				require.True(t, slices.ContainsFunc(p, func(line plan.Line) bool {
					return line.Package == folder && slices.Contains(line.Tests, name)
				}), "CONTRIBUTING.md has no line for the browser test %s", name)
			}
			require.NotEmpty(t, p.Runs(folder, name), "CONTRIBUTING.md has no line for %s", folder)
		}
	}
	for _, line := range p {
		require.True(t, slices.ContainsFunc(folders, line.Has), "CONTRIBUTING.md: no package with tests is %s", line.Package)
		require.NotEmpty(t, strings.TrimSpace(line.Reason), "%s %v", line.Package, line.Tests)
		for _, name := range line.Tests {
			require.Contains(t, topLevel(testFiles(t, line.Package)), name, "CONTRIBUTING.md: %s has no such test", line.Package)
		}
	}
}
