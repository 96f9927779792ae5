package quality

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/kit/rapidfuzz"
)

// oddScores scores what nothing measures, too: codecs of any name, limits of a configuration,
// numbers that are none. Each result is a score in range or a reason, and comes out again.
func oddScores(t *rapid.T) {
	heard, seen := drawAudio(t), drawVideo(t)
	if rapid.Bool().Draw(t, "odd codec") {
		heard.Codec = rapid.String().Draw(t, "codec of sound")
		seen.Codec = heard.Codec
	}
	lost := rapid.Float64().Draw(t, "lost")
	heard.Set(protocol.PacketsLost, lost)
	seen.Set(protocol.RemotePacketsLost, -lost)
	audio, video := scoreAudio(heard), scoreVideo(seen)
	soundResult(t, audio, 4.5)
	soundResult(t, video, 4.664)
	if audio != scoreAudio(heard) || video != scoreVideo(seen) {
		t.Fatal("the same input has two scores")
	}
	for _, res := range []Result{audio, video} {
		if res.OK() && Label(res.MOS, DefaultBounds()) == "" || (res.Confidence() == "") == res.OK() {
			t.Fatalf("no label, or no confidence: %+v", res)
		}
	}
}

// TestOddScores: whatever goes in, what comes out is sound.
func TestOddScores(t *testing.T) { rapid.Check(t, oddScores) }

// FuzzScores is TestOddScores led by what code the input reaches.
func FuzzScores(f *testing.F) { rapidfuzz.Run(f, oddScores) }
