package qualityprocessor

import "github.com/qosrtc/qos/protocol"

// markLowerLayers marks the simulcast layers of a frame except the largest one that is sent: a
// server forwards to each receiver the layer that fits, and small layers are for small tiles. A
// layer is identified by its rid. If a rid occurs twice, several simulcast streams are sent, and
// their layers cannot be distinguished: then none is marked.
func markLowerLayers(frame []row) {
	best := -1
	for i := range frame {
		if !frame[i].isLayer() {
			continue
		}
		for j := range i {
			if frame[j].isLayer() && frame[j].RID == frame[i].RID {
				return
			}
		}
		if frame[i].isSent() && (best < 0 || frame[i].larger(&frame[best])) {
			best = i
		}
	}
	for i := range frame {
		frame[i].LowerLayer = best >= 0 && i != best && frame[i].isLayer()
	}
}

// isLayer reports whether the row is a layer of an outbound video.
func (m *row) isLayer() bool { return m.Outbound() && m.Video() && m.Layer() }

// isSent reports whether pictures of a known size were sent. A layer that is switched off has none.
func (m *row) isSent() bool {
	return m.Get(protocol.Packets) > 0 && m.Get(protocol.Bytes) > 0 && m.pixels() > 0 && !m.Value(protocol.Frames).Is(0)
}

func (m *row) pixels() float64 { return m.Get(protocol.Width) * m.Get(protocol.Height) }

// larger reports whether m has more pixels than o, or as many with more bytes.
func (m *row) larger(o *row) bool {
	if a, b := m.pixels(), o.pixels(); a != b {
		return a > b
	}
	return m.Get(protocol.Bytes) > o.Get(protocol.Bytes)
}
