package mask

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// maxNames is the limit of these tests.
const maxNames = 1000

// spec: DASH-03
func TestNames(t *testing.T) {
	m := New(maxNames)
	for name, alias := range map[string]string{"Ann Real": "a-1", "Ann": "a-2", "Zoë": "z-3", "李雷": "l-4", "a@b.example": "m-5", "": "none", "$& \"x\"": "q-6", "José": "j-7", "Σοφος": "s-8", "-": "no", "J.": "j-9"} {
		m.Add(name, alias)
	}
	for text, want := range map[string]string{
		"":                                "",
		"nobody":                          "nobody",
		"Ann Real met Ann":                "a-1 met a-2",
		"ANN REAL, ann":                   "a-1, a-2",
		"Annette and JoAnn":               "Annette and JoAnn",
		"Ann's":                           "a-2's",
		"(Ann)":                           "(a-2)",
		"zoë|ZOË|Zoë2":                    "z-3|z-3|Zoë2",
		"与李雷通话":                           "与l-4通话",
		"?msg=hi%20Ann%20Real":            "?msg=hi%20a-1",
		"x%3DAnn":                         "x%3Da-2",
		`line\nAnn\tsaid`:                 `line\na-2\tsaid`,
		"Zoe\u0308 and Zo\u00eb":          "z-3 and z-3",
		`"Zo\u00eb"`:                      `"z-3"`,
		`"\u674e\u96f7"`:                  `"l-4"`,
		"Zo%C3%AB":                        "z-3",
		"Ann_Real ann.real@b.example":     "a-1 a-1@b.example",
		"ann-real.log":                    "a-1.log",
		"与 李雷 通话":                         "与 l-4 通话",
		"to=a%40b.example&x=Ann+Real":     "to=m-5&x=a-1",
		"/Ann%20Real/":                    "/a-1/",
		`{"a":"$& \"x\""}`:                `{"a":"q-6"}`,
		"Ann Rea":                         "a-2 Rea",
		"\xff Ann \xff":                   "\xff a-2 \xff",
		`CORP\Ann C:\Users\ann.real\x`:    `CORP\a-2 C:\Users\a-1\x`,
		`\n%41nn`:                         `\na-2`,
		`CORP\zo\u00eb CORP\\u005aoë`:     `CORP\z-3 CORP\z-3`,
		"%ann%2520real":                   "%a-1",
		`{\"a\":\"A\\u006en\"}`:           `{\"a\":\"a-2\"}`,
		"ann\r\n real, ann\u00a0real.":    "a-1, a-1.",
		"A\u200bnn\ufe0f|\u200bann\u200b": "a-2\ufe0f|\u200ba-2\u200b",
		"JOSÉ jose\u0301 jose":            "j-7 j-7 jose",
		"σοφος ΣΟΦΟΣ":                     "s-8 s-8",
	} {
		require.Equal(t, want, m.Text(text))
	}
	require.Equal(t, map[string]any{"a-1": []any{"a-2", 1, nil}}, m.Value(map[string]any{"Ann Real": []any{"Ann", 1, nil}}))
	require.Equal(t, "Ann", (*Names)(nil).Text("Ann"))
}

// encodings are the ways in which a text may have a name.
var encodings = map[string]func(string) string{
	"plain": func(s string) string { return s },
	"upper": strings.ToUpper,
	"NFD":   norm.NFD.String,
	"URL":   url.PathEscape,
	"form":  url.QueryEscape,
	"percent": func(s string) string {
		var out strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&out, "%%%02x", s[i])
		}
		return out.String()
	},
	"JSON": func(s string) string {
		out, _ := json.Marshal(s)
		return string(out[1 : len(out)-1])
	},
	"ASCII":     func(s string) string { return escaped(s, func(rune) bool { return true }) },
	"not ASCII": func(s string) string { return escaped(s, func(r rune) bool { return r >= utf8.RuneSelf }) }, // as Java and Python write it
	"_":         separated("_"), ".": separated("."), "-": separated("-"), "+": separated("+"), "lines": separated("\r\n\t"),
	"hidden": func(s string) string { return strings.Join(strings.Split(s, ""), "\u200d") },
}

func escaped(s string, is func(rune) bool) string {
	var out strings.Builder
	for _, r := range s {
		if !is(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

func separated(by string) func(string) string {
	return func(s string) string { return strings.Join(strings.Fields(s), by) }
}

// Names are found whatever is beside them that is no part of a word, in each encoding.
//
// spec: DASH-03
func TestEveryNeighbour(t *testing.T) {
	var neighbours []string
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x2100 && r%997 != 0 || isWord(r) || isMark(r) || !utf8.ValidRune(r) {
			continue
		}
		if !unicode.IsLetter(r) { // of a script without spaces: it may be composed
			neighbours = append(neighbours, string(r))
		}
	}
	for _, name := range []string{"Adam", "Nadja Ude", "Björn", "Zoë Bé", "🙂 Ann", "(b)", "Émile", "77 Ö"} {
		m := New(maxNames)
		m.Add(name, "alias")
		for encoding, encode := range encodings {
			in := encode(name)
			for _, beside := range neighbours {
				got, want := m.Text(beside+in+beside), beside+"alias"+beside
				switch {
				case beside == "%" || beside == `\`: // they may be part of an escape sequence
					require.Contains(t, got, "alias")
					require.NotContains(t, got, in)
				case got != want:
					require.Equal(t, want, got, "%s of %s beside %U", encoding, name, []rune(beside))
				}
			}
		}
	}
}

// A name is found that is encoded once, and once more with a sign before it that begins escape sequences, in any text.
//
// spec: DASH-03
func TestEncodedTwice(t *testing.T) {
	kinds := slices.Sorted(maps.Keys(encodings))
	escaping := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == "upper" }) // \U0041 is no escape sequence
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringMatching(`[A-Zü][a-zöß]{1,6}( [A-Z][a-zé]{0,6}){0,2}`).Draw(rt, "name")
		first, second := encodings[rapid.SampledFrom(kinds).Draw(rt, "first")], encodings[rapid.SampledFrom(escaping).Draw(rt, "second")]
		sign := rapid.SampledFrom([]string{"", `\`, "%", `C:\Users\`, `\\host\`, "100%", `%\`}).Draw(rt, "sign")
		m := New(maxNames)
		m.Add(name, "·alias·")
		before, after := rapid.String().Draw(rt, "before"), rapid.String().Draw(rt, "after")
		got := m.Text(before + "\n" + second(sign+first(name)) + " " + after)
		require.Contains(rt, got, "·alias·")
		require.Equal(rt, got, m.Text(got))
	})
}

// Beyond a number of names texts are withheld: they may have names that are not known.
func TestNamesAreBounded(t *testing.T) {
	m := New(maxNames)
	for n := range maxNames + 10 {
		m.Add(fmt.Sprint("user ", n), "a")
	}
	require.Len(t, m.replacements, maxNames+1)
	require.Equal(t, Withheld, m.Text("anything"))
}

func BenchmarkText(b *testing.B) {
	m := New(maxNames)
	for n := range 1000 {
		m.Add(fmt.Sprintf("First%d Last%d", n, n), "alias")
	}
	text := strings.Repeat("a=candidate:1 1 udp 2122260223 192.0.2.0 50000 typ host First77 Last77\r\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		m.Text(text)
	}
}
