package readapi

import (
	"strconv"
	"strings"
	"time"
)

// columnsOfCSV are the cells of the header, and of each row in their order. userNames is there for readers who may see
// real names.
var columnsOfCSV = []string{ //nolint:gochecknoglobals // a constant
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

// csvLine returns a record of RFC 4180. Each cell is quoted, so that programs which read another separator do not divide it.
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

func csvList(all []string) string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = harmless(one)
	}
	return strings.Trim(strings.Join(out, "; "), "; ")
}

// harmless puts ' before a text that spreadsheets compute as a formula.
func harmless(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

func isoTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
