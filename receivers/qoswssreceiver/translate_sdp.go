package qoswssreceiver

import (
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
)

// sdpBorder is the end of the last part of an SDP: an address may lie across it.
type sdpBorder struct {
	error  uint64 // number of the error's frame; 0: no part was added
	field  string
	end    int // offset of the next part, in bytes
	border address.Border
}

// addSDPPart adds a part of an SDP, addresses cut and user IDs hashed. The text of the record may have another length
// than that part of the SDP. An ID across two parts is not found.
func (t *translator) addSDPPart(f *protocol.SDPPart) {
	r := t.record(f.Header, f.Scope, 0, semconv.EventSDP, 5)
	text, skipped := t.cutPart(f)
	text = t.users.text(text)
	bytes := len(f.Text) - skipped
	r.PutInt(semconv.SDPError, int64(f.Error))
	r.PutStr(semconv.SDPField, f.Field)
	r.PutInt(semconv.SDPOffset, int64(f.Offset+skipped))
	r.PutStr(semconv.SDPText, text)
	if bytes != len(text) {
		r.PutInt(semconv.SDPBytes, int64(bytes))
	}
}

// cutPart returns the text of a part, addresses cut, and the number of its first bytes that are omitted.
func (t *translator) cutPart(f *protocol.SDPPart) (text string, skipped int) {
	follows := t.sdp.error == f.Error && t.sdp.field == f.Field && t.sdp.end == f.Offset
	before := t.sdp.border
	if f.Offset == 0 {
		before = address.Border{}
	}
	t.sdp = sdpBorder{error: f.Error, field: f.Field, end: f.Offset + len(f.Text)}
	if follows || f.Offset == 0 {
		text, t.sdp.border = t.addresses.Part(before, f.Text)
		return text, 0
	}
	text, skipped, t.sdp.border = t.addresses.Orphan(f.Text)
	return text, skipped
}
