package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/runner/plan"
)

// notYet lists the requirements that no test of `make test` proves, with what is missing. An id leaves it when the
// first test claims it.
var notYet = map[string]string{
	"DASH-06":  "one sentence at the head of a conference, one row for each fault",
	"DASH-07":  "breakdowns, comparisons of two sets, time patterns",
	"DASH-08":  "search by the beginning of a text, groups of failures, saved searches, notes",
	"DASH-09":  "pages of meetings of 50 and 500",
	"OPS-01":   "the commands init and check",
	"OPS-02":   "images",
	"OPS-03":   "the chart",
	"OPS-04":   "packages",
	"OPS-05":   "a release",
	"OPS-06":   "two versions on one store",
	"SCALE-01": "Kafka between edge and core collectors",
	"SCALE-02": "a core collector that lags",
	"SCALE-03": "partitions of PostgreSQL",
	"SCALE-04": "a promoted standby",
	"SCALE-05": "an edge collector without its settings store",
	"IMP-01":   "import of dumps",
	"IMP-02":   "broken and hostile dumps",
	"IMP-03":   "export and import of a conference",
	"SIDE-01":  "the Go client",
	"SIDE-02":  "two legs of a stream",
	"SIDE-03":  "probes",
}

// inPart lists the requirements of which tests prove some clauses and others do not exist.
var inPart = map[string]string{
	"SDK-01": "SDKs of SIP",
}

// longSuffices matches the ids that `make test-long` alone may prove.
var longSuffices = regexp.MustCompile(`^(SDK|OPS|SCALE|IMP|SIDE)-`)

var (
	specID = regexp.MustCompile(`\b(?:LIB|INIT|FAB|API|STAT|PRE|AUTH|SRV|CONF|QUAL|OUT|PRIV|DASH|SDK|OPS|SCALE|IMP|SIDE)-\d+\b`)
	// A claim ends with its line, its parenthesis or its string.
	specClaim     = regexp.MustCompile(`(?i)\bspec: ?([^\n)'"` + "`" + `]*)`)
	specSeparator = regexp.MustCompile(`,? `)
)

// specs reads docs/requirements.md: its ids in order.
func specs(t *testing.T) []string {
	t.Helper()
	var ids []string
	for _, line := range regexp.MustCompile(`(?m)^- (\S+) `).FindAllStringSubmatch(read(t, "docs", "requirements.md"), -1) {
		require.Equal(t, line[1], specID.FindString(line[1]), "docs/requirements.md: a line without an id")
		require.NotContains(t, ids, line[1], "docs/requirements.md")
		ids = append(ids, line[1])
	}
	require.NotEmpty(t, ids)
	return ids
}

// claims returns the ids that a text claims to prove, and what stands there without being one.
func claims(text string) (ids, wrong []string) {
	for _, claim := range specClaim.FindAllStringSubmatch(text, -1) {
		for _, one := range specSeparator.Split(claim[1], -1) {
			if specID.FindString(one) == one && one != "" {
				ids = append(ids, one)
			} else {
				wrong = append(wrong, claim[0])
			}
		}
	}
	return ids, wrong
}

// eachText calls with each text that people wrote: tests, sources, pages and documents.
func eachText(t *testing.T, call func(path, text string)) {
	t.Helper()
	extensions := []string{".go", ".ts", ".js", ".mjs", ".html", ".md", ".yaml", ".sql"}
	built := []string{".git", "node_modules", "dist", "bin", "coverage", ".qos"}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(built, d.Name()) {
			return filepath.SkipDir
		}
		if d.IsDir() || !slices.Contains(extensions, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		call(strings.TrimPrefix(path, root+"/"), string(text))
		return err
	}))
}

// proves reports whether a file may claim ids: a test, or a suite that tests run.
func proves(path string) bool {
	return strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".test.ts") ||
		strings.HasPrefix(path, "tests/store/storagetest/") || strings.HasPrefix(path, "client/test/")
}

// TestSpecIDs: each id that a text names is a requirement, and each requirement is claimed by a test that `make test`
// runs, or listed above as one that nothing proves.
func TestSpecIDs(t *testing.T) {
	known := specs(t)
	eachText(t, func(path, text string) {
		if path == "tests/house/specids_test.go" || path == "docs/requirements.md" || path == "CONTRIBUTING.md" {
			return // they speak of claims
		}
		for _, id := range specID.FindAllString(text, -1) {
			require.True(t, slices.Contains(known, id), "%s names %s, which is no requirement", path, id)
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".ts" {
			return
		}
		ids, wrong := claims(text)
		require.Empty(t, wrong, "%s: a claim is `spec: AUTH-01, AUTH-02`", path)
		require.True(t, len(ids) == 0 || proves(path), "%s claims %v and is no test", path, ids)
	})
	byTest, byLong := claimed(t)
	for _, id := range known {
		where := byTest[id]
		if where == "" && longSuffices.MatchString(id) {
			where = byLong[id]
		}
		_, waits := notYet[id]
		if waits && where != "" {
			t.Errorf("%s is claimed by %s: strike it from notYet, or move it to inPart with what is still missing", id, where)
		}
		if !waits && where == "" {
			t.Errorf("%s is claimed by no test of `make test` (in `make test-long`: %q): list it in notYet with what is missing", id, byLong[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(inPart)) {
		require.NotEmpty(t, byTest[id], "%s is proved in part by no test: it belongs into notYet", id)
	}
	require.Subset(t, known, slices.Collect(maps.Keys(notYet)))
	t.Logf("%d requirements: %d claimed, %d of them in part, %d not yet", len(known), len(byTest), len(inPart), len(notYet))
}

// claimed returns a place of each id that `make test` and `make test-long` prove. The suites and the tests of the
// library run in `make test`.
func claimed(t *testing.T) (byTest, byLong map[string]string) {
	t.Helper()
	byTest, byLong = map[string]string{}, map[string]string{}
	eachText(t, func(path, text string) {
		if proves(path) && !strings.HasSuffix(path, "_test.go") {
			ids, _ := claims(text)
			for _, id := range ids {
				byTest[id] = path
			}
		}
	})
	p := readPlan(t)
	for _, folder := range testFolders(t) {
		files := testFiles(t, folder)
		all := topLevel(files)
		for run, places := range map[plan.Run]map[string]string{plan.Test: byTest, plan.Long: byLong} {
			reached := reach(files, p.Select(run, folder, all))
			for _, f := range files {
				for _, id := range claimsOf(f, reached, len(reached) > 0) {
					places[id] = f.path
				}
			}
		}
	}
	return byTest, byLong
}

// reach returns the names of the functions of files that tests call, the tests too. Functions of one name count as one.
func reach(files []testFile, tests []string) map[string]bool {
	calls := map[string][]string{}
	for _, f := range files {
		for _, decl := range f.tree.Decls {
			if fn, is := decl.(*ast.FuncDecl); is {
				ast.Inspect(fn, func(n ast.Node) bool {
					if name, is := n.(*ast.Ident); is {
						calls[fn.Name.Name] = append(calls[fn.Name.Name], name.Name)
					}
					return true
				})
			}
		}
	}
	reached := map[string]bool{}
	for next := slices.Clone(tests); len(next) > 0; {
		name := next[0]
		if next = next[1:]; !reached[name] {
			reached[name] = true
			for _, called := range calls[name] {
				if calls[called] != nil {
					next = append(next, called)
				}
			}
		}
	}
	return reached
}

// claimsOf returns the ids that a file claims in functions that are reached, and outside functions if some test runs.
func claimsOf(f testFile, reached map[string]bool, outside bool) (ids []string) {
	rest := []byte(f.text)
	for _, decl := range f.tree.Decls {
		fn, is := decl.(*ast.FuncDecl)
		if !is {
			continue
		}
		begin := fn.Pos()
		if fn.Doc != nil {
			begin = fn.Doc.Pos()
		}
		from, to := f.set.Position(begin).Offset, f.set.Position(fn.End()).Offset
		if reached[fn.Name.Name] {
			of, _ := claims(f.text[from:min(to+lineEnd(f.text[to:]), len(f.text))])
			ids = append(ids, of...)
		}
		for i := from; i < to; i++ {
			rest[i] = ' '
		}
	}
	if outside {
		of, _ := claims(string(rest))
		ids = append(ids, of...)
	}
	return ids
}

func lineEnd(text string) int {
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		return end
	}
	return len(text)
}

// TestClaimsCountWhereTestsRun: a claim counts in a test that runs and in what it calls, and not elsewhere.
func TestClaimsCountWhereTestsRun(t *testing.T) {
	text := `package p
// TestA runs (spec: AUTH-01).
func TestA(t *testing.T) { helper() }
// spec: AUTH-02
func helper() { t.Run("x (spec: AUTH-03)", nil) }
// spec: AUTH-04
func TestB(t *testing.T) { other() }
func other() {
	// spec: AUTH-05
}
var cases = []string{"spec: AUTH-06"}
`
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "p_test.go", text, parser.ParseComments)
	require.NoError(t, err)
	files := []testFile{{"p_test.go", text, set, tree}}
	require.Equal(t, []string{"TestA", "TestB"}, topLevel(files))
	require.Equal(t, []string{"AUTH-01", "AUTH-02", "AUTH-03", "AUTH-06"}, claimsOf(files[0], reach(files, []string{"TestA"}), true))
	require.Equal(t, []string{"AUTH-04", "AUTH-05"}, claimsOf(files[0], reach(files, []string{"TestB"}), false))
	require.Empty(t, claimsOf(files[0], reach(files, nil), false))
}

func TestClaims(t *testing.T) {
	for text, want := range map[string][]string{
		"// spec: AUTH-01, LIB-02\nfunc": {"AUTH-01", "LIB-02"},
		"// spec: AUTH-01 LIB-02":        {"AUTH-01", "LIB-02"},
		"it('runs (spec: API-03)', ":     {"API-03"},
		"x; // seen too (spec: STAT-07)": {"STAT-07"},
		"nothing":                        nil,
	} {
		ids, wrong := claims(text)
		require.Equal(t, want, ids, text)
		require.Empty(t, wrong, text)
	}
	for _, text := range []string{"// spec: AUTH-01,", "(spec: AUTH 01)", "// Spec: none", "// spec:", "// spec: AUTH-01; LIB-02", "(spec: AUTH-01,LIB-02)"} {
		_, wrong := claims(text)
		require.NotEmpty(t, wrong, text)
	}
}
