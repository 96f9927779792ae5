// Package serverlog makes lines that net/http logs by itself fit to be logged: addresses of
// peers are personal data and stay out.
package serverlog

import (
	"regexp"
	"strings"
)

var (
	peer = regexp.MustCompile(` (from|serving) (\[[^\]]*\]|[0-9.]+):\d+`)
	// pair is what net.OpError writes of a connection. Its ports would also make each line a text of its own, which the
	// sampling of the collector's logger does not bound.
	pair = regexp.MustCompile(` (read|write) tcp[46]? \S+->\S+:`)
)

// Line returns a line of http.Server.ErrorLog without the peer's address, and without what a
// quote or bracket begins: that may repeat what the peer sent.
func Line(line []byte) string {
	text := peer.ReplaceAllString(strings.TrimSpace(string(line)), "")
	text = pair.ReplaceAllString(text, " $1 tcp:")
	if i := strings.IndexAny(text, `"'([{`); i >= 0 {
		text = strings.TrimSpace(text[:i])
	}
	return text
}
