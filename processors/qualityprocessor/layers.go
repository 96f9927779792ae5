package qualityprocessor

// markLowerLayers marks the simulcast layers of a frame but the largest that is sent: a
// server gives each receiver the layer that fits, and the small ones are meant for small
// tiles. Layers are known by their rid. Where one stands there twice several pictures are
// sent, and nothing says which layer is of which: then none is marked.
func markLowerLayers(frame []measurement) {
	best := -1
	for i := range frame {
		if !frame[i].layer() {
			continue
		}
		for j := range i {
			if frame[j].layer() && frame[j].rid == frame[i].rid {
				return
			}
		}
		if frame[i].sent() && (best < 0 || frame[i].larger(&frame[best])) {
			best = i
		}
	}
	for i := range frame {
		frame[i].lower = best >= 0 && i != best && frame[i].layer()
	}
}

// layer tells whether this is a layer of a picture that goes out.
func (m *measurement) layer() bool { return m.outbound() && m.mediaType == video && m.rid != "" }

// sent tells whether pictures of a known size were sent; a layer that is switched off has
// none.
func (m *measurement) sent() bool {
	count, known := m.num[frames].Get()
	return m.value(packets) > 0 && m.value(bytes) > 0 && m.pixels() > 0 && (!known || count > 0)
}

func (m *measurement) pixels() float64 { return m.value(width) * m.value(height) }

// larger: more pixels, of the same size the one that took more bits.
func (m *measurement) larger(o *measurement) bool {
	if a, b := m.pixels(), o.pixels(); a != b {
		return a > b
	}
	return m.value(bytes) > o.value(bytes)
}

// value returns a number, 0 when it is not known.
func (m *measurement) value(f field) float64 {
	v, _ := m.num[f].Get()
	return v
}
