package readapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// The SDPs of an error that are too large for one frame are records of their own
// (docs/protocol.md, section 4.5). An answer has them in one piece.

const (
	fieldLocalSDP  = "localSDP"
	fieldRemoteSDP = "remoteSDP"

	maxSDP = protocol.MaxWholeSDPBytes
)

// sdpKey names an SDP: the session and the number of its error, and which of the two it is.
type sdpKey struct {
	session string
	seq     uint64
	field   string
}

// sdpPart is a part of an SDP, where it begins and ends in the SDP as it was sent, in bytes. The text
// is shorter where addresses were cut.
type sdpPart struct {
	offset, end int64
	text        string
}

// within returns the text of the part between two offsets that lie in it.
func (p sdpPart) within(from, to int64) string {
	n := int64(len(p.text))
	if to == p.end {
		to = p.offset + n
	}
	return p.text[min(from-p.offset, n):min(max(from, to)-p.offset, n)]
}

// wholeSDP is an SDP of an entry that is in parts.
type wholeSDP struct {
	key   sdpKey
	entry int
	bytes int64
}

// sdps holds the parts until all are there.
type sdps struct {
	parts map[sdpKey][]sdpPart
}

// add takes a part.
func (s *sdps) add(e *event.Event) {
	key, part := sdpKey{e.Session, e.SDP.Error, e.SDP.Field}, sdpPart{e.SDP.Offset, end(e.SDP), e.SDP.Text}
	s.parts[key] = append(s.parts[key], part)
}

// end is the offset at which a part ends; one that is out of range has no end.
func end(p *event.SDPPart) int64 {
	if p.Offset < 0 || p.Offset > maxSDP || p.Bytes > maxSDP {
		return 0
	}
	return p.Offset + p.Bytes
}

// join returns an SDP as far as its parts are there, whatever their order and however often
// they came, and how many bytes are missing. A line in their place says which.
func (s *sdps) join(whole wholeSDP) (text string, missing int64) {
	parts := slices.SortedFunc(slices.Values(s.parts[whole.key]), func(a, b sdpPart) int { return cmp.Compare(a.offset, b.offset) })
	var b strings.Builder
	at := int64(0)
	gap := func(to int64) {
		if to > at {
			fmt.Fprintf(&b, "\n[bytes %d to %d of %d are missing]\n", at, to-1, whole.bytes)
			missing += to - at
		}
	}
	for _, part := range parts {
		end := min(part.end, whole.bytes)
		if part.offset < 0 || part.offset >= whole.bytes || end <= at {
			continue
		}
		gap(part.offset)
		at = max(at, part.offset)
		b.WriteString(part.within(at, end))
		at = end
	}
	gap(whole.bytes)
	return strings.ToValidUTF8(b.String(), "\uFFFD"), missing
}
