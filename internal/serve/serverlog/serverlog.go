// Package serverlog removes the addresses of peers, which are personal data, from lines that
// net/http logs.
package serverlog

import (
	"regexp"
	"strings"
)

var (
	peer = regexp.MustCompile(` (from|serving) (\[[^\]]*\]|[0-9.]+):\d+`)
	// pair matches the addresses in a net.OpError. Its ports would also make each line distinct, so that the sampling of
	// the collector's logger would not bound them.
	pair = regexp.MustCompile(` (read|write) tcp[46]? \S+->\S+:`)
)

// Line returns a line of http.Server.ErrorLog without the peer's address, and without the text from the
// first quote or bracket on, which may repeat input of the peer.
func Line(line []byte) string {
	text := peer.ReplaceAllString(strings.TrimSpace(string(line)), "")
	text = pair.ReplaceAllString(text, " $1 tcp:")
	if i := strings.IndexAny(text, `"'([{`); i >= 0 {
		text = strings.TrimSpace(text[:i])
	}
	return text
}
