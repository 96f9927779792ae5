package qualityprocessor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// TestSoundThatWaitsForPictures: a delay of sound that somebody chose lowers no score; one by which it waits for late pictures does, as far as they
// are late.
//
// spec: QUAL-01
func TestSoundThatWaitsForPictures(t *testing.T) {
	mos := func(soundMs, soundExternalMs, picturesMs, picturesExternalMs float64) float64 {
		logs := plog.NewLogs()
		frameOf(logs)
		for i, values := range map[int][2]float64{0: {soundMs, soundExternalMs}, 2: {picturesMs, picturesExternalMs}} {
			attrs := recordsOf(logs).At(i).Attributes()
			attrs.PutDouble(eventtest.Stats("jitterBufferDelayMs"), values[0])
			attrs.PutDouble(eventtest.Stats("externalDelayMs"), values[1])
		}
		v, ok := recordsOf(process(t, logs)).At(0).Attributes().Get(semconv.QualityMOS)
		require.True(t, ok)
		return v.Double()
	}
	good, late := mos(60, 0, 20, 0), mos(660, 0, 20, 0)
	require.Less(t, late, good-0.5)
	require.InDelta(t, good, mos(660, 600, 0, 0), 1e-9)
	require.InDelta(t, good, mos(660, 600, 620, 620), 1e-9) // chosen for both, or the pictures wait for the sound
	require.InDelta(t, late, mos(660, 600, 620, 0), 1e-9)
	require.InDelta(t, mos(360, 0, 20, 0), mos(660, 600, 300, 0), 1e-9)
}
