package quality

import "testing"

func BenchmarkScoreAudio(b *testing.B) {
	in := opusCall()
	in.PacketsLost, in.RTTMs = Some(5), Some(300)
	b.ReportAllocs()
	for b.Loop() {
		if res := ScoreAudio(in); !res.OK() {
			b.Fatal(res.Reason)
		}
	}
}

func BenchmarkScoreVideo(b *testing.B) {
	in, p := camera("VP8", 640, 360, 500, 20), DefaultVideoParams()
	in.Freezes60s = Some(1)
	b.ReportAllocs()
	for b.Loop() {
		if res := ScoreVideo(in, p); !res.OK() {
			b.Fatal(res.Reason)
		}
	}
}

// Scoring stands on the path of every measurement: it must not allocate.
func TestScoringAllocatesNothing(t *testing.T) {
	audio, video := opusCall(), camera("VP8", 640, 360, 500, 20)
	if n := testing.AllocsPerRun(100, func() {
		_ = ScoreAudio(audio)
		_ = ScoreVideo(video, DefaultVideoParams())
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
