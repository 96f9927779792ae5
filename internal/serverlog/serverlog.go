// Package serverlog makes lines that net/http logs by itself fit to be logged: addresses of
// peers are personal data and stay out.
package serverlog

import (
	"regexp"
	"strings"
)

var peer = regexp.MustCompile(` (from|serving) (\[[^\]]*\]|[0-9.]+):\d+`)

// Line returns a line of http.Server.ErrorLog without the peer's address, and without what a
// quote or bracket begins: that may repeat what the peer sent.
func Line(line []byte) string {
	text := peer.ReplaceAllString(strings.TrimSpace(string(line)), "")
	if i := strings.IndexAny(text, `"'([{`); i >= 0 {
		text = strings.TrimSpace(text[:i])
	}
	return text
}
