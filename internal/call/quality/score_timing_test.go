package quality

import (
	"testing"

	"github.com/qosrtc/qos/protocol"
)

func BenchmarkScoreAudio(b *testing.B) {
	in := opusCall()
	in.Set(protocol.PacketsLost, 5)
	in.Set(protocol.RTTMs, 300)
	b.ReportAllocs()
	for b.Loop() {
		if res := scoreAudio(in); !res.OK() {
			b.Fatal(res.Reason)
		}
	}
}

func BenchmarkScoreVideo(b *testing.B) {
	in, p := camera("VP8", 640, 360, 500, 20), DefaultVideoParams()
	in.Set(protocol.Freezes60s, 1)
	b.ReportAllocs()
	for b.Loop() {
		if res := ScoreVideo(&in, p); !res.OK() {
			b.Fatal(res.Reason)
		}
	}
}

// Scoring stands on the path of every measurement: it must not allocate.
func TestScoringAllocatesNothing(t *testing.T) {
	audio, video := opusCall(), camera("VP8", 640, 360, 500, 20)
	if n := testing.AllocsPerRun(100, func() {
		_ = scoreAudio(audio)
		_ = scoreVideo(video)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
