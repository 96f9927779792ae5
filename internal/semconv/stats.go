package semconv

import (
	"strings"
	"unicode"

	"github.com/qosrtc/qos/protocol"
)

var statsAttr = func() map[string]string {
	m := make(map[string]string, len(protocol.Measures))
	for _, measure := range protocol.Measures {
		m[measure.Name] = StatsPrefix + snakeCase(measure.Name)
	}
	return m
}()

// Stats returns the attribute of a measure by its column name (packetsLost becomes
// qos.stats.packets_lost), or "" when there is no such measure.
func Stats(column string) string { return statsAttr[column] }

// snakeCase turns lowerCamelCase into snake_case: freezes60s stays, rttMs becomes rtt_ms.
func snakeCase(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
