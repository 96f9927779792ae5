package qualityprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/protocol"
)

// row is a record of a measurement.
type row struct {
	event.Measurement
	attrs  pcommon.Map
	seq    int64 // number of its frame, -1 when it has none
	scored bool  // carries quality attributes already
}

// stream tells whether this is an audio or a video stream.
func (r *row) stream() bool {
	return (r.Inbound() || r.Outbound()) && (r.Audio() || r.Video())
}

// pairRTT returns the round-trip time of the frame's candidate pair.
func pairRTT(frame []row) event.Value {
	for i := range frame {
		if frame[i].Pair() && frame[i].Known(protocol.RTTMs) {
			return frame[i].Value(protocol.RTTMs)
		}
	}
	return event.Value{}
}

// pairsSilent tells whether nothing came in over the frame's candidate pairs: then no report of the remote end did either, and
// what browsers still say of its last one is no evidence. What came in for a stream did: a pair does not count what came from
// another address than its own.
func pairsSilent(frame []row) bool {
	silent := false
	for i := range frame {
		switch m := &frame[i]; {
		case m.Pair() && !m.Value(protocol.BytesReceived).Is(0), m.Inbound() && m.Get(protocol.Packets) > 0:
			return false
		case m.Pair():
			silent = true
		}
	}
	return silent
}
