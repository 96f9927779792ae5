package qualityprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// row is a record of a measurement.
type row struct {
	event.Measurement
	attrs  pcommon.Map
	seq    int64 // number of its frame, -1 if it has none
	scored bool  // has quality attributes already
}

// isStream reports whether the row is an audio or a video stream.
func (r *row) isStream() bool {
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

// pairsSilent reports whether the frame's candidate pairs received nothing: then the browser received no RTCP report
// either, and its values of the last report are not current. Packets of a stream count, too: a pair does not count
// packets from an address other than its own.
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
