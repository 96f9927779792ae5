package qualityprocessor

import "github.com/qosrtc/qos/protocol"

// countLatePictures counts the audio delay for late video as a delay of the network. The browser reports it as external,
// like a delay that the page chose.
func countLatePictures(frame []row) {
	late := 0.0
	for i := range frame {
		if m := &frame[i]; m.Inbound() && m.Video() {
			late = max(late, m.NetworkBufferMs().V)
		}
	}
	for i := range frame {
		if m := &frame[i]; m.Audio() && m.Known(protocol.ExternalDelayMs) {
			m.Set(protocol.ExternalDelayMs, max(0, m.Get(protocol.ExternalDelayMs)-late))
		}
	}
}
