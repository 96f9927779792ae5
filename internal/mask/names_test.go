package mask

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxNames is the limit of these tests.
const maxNames = 1000

// spec: DASH-03
func TestNames(t *testing.T) {
	m := New(maxNames)
	for name, alias := range map[string]string{"Ann Real": "a-1", "Ann": "a-2", "Zoë": "z-3", "李雷": "l-4", "a@b.example": "m-5", "": "none", "$& \"x\"": "q-6"} {
		m.Add(name, alias)
	}
	for text, want := range map[string]string{
		"":                            "",
		"nobody":                      "nobody",
		"Ann Real met Ann":            "a-1 met a-2",
		"ANN REAL, ann":               "a-1, a-2",
		"Annette and JoAnn":           "Annette and JoAnn",
		"Ann's":                       "a-2's",
		"(Ann)":                       "(a-2)",
		"zoë|ZOË|Zoë2":                "z-3|z-3|Zoë2",
		"与李雷通话":                       "与l-4通话",
		"?msg=hi%20Ann%20Real":        "?msg=hi%20a-1",
		"x%3DAnn":                     "x%3Da-2",
		`line\nAnn\tsaid`:             `line\na-2\tsaid`,
		"Zoe\u0308 and Zo\u00eb":      "z-3 and z-3",
		`"Zo\u00eb"`:                  `"z-3"`,
		`"\u674e\u96f7"`:              `"l-4"`,
		"Zo%C3%AB":                    "z-3",
		"Ann_Real ann.real@b.example": "a-1 a-1@b.example",
		"ann-real.log":                "a-1.log",
		"与 李雷 通话":                     "与 l-4 通话",
		"to=a%40b.example&x=Ann+Real": "to=m-5&x=a-1",
		"/Ann%20Real/":                "/a-1/",
		`{"a":"$& \"x\""}`:            `{"a":"q-6"}`,
		"Ann Rea":                     "a-2 Rea",
		"\xff Ann \xff":               "\xff a-2 \xff",
	} {
		require.Equal(t, want, m.Text(text))
	}
	require.Equal(t, map[string]any{"a-1": []any{"a-2", 1, nil}}, m.Value(map[string]any{"Ann Real": []any{"Ann", 1, nil}}))
	require.Equal(t, "Ann", (*Names)(nil).Text("Ann"))
}

// Beyond a number of names texts are withheld: they may have names that are not known.
func TestNamesAreBounded(t *testing.T) {
	m := New(maxNames)
	for n := range maxNames + 10 {
		m.Add(fmt.Sprint("user ", n), "a")
	}
	require.Len(t, m.with, maxNames+1)
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
