package main

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/qosrtc/qos/tests/runner/plan"
)

const (
	module  = "github.com/qosrtc/qos/"
	library = "pgregory.net/rapid" // of property tests
)

// testPackage is a package with its tests.
type testPackage struct {
	ImportPath                         string
	Dir                                string
	TestGoFiles, XTestGoFiles          []string
	Imports, TestImports, XTestImports []string
	folder                             string   // below the root
	tests                              []string // top-level tests, in the order of files
	properties                         []string // tests in files that import the library of property tests
}

// testPackages returns the packages of the module, sorted by path; some have no tests.
func testPackages(ctx context.Context) (list []*testPackage, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		p := new(testPackage)
		if err := decoder.Decode(p); err != nil {
			return nil, err
		}
		p.folder = strings.TrimPrefix(p.ImportPath, module)
		if err := p.parse(); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (p *testPackage) parse() error {
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		found := testsOf(file)
		p.tests = append(p.tests, found...)
		if slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"`+library+`"` }) {
			p.properties = append(p.properties, found...)
		}
	}
	return nil
}

// testsOf returns the top-level tests of a file, fuzz targets too: their seeds are tests.
func testsOf(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		f, is := decl.(*ast.FuncDecl)
		if !is || f.Recv != nil || f.Name.Name == "TestMain" {
			continue
		}
		for _, prefix := range []string{"Test", "Fuzz", "Example"} {
			rest, found := strings.CutPrefix(f.Name.Name, prefix)
			if found && (rest == "" || strings.ToLower(rest[:1]) != rest[:1] || rest[0] == '_') {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// selected returns the tests of a package that a command runs. `make test-long` also runs the properties of packages
// that have no line, with five times as many tries, and the tests of racedLater.
func (p *testPackage) selected(tests plan.Plan, which plan.Run) []string {
	chosen := tests.Select(which, p.folder, p.tests)
	if which != plan.Long {
		return chosen
	}
	for _, name := range p.tests {
		if !slices.Contains(chosen, name) && (slices.Contains(p.properties, name) || racedLater[p.folder] && withRace[p.folder].MatchString(name)) {
			chosen = append(chosen, name)
		}
	}
	return chosen
}

// tries are how many times a property is checked.
const (
	tries       = 50
	serverTries = 20  // `make test`, on PostgreSQL, which runs the same properties as SQLite, many times slower
	moreTries   = 250 // `make test-long`, of properties that `make test` checks too
)

func (p *testPackage) tries(which plan.Run) int {
	if which == plan.Test && p.folder == "storage/postgres" {
		return serverTries
	}
	return tries
}

// flags are what the test binary of the package gets, for tests that check properties so many times.
func (p *testPackage) flags(tries int) []string {
	if slices.Contains(slices.Concat(p.Imports, p.TestImports, p.XTestImports), library) {
		return []string{fmt.Sprintf("-rapid.checks=%d", tries)}
	}
	return nil
}
