package readapi

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/qosrtc/qos/internal/identity/visible"
)

// columnsOfCSV are the cells of the header, and of each row in their order. userNames is there for readers who may see
// real names.
var columnsOfCSV = []string{
	"app", "conferenceID", "start", "end", "durationMs", "state", "outcome", "score", "label", "cause", "sites", "participantCount", "users", "userNames",
}

// csvCells returns the cells of a conference. Times are ISO 8601 in UTC, lists have "; " between their elements.
func csvCells(c *conferenceRow) []string {
	var users, userNames []string
	for _, p := range c.Participants {
		users, userNames = append(users, p.User), append(userNames, p.UserName)
	}
	score := ""
	if c.MOS != nil {
		score = strconv.FormatFloat(*c.MOS, 'f', 2, 64)
	}
	return []string{
		harmless(c.App), harmless(c.ID), isoTime(c.StartAt), isoTime(c.EndAt), strconv.FormatInt(c.DurationMs, 10), c.State, c.Outcome, score, c.Label,
		c.Cause, csvList(c.Sites), strconv.Itoa(c.ParticipantCount), csvList(users), csvList(userNames),
	}
}

// csvLine returns a record of RFC 4180. Each cell is quoted.
func csvLine(cells []string) string {
	var out strings.Builder
	for i, cell := range cells {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(`"` + strings.ReplaceAll(cell, `"`, `""`) + `"`)
	}
	return out.String() + "\r\n"
}

// csvList returns a cell with several texts.
func csvList(all []string) string { return harmless(strings.Trim(strings.Join(all, "; "), "; ")) }

// csvSeparators are the characters at which programs divide a record: Excel takes the list separator of its language in place
// of the comma, and then reads the quotes of the first cell only.
const csvSeparators = ",;\t\r\n"

// harmless puts ' before each sign at which spreadsheets begin a formula: =, +, - or @, in any width, at the begin of a cell or
// behind a separator, also behind quotes, blanks and characters that cannot be seen.
func harmless(cell string) string {
	var out strings.Builder
	begins := true // nothing that is seen came yet, or since the last separator
	for _, r := range cell {
		switch {
		case strings.ContainsRune(csvSeparators, r):
			begins = true
		case begins && r != '"' && visible.ID(string(r)):
			begins = false
			if strings.ContainsAny(norm.NFKC.String(string(r)), "=+-@\u2212") {
				out.WriteByte('\'')
			}
		}
		out.WriteRune(r)
	}
	return out.String()
}

func isoTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
