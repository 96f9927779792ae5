package qualityprocessor

import "github.com/qosrtc/qos/protocol"

// markLowerLayers marks the simulcast layers of a frame but the largest that is sent: a
// server gives each receiver the layer that fits, and the small ones are meant for small
// tiles. Layers are known by their rid. Where one stands there twice several pictures are
// sent, and nothing says which layer is of which: then none is marked.
func markLowerLayers(frame []row) {
	best := -1
	for i := range frame {
		if !frame[i].layer() {
			continue
		}
		for j := range i {
			if frame[j].layer() && frame[j].RID == frame[i].RID {
				return
			}
		}
		if frame[i].sent() && (best < 0 || frame[i].larger(&frame[best])) {
			best = i
		}
	}
	for i := range frame {
		frame[i].LowerLayer = best >= 0 && i != best && frame[i].layer()
	}
}

// layer tells whether this is a layer of a picture that goes out.
func (m *row) layer() bool { return m.Outbound() && m.Video() && m.Layer() }

// sent tells whether pictures of a known size were sent; a layer that is switched off has
// none.
func (m *row) sent() bool {
	return m.Get(protocol.Packets) > 0 && m.Get(protocol.Bytes) > 0 && m.pixels() > 0 && !m.Value(protocol.Frames).Is(0)
}

func (m *row) pixels() float64 { return m.Get(protocol.Width) * m.Get(protocol.Height) }

// larger: more pixels, of the same size the one that took more bits.
func (m *row) larger(o *row) bool {
	if a, b := m.pixels(), o.pixels(); a != b {
		return a > b
	}
	return m.Get(protocol.Bytes) > o.Get(protocol.Bytes)
}
