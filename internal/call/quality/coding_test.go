package quality

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// codingOf is Coding of a codec and a quantiser.
func codingOf(codec string, qp float64) (float64, bool) {
	m := event.Measurement{Codec: codec}
	m.Set(protocol.QP, qp)
	return Coding(&m)
}

// TestEqualPicturesScoreAlike: pictures that are equally far from their source are coded equally well, whatever the codec. The pairs
// were measured as docs/quality.md says: a quantiser of the codec, and that of H.264 with the same PSNR and SSIM (their mean).
// VP8's have the denoiser off, or quantisers at which it changes less than they do.
//
// spec: QUAL-01
func TestEqualPicturesScoreAlike(t *testing.T) {
	f := func(codec string, pairs ...[2]float64) {
		t.Helper()
		sum := 0.0
		for _, pair := range pairs {
			have, known := codingOf(codec, pair[0])
			want, _ := codingOf("H264", pair[1])
			require.True(t, known)
			require.InDelta(t, want, have, 0.065, "%s %v", codec, pair)
			sum += have - want
		}
		require.InDelta(t, 0, sum/float64(len(pairs)), 0.03, codec)
	}
	f("VP8", [2]float64{15, 20.9}, [2]float64{17, 21.6}, [2]float64{54.4, 32.5}, [2]float64{56.3, 31}, [2]float64{56.5, 30.8},
		[2]float64{58.4, 31.7}, [2]float64{71.7, 33.4}, [2]float64{78.5, 34.5}, [2]float64{79.7, 36}, [2]float64{97.1, 37})
	f("VP9", [2]float64{53.2, 23.4}, [2]float64{79.9, 26}, [2]float64{89.8, 22.8}, [2]float64{91.9, 25.2}, [2]float64{100.5, 22.8},
		[2]float64{119, 25.6}, [2]float64{120.9, 29}, [2]float64{125.3, 27.8}, [2]float64{130.9, 26.2}, [2]float64{132.5, 27},
		[2]float64{137.1, 28.2}, [2]float64{142.1, 28.3}, [2]float64{153.1, 32}, [2]float64{157, 31}, [2]float64{157.4, 30.7},
		[2]float64{158.3, 30.5}, [2]float64{159.3, 30.6}, [2]float64{164.8, 30.8}, [2]float64{168.7, 33.1}, [2]float64{179.3, 33.8},
		[2]float64{183.5, 33.4}, [2]float64{184.2, 35.1}, [2]float64{188.9, 33.1}, [2]float64{208, 36.5})
	f("AV1", [2]float64{69.5, 20.9}, [2]float64{72.2, 21.8}, [2]float64{74.8, 20.5}, [2]float64{89.5, 23.2}, [2]float64{100.9, 24},
		[2]float64{106.6, 24}, [2]float64{107.3, 24.3}, [2]float64{117.2, 25.8}, [2]float64{117.5, 26.6}, [2]float64{132.9, 27.1},
		[2]float64{138.5, 27.9}, [2]float64{146.6, 30.7}, [2]float64{156.9, 30.2}, [2]float64{163.5, 30.9}, [2]float64{183.5, 33.5})
}

// TestQuantisersOfH264: C of H.264 has the scores of ITU-T P.1203.1, mode 3.
//
// spec: QUAL-01
func TestQuantisersOfH264(t *testing.T) {
	for qp := 0.0; qp <= 45; qp++ {
		c, _ := codingOf("H264", qp)
		require.InDelta(t, 4.66-0.07*math.Exp(4.06*qp/51), VideoMOS(c, 1), 0.11, qp)
	}
}
