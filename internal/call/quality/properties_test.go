package quality

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// slack is what rounding may add to a score.
const slack = 1e-9

// usual is a measure and the range in which most calls have it.
type usual struct {
	k      protocol.Measure
	lo, hi float64
}

// draw draws measures: mostly sane, some unknown, some wild. What cannot be is dropped, as
// wherever a measurement is read.
func draw(t *rapid.T, m event.Measurement, measures ...usual) event.Measurement {
	value := func(name string, lo, hi float64) event.Value {
		switch rapid.IntRange(0, 9).Draw(t, name+"?") {
		case 0:
			return event.Value{}
		case 1:
			return event.Known(0)
		case 2:
			return event.Known(rapid.Float64().Draw(t, name))
		case 3:
			return event.Known(math.MaxFloat64)
		}
		return event.Known(rapid.Float64Range(lo, hi).Draw(t, name))
	}
	if rapid.Bool().Draw(t, "outbound") {
		m.StatsType = protocol.OutboundRTP
	}
	m.Unheard = rapid.IntRange(0, 9).Draw(t, "unheard") == 0
	m.IntervalMs = value("interval", 1, 600_000).V
	for _, u := range measures {
		m.Put(u.k, value(u.k.String(), u.lo, u.hi))
	}
	m.DropOutOfRange()
	return m
}

func drawAudio(t *rapid.T) event.Measurement {
	m := event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, Codec: rapid.SampledFrom([]string{
		"opus", "PCMU", "G722", "AMR-WB", "EVS", "G729", "G723", "GSM", "AMR", "", "red",
	}).Draw(t, "codec")}
	return draw(t, m, []usual{
		{protocol.Bytes, 0, 1e6},
		{protocol.Packets, 0, 1000},
		{protocol.PacketsLost, -10, 1000},
		{protocol.PacketsDiscarded, 0, 1000},
		{protocol.FECPackets, 0, 1000},
		{protocol.Samples, 0, 480_000},
		{protocol.ConcealedSamples, 0, 480_000},
		{protocol.SilentConcealedSamples, 0, 480_000},
		{protocol.ConcealmentEvents, 0, 100},
		{protocol.RemoteLossFraction, 0, 1},
		{protocol.RemotePacketsLost, -10, 1000},
		{protocol.JitterMs, 0, 1000},
		{protocol.RemoteJitterMs, 0, 1000},
		{protocol.JitterBufferDelayMs, 0, 2000},
		{protocol.RTTMs, 0, 5000},
		{protocol.TargetBitrateBps, 0, 510_000},
		{protocol.AudioLevel, 0, 1},
	}...)
}

func drawVideo(t *rapid.T) event.Measurement {
	m := event.Measurement{
		StatsType: protocol.InboundRTP, MediaType: protocol.Video, Screen: rapid.Bool().Draw(t, "screen"),
		Limitation: rapid.SampledFrom([]string{"", "none", "bandwidth"}).Draw(t, "limitation"),
		Codec:      rapid.SampledFrom([]string{"VP8", "VP9", "H264", "H265", "AV1", ""}).Draw(t, "codec"),
	}
	return draw(t, m, []usual{
		{protocol.Bytes, 0, 1e7},
		{protocol.RetransmittedBytes, 0, 1e6},
		{protocol.RetransmittedPackets, 0, 1e3},
		{protocol.TargetBitrateBps, 0, 1e7},
		{protocol.Packets, 0, 1e4},
		{protocol.Frames, 0, 600},
		{protocol.FramesDecoded, 0, 600},
		{protocol.FramesEncoded, 0, 600},
		{protocol.Width, 1, 3840},
		{protocol.Height, 1, 2160},
		{protocol.DisplayedPixels, 1, 8e6},
		{protocol.FPS, 0, 60},
		{protocol.HarmonicFPS, 0, 60},
		{protocol.Freezes, 0, 20},
		{protocol.Freezes60s, 0, 60},
		{protocol.FreezeMs, 0, 20_000},
		{protocol.PauseMs, 0, 20_000},
		{protocol.QP, 0, 255},
		{protocol.RemoteLossFraction, 0, 1},
		{protocol.RemotePacketsLost, -10, 1000},
	}...)
}

func scoreVideo(m event.Measurement) Result { return ScoreVideo(&m, DefaultVideoParams()) }

func scoreAudio(m event.Measurement) Result { return ScoreAudio(&m) }

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
		res := scoreAudio(drawAudio(t))
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
type worsening struct {
	name  string
	worse func(t *rapid.T, in event.Measurement) (better, worse event.Measurement)
}

// raise makes a measure larger where larger is worse.
func raise(name string, hi float64, k protocol.Measure) worsening { return lower(name, hi, 0, k) }

// lower makes a measure smaller where smaller is worse: from the first of the bounds to hi.
func lower(name string, lo, hi float64, k protocol.Measure) worsening {
	return worsening{name, func(t *rapid.T, in event.Measurement) (event.Measurement, event.Measurement) {
		a := rapid.Float64Range(min(lo, hi), max(lo, hi)).Draw(t, "a")
		b := rapid.Float64Range(min(lo, hi), max(lo, hi)).Draw(t, "b")
		better, worse := in, in
		if (a < b) == (lo < hi) {
			a, b = b, a
		}
		better.Set(k, a)
		worse.Set(k, b)
		return better, worse
	}}
}

func TestAudioNeverRisesWhenItGetsWorse(t *testing.T) {
	for _, w := range []worsening{
		raise("loss", 1000, protocol.PacketsLost),
		{"discards without concealment", func(t *rapid.T, in event.Measurement) (event.Measurement, event.Measurement) {
			in.Put(protocol.ConcealedSamples, event.Value{})
			return raise("", 1000, protocol.PacketsDiscarded).worse(t, in)
		}},
		{"copies", func(t *rapid.T, in event.Measurement) (event.Measurement, event.Measurement) {
			in.Set(protocol.ConcealedSamples, rapid.Float64Range(0, 480_000).Draw(t, "concealed"))
			in.Set(protocol.Samples, rapid.Float64Range(1, 480_000).Draw(t, "samples"))
			return lower("", 0, 1000, protocol.PacketsDiscarded).worse(t, in)
		}},
		raise("concealment", 480_000, protocol.ConcealedSamples),
		lower("repair", 0, 1000, protocol.FECPackets),
		lower("shorter runs", 1, 200, protocol.ConcealmentEvents),
		lower("audible", 0, 480_000, protocol.SilentConcealedSamples),
		raise("remote loss", 1, protocol.RemoteLossFraction),
		raise("remote count", 1000, protocol.RemotePacketsLost),
		raise("rtt", 5000, protocol.RTTMs),
		raise("jitter", 1000, protocol.JitterMs),
		raise("remote jitter", 1000, protocol.RemoteJitterMs),
		raise("jitter buffer", 3000, protocol.JitterBufferDelayMs),
		// From the lowest rate of speech up: below it there is silence, not a bad codec.
		{"bit rate", func(t *rapid.T, in event.Measurement) (event.Measurement, event.Measurement) {
			in.IntervalMs = 5000
			in.Set(protocol.Packets, 250)
			return lower("bytes", 3750, 40_000, protocol.Bytes).worse(t, in)
		}},
	} {
		t.Run(w.name, rapid.MakeCheck(func(t *rapid.T) {
			better, worse := w.worse(t, drawAudio(t))
			b, w := scoreAudio(better), scoreAudio(worse)
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
	for _, w := range []worsening{
		{"bit rate", func(t *rapid.T, in event.Measurement) (event.Measurement, event.Measurement) {
			in.Limitation = "" // an encoder that is not limited and uses less than it may needs no more
			return lower("bytes", 0, 5e6, protocol.Bytes).worse(t, in)
		}},
		raise("retransmissions", 1e6, protocol.RetransmittedBytes),
		{"repairs of what is sent", func(t *rapid.T, in event.Measurement) (event.Measurement, event.Measurement) {
			in.StatsType = protocol.OutboundRTP
			return lower("repairs", 0, 1e4, protocol.RetransmittedPackets).worse(t, in)
		}},
		raise("freezes", 20, protocol.Freezes),
		raise("freezes in 60 s", 60, protocol.Freezes60s),
		raise("freeze time", 20_000, protocol.FreezeMs),
		raise("pause", 20_000, protocol.PauseMs),
		raise("remote loss", 1, protocol.RemoteLossFraction),
		raise("remote count", 1000, protocol.RemotePacketsLost),
		lower("upscaling", 8e6, 1, protocol.DisplayedPixels), // no pixels are an unknown area
		raise("quantiser", 255, protocol.QP),
		{"frame rate", func(t *rapid.T, in event.Measurement) (event.Measurement, event.Measurement) {
			in.Screen = false // a screen's frame rate is no fault
			return lower("fps", 0.01, 24, protocol.HarmonicFPS).worse(t, in)
		}},
		{"nothing decoded", func(_ *rapid.T, in event.Measurement) (event.Measurement, event.Measurement) {
			worse := in
			worse.Set(protocol.FramesDecoded, 0)
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
	scale := func(m *event.Measurement, by float64, counters ...protocol.Measure) {
		m.IntervalMs *= by
		for _, k := range counters {
			if m.Known(k) {
				m.Set(k, by*m.Get(k))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.Float64Range(0.1, 10).Draw(t, "k")
		a := opusCall()
		a.Set(protocol.Samples, 240_000)
		for _, u := range []usual{
			{protocol.Packets, 200, 500},
			{protocol.PacketsLost, 0, 100},
			{protocol.Bytes, 1e3, 4e4},
			{protocol.ConcealedSamples, 0, 240_000},
			{protocol.ConcealmentEvents, 1, 50},
			{protocol.FECPackets, 0, 100},
		} {
			a.Set(u.k, rapid.Float64Range(u.lo, u.hi).Draw(t, u.k.String()))
		}
		b := a
		scale(&b, by, protocol.Packets, protocol.PacketsLost, protocol.FECPackets, protocol.Bytes, protocol.Samples, protocol.ConcealedSamples, protocol.ConcealmentEvents)
		ra, rb := ScoreAudio(&a), ScoreAudio(&b)
		if math.Abs(ra.MOS-rb.MOS) > 1e-6 {
			t.Fatalf("audio: %+v and %+v", ra, rb)
		}
		v := camera("VP8", 640, 360, rapid.Float64Range(40, 3000).Draw(t, "kbps"), rapid.Float64Range(1, 60).Draw(t, "fps"))
		v.Set(protocol.FreezeMs, rapid.Float64Range(0, 9000).Draw(t, "freezeMs"))
		v.Set(protocol.Freezes60s, 3)
		w := v
		scale(&w, by, protocol.Bytes, protocol.Packets, protocol.FramesDecoded, protocol.FreezeMs)
		if ms := w.IntervalMs; ms > 60_000 { // the library then counts those of the whole interval
			w.Set(protocol.Freezes60s, 3*ms/60_000)
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
				in.Set(protocol.PacketsLost, lost)
				in.Set(protocol.Bytes, bps*5/8)
				return audioMOS(t, in)
			})
		}
	}
	for _, run := range []float64{randomRun, burstyRun} {
		f("run of losses", run, func(run float64) float64 {
			in := opusCall()
			in.Set(protocol.Samples, 240_000)
			in.Set(protocol.ConcealedSamples, run*10*samplesPerPacket)
			in.Set(protocol.ConcealmentEvents, 10)
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
		in.Set(protocol.DisplayedPixels, shown)
		return videoMOS(t, in)
	})
	f("area below VGA", ownSizePixels, func(shown float64) float64 {
		in := camera("VP8", 640, 360, 500, 30)
		in.Set(protocol.DisplayedPixels, shown)
		return videoMOS(t, in)
	})
	f("uneven frames", 30, func(harmonic float64) float64 {
		in := camera("VP8", 640, 360, 500, 30)
		in.Set(protocol.HarmonicFPS, harmonic)
		return videoMOS(t, in)
	})
	for _, qp := range []float64{29, 95, 127} {
		f("quantiser", qp, func(qp float64) float64 {
			in := camera("VP8", 640, 360, 500, 30)
			in.Screen = true
			in.Set(protocol.QP, qp)
			return videoMOS(t, in)
		})
	}
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
	require.Equal(t, "codec,bitrate,rtt,jitter_buffer,displayed_pixels,remote_loss,freezes,qp", (assumedEnd - 1).String())
}
