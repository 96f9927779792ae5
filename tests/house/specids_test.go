package house

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notYet lists the requirements that no test proves, with what is missing. An id leaves it
// when the first test claims it.
var notYet = map[string]string{}

// inPart lists the requirements of which tests prove some clauses and others do not exist.
var inPart = map[string]string{}

var (
	specID = regexp.MustCompile(`\b(?:LIB|INIT|FAB|API|STAT|PRE|AUTH|SRV|CONF|QUAL|OUT|PRIV|DASH)-\d+\b`)
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
		strings.HasPrefix(path, "storage/storagetest/") || strings.HasPrefix(path, "client/test/")
}

// TestSpecIDs: each id that a text names is a requirement, and each requirement is claimed
// by a test or listed above as one that nothing proves.
func TestSpecIDs(t *testing.T) {
	known := specs(t)
	claimed := map[string]string{}
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
		for _, id := range ids {
			require.True(t, proves(path), "%s claims %s and is no test", path, id)
			claimed[id] = path
		}
	})
	for _, id := range known {
		_, waits := notYet[id]
		if waits && claimed[id] != "" {
			t.Errorf("%s is claimed by %s: strike it from notYet, or move it to inPart with what is still missing", id, claimed[id])
		}
		if !waits && claimed[id] == "" {
			t.Errorf("%s is claimed by no test: list it in notYet with what is missing", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(inPart)) {
		require.NotEmpty(t, claimed[id], "%s is proved in part by no test: it belongs into notYet", id)
	}
	require.Subset(t, known, slices.Collect(maps.Keys(notYet)))
	t.Logf("%d requirements: %d claimed, %d of them in part, %d not yet", len(known), len(claimed), len(inPart), len(notYet))
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
