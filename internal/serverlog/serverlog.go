// Package serverlog makes lines that net/http logs by itself fit to be logged: addresses of
// peers are personal data and stay out.
package serverlog

import (
	"regexp"
	"strings"
)

var peer = regexp.MustCompile(` (from|serving) (\[[^\]]*\]|[0-9.]+):\d+`)

// Line returns a line of http.Server.ErrorLog on one line and without the peer's address.
func Line(line []byte) string {
	return peer.ReplaceAllString(strings.TrimSpace(string(line)), "")
}
