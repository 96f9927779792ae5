package readapi

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// No cell begins with a character that spreadsheets, or a program that folds widths, take for the begin of a formula,
// whatever is before it. Nor does a cell of a program that divides records at another separator, as Excel does in many
// languages: it reads no quotes behind the first cell.
//
// spec: DASH-01
func TestCellsAreNoFormulas(t *testing.T) {
	signs := 0
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if form := norm.NFKC.String(string(r)); r != '\u2212' && (form == "" || !strings.ContainsRune("=+-@", rune(form[0]))) {
			continue
		}
		signs++
		for _, before := range []string{"", " ", "\t", "\r\n", ";", "; ;", "\u200b", "\ufeff\u00a0", "\x00", "\u3164", "\ufe0f", "\"", "a;", "a;\"", "a,\u00a0", "a\t", "a\n", "a; "} {
			user := before + string(r) + `HYPERLINK("https://a.example")`
			row := conferenceRow{App: user, ID: user, Sites: []string{user}, Participants: []participant{{User: user, UserName: user}}}
			for i, cell := range csvCells(&row) {
				for part := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(",;\t\r\n", r) }) {
					seen := strings.TrimLeftFunc(part, func(r rune) bool {
						return r == '"' || unicode.IsSpace(r) || !unicode.IsGraphic(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
					})
					if strings.HasPrefix(seen, string(r)) {
						require.Fail(t, "a formula", "%s: %q", columnsOfCSV[i], cell)
					}
				}
			}
		}
	}
	require.Equal(t, 20, signs, "signs of Unicode that are one of the four in another width or place, and the minus sign")
	require.Equal(t, "ann; '=b; c=d", csvList([]string{"ann", "=b", "c=d"}))
	require.Equal(t, "'=b; ann-1 +2", csvList([]string{"=b", "ann-1 +2"}))
}
