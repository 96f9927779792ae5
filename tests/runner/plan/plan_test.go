package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const table = "Text before.\n\n" +
	"| tests | run by | reason |\n" +
	"| --- | --- | --- |\n" +
	"| `tests/access` | `make test` | one pass |\n" +
	"| `tests/delivery` | both | one kill, then many |\n" +
	"| `tests/delivery` `TestSoak` `TestKills` | `make test-long` | minutes |\n" +
	"| `storage/sqlite` `TestBig` | `make test-long` | large |\n" +
	"| `*/*/generated*` | `make test-long` | made by a program |\n" +
	"\n| tests | other |\n| --- | --- |\n| `tests/other` | x |\n"

func TestRead(t *testing.T) {
	p, err := Read(table)
	require.NoError(t, err)
	require.Equal(t, Plan{
		{Package: "tests/access", Runs: []Run{Test}, Reason: "one pass"},
		{Package: "tests/delivery", Runs: []Run{Test, Long}, Reason: "one kill, then many"},
		{Package: "tests/delivery", Tests: []string{"TestSoak", "TestKills"}, Runs: []Run{Long}, Reason: "minutes"},
		{Package: "storage/sqlite", Tests: []string{"TestBig"}, Runs: []Run{Long}, Reason: "large"},
		{Package: "*/*/generated*", Runs: []Run{Long}, Reason: "made by a program"},
	}, p)

	require.Equal(t, []string{"TestA"}, p.Select(Test, "tests/delivery", []string{"TestA", "TestSoak"}))
	require.Equal(t, []string{"TestA", "TestSoak"}, p.Select(Long, "tests/delivery", []string{"TestA", "TestSoak"}))
	require.Empty(t, p.Select(Long, "tests/access", []string{"TestA"}))
	require.Equal(t, []string{"TestA"}, p.Select(Test, "storage/sqlite", []string{"TestBig", "TestA"}))
	require.Equal(t, []string{"TestBig"}, p.Select(Long, "storage/sqlite", []string{"TestBig", "TestA"}))
	require.Equal(t, []Run{Test}, p.Runs("internal/call/event", "TestA"), "outside tests without a line")
	require.Empty(t, p.Runs("tests/unlisted", "TestA"))
	require.Equal(t, []Run{Long}, p.Runs("receivers/a/generatedtest", "TestA"))
	require.Equal(t, []Run{Test}, p.Runs("receivers/a", "TestA"))
}

func TestReadRefuses(t *testing.T) {
	head := "| tests | run by | reason |\n| --- | --- | --- |\n"
	for text, want := range map[string]string{
		"nothing":                                                                     "no table",
		head + "| `tests/a` | sometimes | x |\n":                                      "`tests/a`: sometimes is neither",
		head + "| `TestA` | both | x |\n":                                             "`TestA`: the first name",
		head + "| all of them | both | x |\n":                                         "all of them: the first name",
		head + "| `tests/[` | both | x |\n":                                           "tests/[: the pattern",
		head + "| `tests/a` `tests/b` | both | x |\n":                                 "further names",
		head + "| `tests/a` | both | x |\n| `tests/a` | `make test` | x |\n":          "tests/a has two lines",
		head + "| `tests/a` `TestB` | both | x |\n| `tests/a` `TestB` | both | x |\n": "tests/a TestB has two lines",
	} {
		_, err := Read(text)
		require.ErrorContains(t, err, want, text)
	}
}
