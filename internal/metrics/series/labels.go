package series

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// Closed lists of label values. A value that is not listed counts as "other", or is dropped.
var (
	stages        = []string{"noRemoteDescription", "gathering", "connectivity", "dtls"}
	endpointTypes = []string{"peer", "server"}
	qualities     = []string{"excellent", "good", "fair", "poor", "bad"}
	outcomes      = conference.Outcomes
	functions     = protocol.Functions
	usages        = protocol.FabricUsages
	browsers      = event.Browsers
	causes        = words(cause.Causes)
	statuses      = protocol.PreCallStatuses
	kinds         = words(detect.Kinds)
)

const other = "other"

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = string(one)
	}
	return out
}

func contains(list []string, v string) bool { return slices.Contains(list, v) }

// intern returns the equal element of list, so that a series does not keep a record's buffer; other if
// there is none.
func intern(list []string, v string) string {
	if i := slices.Index(list, v); i >= 0 {
		return list[i]
	}
	return other
}

// optional is intern that returns "", an absent label, for "".
func optional(list []string, v string) string {
	if v == "" {
		return ""
	}
	return intern(list, v)
}

// maxLabelBytes bounds a label value: the longest siteID of the protocol.
const maxLabelBytes = protocol.MaxSiteIDBytes

// replacement replaces the characters of a text that a label must not have.
const replacement = string(utf8.RuneError)

// label returns an external text as the value of a label, and whether it differs from the text. It replaces
// each run of control characters, line separators and invalid UTF-8 by one replacement. It truncates a text
// of more than maxLabelBytes, and appends a replacement.
func label(v string) (value string, replaced bool) {
	if len(v) <= maxLabelBytes && utf8.ValidString(v) && !strings.ContainsFunc(v, unprintable) {
		return v, false
	}
	var b strings.Builder
	for _, r := range v {
		switch full := b.Len()+utf8.RuneLen(r) > maxLabelBytes-len(replacement); {
		case full || r == utf8.RuneError || unprintable(r):
			if !strings.HasSuffix(b.String(), replacement) {
				b.WriteString(replacement)
			}
			if full {
				return b.String(), true
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), true
}

// unprintable reports whether a character ends a line, or is a control character.
func unprintable(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }

// label returns an external text as the value of a label, and sets replaced if it differs.
func (b *batch) label(v string) string {
	value, replaced := label(v)
	b.replaced = b.replaced || replaced
	return value
}

func clone(s string) string { return strings.Clone(s) }

// maxValue bounds a value: a single very large one would make a sum useless.
const maxValue = 1e10

// countable reports whether a value is in the range of a measure that is never negative.
func countable(v float64) bool { return v >= 0 && v <= maxValue && !math.IsNaN(v) }
