package quality

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// slack is what rounding may add to a score.
const slack = 1e-9

// opts draws measurements: mostly sane, some unknown, some wild.
type opts struct{ *rapid.T }

func (o opts) known(name string, lo, hi float64) Opt {
	return Some(rapid.Float64Range(lo, hi).Draw(o.T, name))
}

func (o opts) any(name string, lo, hi float64) Opt {
	switch rapid.IntRange(0, 9).Draw(o.T, name+"?") {
	case 0:
		return Opt{}
	case 1:
		return Some(0)
	case 2:
		return Some(rapid.Float64().Draw(o.T, name))
	case 3:
		return Some(math.MaxFloat64)
	}
	return o.known(name, lo, hi)
}

func drawAudio(t *rapid.T) AudioInput {
	o := opts{t}
	return AudioInput{
		Outbound: rapid.Bool().Draw(t, "outbound"),
		Unheard:  rapid.IntRange(0, 9).Draw(t, "unheard") == 0,
		Codec: rapid.SampledFrom([]string{
			"opus", "PCMU", "G722", "AMR-WB", "EVS", "G729", "G723", "GSM", "AMR", "", "red",
		}).Draw(t, "codec"),
		IntervalMs:             o.any("interval", 1, 600_000),
		Bytes:                  o.any("bytes", 0, 1e6),
		Packets:                o.any("packets", 0, 1000),
		PacketsLost:            o.any("lost", 0, 1000),
		PacketsDiscarded:       o.any("discarded", 0, 1000),
		FECPackets:             o.any("fec", 0, 1000),
		Samples:                o.any("samples", 0, 480_000),
		ConcealedSamples:       o.any("concealed", 0, 480_000),
		SilentConcealedSamples: o.any("silent", 0, 480_000),
		ConcealmentEvents:      o.any("events", 0, 100),
		RemoteLossFraction:     o.any("fraction", 0, 1),
		RemotePacketsLost:      o.any("remoteLost", 0, 1000),
		JitterMs:               o.any("jitter", 0, 1000),
		JitterBufferDelayMs:    o.any("buffer", 0, 2000),
		RTTMs:                  o.any("rtt", 0, 5000),
		TargetBitrateBps:       o.any("target", 0, 510_000),
		AudioLevel:             o.any("level", 0, 1),
	}
}

func drawVideo(t *rapid.T) VideoInput {
	o := opts{t}
	return VideoInput{
		Outbound:           rapid.Bool().Draw(t, "outbound"),
		Unheard:            rapid.IntRange(0, 9).Draw(t, "unheard") == 0,
		Screen:             rapid.Bool().Draw(t, "screen"),
		BandwidthLimited:   rapid.Bool().Draw(t, "limited"),
		Codec:              rapid.SampledFrom([]string{"VP8", "VP9", "H264", "H265", "AV1", ""}).Draw(t, "codec"),
		IntervalMs:         o.any("interval", 1, 600_000),
		Bytes:              o.any("bytes", 0, 1e7),
		RetransmittedBytes: o.any("again", 0, 1e6),
		Packets:            o.any("packets", 0, 1e4),
		Frames:             o.any("frames", 0, 600),
		FramesDecoded:      o.any("decoded", 0, 600),
		Width:              o.any("width", 1, 3840),
		Height:             o.any("height", 1, 2160),
		DisplayedPixels:    o.any("shown", 1, 8e6),
		FPS:                o.any("fps", 0, 60),
		HarmonicFPS:        o.any("harmonic", 0, 60),
		Freezes:            o.any("freezes", 0, 20),
		Freezes60s:         o.any("freezes60", 0, 60),
		FreezeMs:           o.any("freezeMs", 0, 20_000),
		PauseMs:            o.any("pauseMs", 0, 20_000),
		QP:                 o.any("qp", 0, 255),
		RemoteLossFraction: o.any("fraction", 0, 1),
		RemotePacketsLost:  o.any("remoteLost", 0, 1000),
	}
}

func scoreVideo(in VideoInput) Result { return ScoreVideo(in, DefaultVideoParams()) }

// soundResult checks what holds for any input: a score in range or a reason, no NaN.
func soundResult(t *rapid.T, res Result, best float64) {
	if !res.OK() {
		if res.Reason == Scored || res.Reason.String() == "" || res.MOS != 0 || len(res.Inputs()) != 0 {
			t.Fatalf("no score and no reason: %+v", res)
		}
		return
	}
	if res.Reason != Scored || !(res.MOS >= 1 && res.MOS <= best+slack) || !(res.R >= 0 && res.R <= 100) {
		t.Fatalf("out of range: %+v", res)
	}
	for _, in := range res.Inputs() {
		if !(in.Value >= 0) || math.IsInf(in.Value, 0) {
			t.Fatalf("input %s is %v", in.Name, in.Value)
		}
	}
}

func TestAudioIsSoundForAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		res := ScoreAudio(drawAudio(t))
		soundResult(t, res, 4.5)
		if res.OK() && (res.MOSListening < res.MOS-slack || res.MOSListening > 4.5+slack) {
			t.Fatalf("listening %v, conversational %v", res.MOSListening, res.MOS)
		}
	})
}

func TestVideoIsSoundForAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { soundResult(t, scoreVideo(drawVideo(t)), 4.664) })
}

// worsening makes one thing of an interval worse.
type worsening[T any] struct {
	name  string
	worse func(t *rapid.T, in T) (better, worse T)
}

// raise makes a measurement larger where larger is worse.
func raise[T any](name string, hi float64, of func(*T) *Opt) worsening[T] {
	return worsening[T]{name, func(t *rapid.T, in T) (T, T) {
		a := rapid.Float64Range(0, hi).Draw(t, "a")
		b := rapid.Float64Range(0, hi).Draw(t, "b")
		better, worse := in, in
		*of(&better), *of(&worse) = Some(math.Min(a, b)), Some(math.Max(a, b))
		return better, worse
	}}
}

// lower makes a measurement smaller where smaller is worse.
func lower[T any](name string, lo, hi float64, of func(*T) *Opt) worsening[T] {
	return worsening[T]{name, func(t *rapid.T, in T) (T, T) {
		a := rapid.Float64Range(lo, hi).Draw(t, "a")
		b := rapid.Float64Range(lo, hi).Draw(t, "b")
		better, worse := in, in
		*of(&better), *of(&worse) = Some(math.Max(a, b)), Some(math.Min(a, b))
		return better, worse
	}}
}

func TestAudioNeverRisesWhenItGetsWorse(t *testing.T) {
	for _, w := range []worsening[AudioInput]{
		raise("loss", 1000, func(in *AudioInput) *Opt { return &in.PacketsLost }),
		raise("discards", 1000, func(in *AudioInput) *Opt { return &in.PacketsDiscarded }),
		raise("concealment", 480_000, func(in *AudioInput) *Opt { return &in.ConcealedSamples }),
		lower("repair", 0, 1000, func(in *AudioInput) *Opt { return &in.FECPackets }),
		lower("shorter runs", 1, 200, func(in *AudioInput) *Opt { return &in.ConcealmentEvents }),
		lower("audible", 0, 480_000, func(in *AudioInput) *Opt { return &in.SilentConcealedSamples }),
		raise("remote loss", 1, func(in *AudioInput) *Opt { return &in.RemoteLossFraction }),
		raise("remote count", 1000, func(in *AudioInput) *Opt { return &in.RemotePacketsLost }),
		raise("rtt", 5000, func(in *AudioInput) *Opt { return &in.RTTMs }),
		raise("jitter", 1000, func(in *AudioInput) *Opt { return &in.JitterMs }),
		raise("jitter buffer", 3000, func(in *AudioInput) *Opt { return &in.JitterBufferDelayMs }),
		// From the lowest rate of speech up: below it there is silence, not a bad codec.
		{"bit rate", func(t *rapid.T, in AudioInput) (AudioInput, AudioInput) {
			in.IntervalMs, in.Packets = Some(5000), Some(250)
			return lower("bytes", 3750, 40_000, func(in *AudioInput) *Opt { return &in.Bytes }).worse(t, in)
		}},
	} {
		t.Run(w.name, rapid.MakeCheck(func(t *rapid.T) {
			better, worse := w.worse(t, drawAudio(t))
			b, w := ScoreAudio(better), ScoreAudio(worse)
			if !b.OK() || !w.OK() {
				return
			}
			if w.MOS > b.MOS+slack || w.R > b.R+slack || w.MOSListening > b.MOSListening+slack {
				t.Fatalf("rose from %+v to %+v", b, w)
			}
		}))
	}
}

func TestVideoNeverRisesWhenItGetsWorse(t *testing.T) {
	for _, w := range []worsening[VideoInput]{
		lower("bit rate", 0, 5e6, func(in *VideoInput) *Opt { return &in.Bytes }),
		raise("retransmissions", 1e6, func(in *VideoInput) *Opt { return &in.RetransmittedBytes }),
		raise("freezes", 20, func(in *VideoInput) *Opt { return &in.Freezes }),
		raise("freezes in 60 s", 60, func(in *VideoInput) *Opt { return &in.Freezes60s }),
		raise("freeze time", 20_000, func(in *VideoInput) *Opt { return &in.FreezeMs }),
		raise("pause", 20_000, func(in *VideoInput) *Opt { return &in.PauseMs }),
		raise("remote loss", 1, func(in *VideoInput) *Opt { return &in.RemoteLossFraction }),
		raise("remote count", 1000, func(in *VideoInput) *Opt { return &in.RemotePacketsLost }),
		raise("upscaling", 8e6, func(in *VideoInput) *Opt { return &in.DisplayedPixels }),
		raise("quantiser", 255, func(in *VideoInput) *Opt { return &in.QP }),
		{"frame rate", func(t *rapid.T, in VideoInput) (VideoInput, VideoInput) {
			in.Screen = false // a screen's frame rate is no fault
			return lower("fps", 0.01, 24, func(in *VideoInput) *Opt { return &in.HarmonicFPS }).worse(t, in)
		}},
		{"nothing decoded", func(_ *rapid.T, in VideoInput) (VideoInput, VideoInput) {
			worse := in
			worse.FramesDecoded = Some(0)
			return in, worse
		}},
	} {
		t.Run(w.name, rapid.MakeCheck(func(t *rapid.T) {
			better, worse := w.worse(t, drawVideo(t))
			b, w := scoreVideo(better), scoreVideo(worse)
			if b.OK() && w.OK() && w.MOS > b.MOS+slack {
				t.Fatalf("rose from %+v to %+v", b, w)
			}
		}))
	}
}

// What happened in an interval twice as long, twice as often, is the same quality.
func TestScoresDoNotDependOnTheInterval(t *testing.T) {
	scale := func(k float64, os ...*Opt) {
		for _, o := range os {
			if v, ok := o.Get(); ok {
				*o = Some(v * k)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Float64Range(0.1, 10).Draw(t, "k")
		o := opts{t}
		a := opusCall()
		a.Packets, a.PacketsLost, a.Bytes = o.known("packets", 10, 500), o.known("lost", 0, 100), o.known("bytes", 1e3, 4e4)
		a.Samples, a.ConcealedSamples, a.ConcealmentEvents = Some(240_000), o.known("concealed", 0, 240_000), o.known("events", 1, 50)
		a.FECPackets = o.known("fec", 0, 100)
		b := a
		scale(k, &b.IntervalMs, &b.Packets, &b.PacketsLost, &b.FECPackets, &b.Bytes, &b.Samples, &b.ConcealedSamples, &b.ConcealmentEvents)
		ra, rb := ScoreAudio(a), ScoreAudio(b)
		if math.Abs(ra.MOS-rb.MOS) > 1e-6 {
			t.Fatalf("audio: %+v and %+v", ra, rb)
		}
		v := camera("VP8", 640, 360, rapid.Float64Range(40, 3000).Draw(t, "kbps"), rapid.Float64Range(1, 60).Draw(t, "fps"))
		v.FreezeMs, v.Freezes60s = o.known("freezeMs", 0, 9000), Some(3)
		w := v
		scale(k, &w.IntervalMs, &w.Bytes, &w.Packets, &w.FramesDecoded, &w.FreezeMs)
		if ms := w.IntervalMs.orZero(); ms > 60_000 { // the library then counts those of the whole interval
			w.Freezes60s = Some(3 * ms / 60_000)
		}
		rv, rw := scoreVideo(v), scoreVideo(w)
		if math.Abs(rv.MOS-rw.MOS) > 1e-6 {
			t.Fatalf("video: %+v and %+v", rv, rw)
		}
	})
}

// At each seam of a formula a small step must make a small difference.
func TestScoresAreContinuousAtSeams(t *testing.T) {
	f := func(name string, at float64, score func(float64) float64) {
		t.Helper()
		require.InDelta(t, score(at*(1-1e-9)), score(at*(1+1e-9)), 1e-6, "%s at %v", name, at)
	}
	for _, p := range opusPoints[1:] { // all but the lowest, below which there is silence
		for _, lost := range []float64{0, 5, 40, 200} {
			f("opus", p.bps, func(bps float64) float64 {
				in := opusCall()
				in.PacketsLost, in.Bytes = Some(lost), Some(bps*5/8)
				return audioMOS(t, in)
			})
		}
	}
	for _, run := range []float64{randomRun, burstyRun} {
		f("run of losses", run, func(run float64) float64 {
			in := opusCall()
			in.Samples, in.ConcealedSamples, in.ConcealmentEvents = Some(240_000), Some(run*10*packetSamples), Some(10)
			return audioMOS(t, in)
		})
	}
	f("delay", 100, func(ms float64) float64 { return MOS(93.2 - Idd(ms)) })
	f("rating", 6.515, MOS)
	f("rating", 100, MOS)
	f("frame rate", 24, func(fps float64) float64 { return videoMOS(t, camera("VP8", 640, 360, 500, fps)) })
	f("frame rate", 24/math.Exp(1/0.3), func(fps float64) float64 { return videoMOS(t, camera("VP8", 640, 360, 500, fps)) })
	f("upscaling", 640*360, func(shown float64) float64 {
		in := camera("VP8", 640, 360, 500, 30)
		in.DisplayedPixels = Some(shown)
		return videoMOS(t, in)
	})
	for _, qp := range []float64{29, 95} {
		f("quantiser", qp, func(qp float64) float64 {
			in := camera("VP8", 640, 360, 500, 30)
			in.Screen, in.QP = true, Some(qp)
			return videoMOS(t, in)
		})
	}
}

func TestSomeRefusesWhatIsNoMeasurement(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -1e-300} {
		_, ok := Some(v).Get()
		require.False(t, ok, "%v", v)
	}
	v, ok := Some(math.MaxFloat64).Get()
	require.True(t, ok)
	require.Equal(t, float64(maxValue), v)
	v, ok = SomeLost(-4).Get()
	require.True(t, ok)
	require.Zero(t, v)
	_, ok = SomeLost(math.NaN()).Get()
	require.False(t, ok)
	_, ok = SomeLost(math.Inf(-1)).Get()
	require.False(t, ok)
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for why := NoPackets; why < NumReasons; why++ {
		require.Regexp(t, `^[a-z_]+$`, why.String())
		require.False(t, seen[why.String()])
		seen[why.String()] = true
	}
	for in := range NumInputs {
		require.Regexp(t, `^[a-z0-9_]+$`, in.String())
		require.False(t, seen[in.String()])
		seen[in.String()] = true
	}
	require.Equal(t, "codec,bitrate,rtt,jitter_buffer,displayed_pixels,remote_loss,freezes", (assumedEnd - 1).String())
}
