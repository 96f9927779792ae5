package qualityprocessor

import "github.com/qosrtc/qos/protocol"

// countLatePictures counts the delay of sound that waits for pictures which the network makes late. The browser reports it as external,
// like one that somebody chose.
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
