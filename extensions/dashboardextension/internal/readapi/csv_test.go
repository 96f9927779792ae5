package readapi

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// No cell begins with a character that spreadsheets, or a program that folds widths, take for the begin of a formula,
// whatever is before it.
//
// spec: DASH-01
func TestCellsAreNoFormulas(t *testing.T) {
	signs := 0
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if form := norm.NFKC.String(string(r)); r != '\u2212' && (form == "" || !strings.ContainsRune("=+-@", rune(form[0]))) {
			continue
		}
		signs++
		for _, before := range []string{"", " ", "\t", "\r\n", ";", "; ;", "\u200b", "\ufeff\u00a0", "\x00"} {
			user := before + string(r) + `HYPERLINK("https://a.example")`
			row := conferenceRow{App: user, ID: user, Sites: []string{user}, Participants: []participant{{User: user, UserName: user}}}
			for i, cell := range csvCells(&row) {
				first := strings.TrimLeftFunc(cell, func(r rune) bool { return r != ';' && !unicode.IsGraphic(r) || unicode.IsSpace(r) })
				if strings.HasPrefix(first, string(r)) {
					require.Fail(t, "a formula", "%s: %q", columnsOfCSV[i], cell)
				}
			}
		}
	}
	require.Equal(t, 20, signs, "signs of Unicode that are one of the four in another width or place, and the minus sign")
	require.Equal(t, "ann; =b", csvList([]string{"ann", "=b"}), "only the first is at the begin of the cell")
	require.Equal(t, "'=b; ann", csvList([]string{"=b", "ann"}))
}
