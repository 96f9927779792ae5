package protocol

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// section returns one section of docs/protocol.md, from its heading to the next.
func section(t *testing.T, number string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/protocol.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "\n## "+number+". ")
	require.True(t, ok, "section %s", number)
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

// Section 7 lists the column names, in the order of the table in measures.go.
func TestDocumentListsMeasures(t *testing.T) {
	_, list, ok := strings.Cut(section(t, "7"), "Names: *")
	require.True(t, ok)
	list, _, ok = strings.Cut(list, "*")
	require.True(t, ok)
	var want []string
	for _, m := range Measures {
		want = append(want, m.Name)
	}
	require.Equal(t, want, regexp.MustCompile(`,\s+`).Split(list, -1))
}

// Section 6 has the members of the client's events, and their words: all are in the tables of eventdata.go, and nothing else is.
func TestDocumentListsEventData(t *testing.T) {
	// Of these nothing is known: applications and browsers write them.
	free := strings.Fields("localAddress localAddresses cname msid trackIdentifier userID usageLabel associatedVideoTag newUserID timestamp callType role")
	text := section(t, "6")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| \w+ \| .*$`).FindAllString(text, -1) {
		for _, member := range regexp.MustCompile(`"(\w+)"(?::"([^"]*)")?`).FindAllStringSubmatch(row, -1) {
			name := member[1]
			listed[name] = true
			words, isWord := EventWords[name]
			require.True(t, isWord || slices.Contains(EventNumbers, name) || slices.Contains(free, name), name)
			for _, word := range regexp.MustCompile(`\w+`).FindAllString(member[2], -1) {
				require.Contains(t, words, word, name)
			}
		}
	}
	for _, name := range slices.Concat(EventNumbers, slices.Collect(maps.Keys(EventWords))) {
		require.True(t, listed[name] || name == "reason", name)
	}
}

// A neighbour is a counter that is in each report that its measure is in, and has a limit of its own.
func TestNeighboursAreInTheSameReports(t *testing.T) {
	for _, m := range Measures {
		if n := m.Within; n != nil {
			require.Zero(t, m.Reports&^n.Of.Info().Reports, m.Name)
			require.Positive(t, n.Of.Info().PerSecond, m.Name)
			require.Positive(t, n.Each, m.Name)
		}
	}
}

// The library's table says the same of each measure that it sends.
func TestLibraryTableAgrees(t *testing.T) {
	text, err := os.ReadFile("../client/src/stats/measures.ts")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "const table = `")
	require.True(t, ok)
	table, _, ok = strings.Cut(table, "`")
	require.True(t, ok)
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		m := MeasureNamed(words[0])
		require.NotEqual(t, UnknownMeasure, m, words[0])
		var sets Reports
		for _, set := range words[1] {
			sets |= 1 << (set - '1')
		}
		require.Equal(t, sets.Names(), m.Info().Reports.Names(), words[0])
	}
}

// declaredCodes reads the Code constants from the source: a code that nobody entered
// into the tables is found too.
func declaredCodes(t *testing.T) (declared []Code) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
			literal, ok := spec.Values[0].(*ast.BasicLit)
			require.True(t, ok)
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			declared = append(declared, Code(text))
		}
		return true
	})
	return declared
}

// Section 9 has one row a code, in the order of errors.go, and says when a client may try
// again.
//
// spec: SRV-04
func TestDocumentListsCodes(t *testing.T) {
	retries := map[string][2]bool{"yes": {true, true}, "no": {false, false}, "later": {false, true}}
	var listed []Code
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (\\d+) \\| (\\w+) \\| .+ \\| .+ \\|$").FindAllStringSubmatch(section(t, "9"), -1) {
		code := Code(row[1])
		listed = append(listed, code)
		require.Equal(t, string(code.CSError()), row[2], "csError of %s", code)
		require.Equal(t, strconv.Itoa(code.HTTPStatus()), row[3], "HTTP status of %s", code)
		require.Contains(t, retries, row[4])
		require.Equal(t, [2]bool{code.Retry(false), code.Retry(true)}, retries[row[4]], "retry of %s", code)
	}
	require.Equal(t, declaredCodes(t), listed)
	require.Len(t, codes, len(listed))
}
