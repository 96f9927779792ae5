package semconv

import (
	"strings"
	"unicode"

	"github.com/qosrtc/qos/protocol"
)

// measures are the attributes of the measures; that of UnknownMeasure is empty.
var measures = func() (names [protocol.NumMeasures + 1]string) {
	for m := range protocol.NumMeasures {
		names[m] = StatsPrefix + snakeCase(m.String())
	}
	return names
}()

// Measure returns the attribute of a measure (packetsLost becomes qos.stats.packets_lost).
func Measure(m protocol.Measure) string { return measures[m] }

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
