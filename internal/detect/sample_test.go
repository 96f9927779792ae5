package detect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func known(v float64) Value { return Value{v, true} }

// good returns a measurement of a stream that is well by every detector that looks at it.
func good(outbound, video bool) Sample {
	s := Sample{
		Outbound: outbound, Video: video, IntervalMs: 10_000, Packets: known(500), Bytes: known(500_000), RTTMs: known(40),
		Lost: known(0), JitterMs: known(4), JitterBufferMs: known(50), Samples: known(480_000), Audible: known(0), ConcealmentEvents: known(0),
		Frames: known(300), FramesDecoded: known(300), FramesDropped: known(0), FPS: known(30), FreezeMs: known(0),
		PauseMs: known(0), PLIs: known(1), FIRs: known(0), DecodeMs: known(900),
	}
	if outbound {
		s.RemoteLossFraction, s.RemoteJitterMs, s.AudioLevel = known(0), known(5), known(0.1)
		s.CPULimitedMs, s.BandwidthLimitedMs, s.EncodeMs, s.Limitation = known(0), known(0), known(2000), "none"
	}
	return s
}

// read returns the classes that are known, and the values.
func read(s *Sample) (classes map[Kind]Class, values map[Kind]float64) {
	classes, values = map[Kind]Class{}, map[Kind]float64{}
	reading := NewRules(DefaultConfig()).Read(s)
	for l := range NumLevels {
		if c := reading.Word.Class(l); c != Unknown {
			classes[l.Kind()], values[l.Kind()] = c, reading.Values[l]
		}
	}
	return classes, values
}

func TestEachStreamHasItsDetectors(t *testing.T) {
	f := func(s Sample, kinds ...Kind) {
		t.Helper()
		classes, _ := read(&s)
		for _, kind := range kinds {
			require.Equal(t, Clear, classes[kind], kind)
		}
		require.Len(t, classes, len(kinds), "%v", classes)
	}
	f(good(false, false), HighPacketLoss, HighJitter, HighRoundTripTime, HighJitterBuffer, ConcealedAudio, LossBurst)
	f(good(true, false), HighPacketLoss, HighJitter, HighRoundTripTime, SilentMicrophone)
	f(good(false, true), HighPacketLoss, HighJitter, HighRoundTripTime, FrozenVideo, LowFrameRate, DroppedFrames, KeyFrameStorm, BusyCodec)
	f(good(true, true), HighPacketLoss, HighJitter, HighRoundTripTime, LowFrameRate, KeyFrameStorm, BandwidthLimited, CPULimited, BusyCodec)
	f(Sample{Pair: true, IntervalMs: 10_000, RTTMs: known(30)}, HighRoundTripTime)
	f(Sample{IntervalMs: 10_000})
	f(Sample{IntervalMs: 10_000, Video: true, Outbound: true})
	screen := good(false, true)
	screen.Screen = true
	f(screen, HighPacketLoss, HighJitter, HighRoundTripTime, DroppedFrames, KeyFrameStorm, BusyCodec)
}

// spec: QUAL-01
func TestMetricsThatBreak(t *testing.T) {
	f := func(kind Kind, value float64, s Sample, broken func(*Sample)) {
		t.Helper()
		broken(&s)
		classes, values := read(&s)
		require.Equal(t, Breach, classes[kind], "%s of %v", kind, values)
		require.InDelta(t, value, values[kind], 1e-9)
	}
	audioIn, audioOut, videoIn, videoOut := good(false, false), good(true, false), good(false, true), good(true, true)
	f(HighPacketLoss, 0.1, audioIn, func(s *Sample) { s.Packets, s.Lost = known(450), known(50) })
	f(HighPacketLoss, 1, audioIn, func(s *Sample) { s.Packets, s.Lost = known(0), known(500) })
	f(HighPacketLoss, 0.05, audioOut, func(s *Sample) { s.RemoteLossFraction = known(0.05) })
	f(HighPacketLoss, 0.1, videoOut, func(s *Sample) { s.RemoteLossFraction, s.RemoteLost = Value{}, known(50) })
	// 3 % in 96 runs of 3 ms are clicks, in 2 runs of 150 ms they are gaps.
	f(LossBurst, 150, audioIn, func(s *Sample) { s.Audible, s.ConcealmentEvents = known(14_400), known(2) })
	f(ConcealedAudio, 0.05, audioIn, func(s *Sample) { s.Audible = known(24_000) })
	f(HighJitter, 31, videoIn, func(s *Sample) { s.JitterMs = known(31) })
	f(HighJitter, 31, audioOut, func(s *Sample) { s.RemoteJitterMs = known(31) })
	f(HighRoundTripTime, 400, audioOut, func(s *Sample) { s.RTTMs = known(400) })
	f(HighJitterBuffer, 250, audioIn, func(s *Sample) { s.JitterBufferMs = known(250) })
	f(FrozenVideo, 0.2, videoIn, func(s *Sample) { s.FreezeMs = known(2000) })
	f(FrozenVideo, 0.6, videoIn, func(s *Sample) { s.FreezeMs, s.PauseMs = known(2000), known(6000) })
	f(FrozenVideo, 1, videoIn, func(s *Sample) { s.FramesDecoded = known(0) })
	f(LowFrameRate, 6, videoOut, func(s *Sample) { s.FPS = known(6) })
	f(BandwidthLimited, 0.8, videoOut, func(s *Sample) { s.BandwidthLimitedMs = known(8000) })
	f(BandwidthLimited, 1, videoOut, func(s *Sample) { s.BandwidthLimitedMs, s.Limitation = Value{}, "bandwidth" })
	f(CPULimited, 0.5, videoOut, func(s *Sample) { s.CPULimitedMs = known(5000) })
	f(BusyCodec, 0.9, videoOut, func(s *Sample) { s.EncodeMs = known(9000) })
	f(BusyCodec, 0.9, videoIn, func(s *Sample) { s.DecodeMs = known(9000) })
	f(DroppedFrames, 0.2, videoIn, func(s *Sample) { s.FramesDropped = known(60) })
	f(KeyFrameStorm, 1.1, videoIn, func(s *Sample) { s.PLIs, s.FIRs = known(10), known(1) })
	f(SilentMicrophone, 0, audioOut, func(s *Sample) { s.AudioLevel = known(0) })
}

// What looks bad and is not.
func TestMetricsThatTellNothing(t *testing.T) {
	f := func(kind Kind, s Sample, change func(*Sample)) {
		t.Helper()
		change(&s)
		classes, values := read(&s)
		require.NotEqual(t, Breach, classes[kind], "%v", values)
	}
	f(HighPacketLoss, good(false, false), func(s *Sample) { s.Packets, s.Lost = known(9), known(1) }) // one of ten
	f(HighPacketLoss, good(false, false), func(s *Sample) { s.Lost = known(-40) })
	f(DroppedFrames, good(false, true), func(s *Sample) { s.FramesDropped, s.Lost = known(60), known(50) }) // the network's
	f(LowFrameRate, good(false, true), func(s *Sample) { s.FPS, s.Bytes = known(1), known(9000) })          // nothing moves
	f(LowFrameRate, good(true, true), func(s *Sample) { s.FPS, s.Layer = known(5), true })
	f(LossBurst, good(false, false), func(s *Sample) { s.Audible, s.ConcealmentEvents = known(960), known(1) })
	f(SilentMicrophone, good(true, false), func(s *Sample) { s.AudioLevel = known(0.0004) }) // a quiet room
	f(SilentMicrophone, good(true, false), func(s *Sample) { s.AudioLevel = known(0.0001) }) // the least that is not nothing
	f(SilentMicrophone, good(true, false), func(s *Sample) { s.AudioLevel, s.Packets = known(0), known(0) })
	f(FrozenVideo, good(false, true), func(s *Sample) { s.FramesDecoded, s.Packets = known(0), known(3) })
}

// TestReadIsSound: no input panics, and each known value is a number.
func TestReadIsSound(t *testing.T) {
	rules := NewRules(DefaultConfig())
	rapid.Check(t, func(t *rapid.T) {
		value := func(name string) Value {
			v := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 1000), rapid.Just(0.0)).Draw(t, name)
			return Value{v, rapid.Bool().Draw(t, name+" known")}
		}
		s := Sample{
			Outbound: rapid.Bool().Draw(t, "out"), Video: rapid.Bool().Draw(t, "video"), Pair: rapid.Bool().Draw(t, "pair"),
			IntervalMs: rapid.Float64().Draw(t, "interval"), Packets: value("packets"), Lost: value("lost"),
			RemoteLost: value("remote"), RemoteLossFraction: value("fraction"), JitterMs: value("jitter"),
			RemoteJitterMs: value("remote jitter"), RTTMs: value("rtt"), JitterBufferMs: value("buffer"), AudioLevel: value("level"),
			Samples: value("samples"), Audible: value("audible"), ConcealmentEvents: value("events"), Bytes: value("bytes"),
			Frames: value("frames"), FramesDecoded: value("decoded"), FramesDropped: value("dropped"), FPS: value("fps"),
			FreezeMs: value("freeze"), PauseMs: value("pause"), PLIs: value("plis"), FIRs: value("firs"), EncodeMs: value("encode"),
			DecodeMs: value("decode"), CPULimitedMs: value("cpu"), BandwidthLimitedMs: value("bandwidth"),
		}
		reading := rules.Read(&s)
		for l := range NumLevels {
			if v := reading.Values[l]; v != v || v < 0 {
				t.Fatalf("%s is %v", l.Metric(), v)
			}
		}
	})
}

// TestMetricsDoNotDependOnTheInterval: what happened in an interval twice as long, twice as
// often, is the same.
func TestMetricsDoNotDependOnTheInterval(t *testing.T) {
	rules := NewRules(DefaultConfig())
	rapid.Check(t, func(t *rapid.T) {
		s := good(rapid.Bool().Draw(t, "out"), rapid.Bool().Draw(t, "video"))
		count := func(name string, most float64) Value { return known(rapid.Float64Range(0, most).Draw(t, name)) }
		s.Lost, s.RemoteLost, s.RemoteLossFraction = count("lost", 300), count("remote", 300), Value{}
		s.Audible, s.ConcealmentEvents = count("audible", 48_000), count("events", 30)
		s.FramesDropped, s.FreezeMs, s.PauseMs = count("dropped", 100), count("freeze", 5000), count("pause", 5000)
		s.PLIs, s.FIRs, s.EncodeMs, s.DecodeMs = count("plis", 30), count("firs", 3), count("encode", 9000), count("decode", 9000)
		s.CPULimitedMs, s.BandwidthLimitedMs = count("cpu", 9000), count("bandwidth", 9000)
		long := s
		k := rapid.Float64Range(1, 10).Draw(t, "k")
		long.IntervalMs *= k
		for _, v := range []*Value{
			&long.Packets, &long.Lost, &long.RemoteLost, &long.Samples, &long.Audible, &long.ConcealmentEvents, &long.Bytes, &long.Frames,
			&long.FramesDecoded, &long.FramesDropped, &long.FreezeMs, &long.PauseMs, &long.PLIs, &long.FIRs, &long.EncodeMs, &long.DecodeMs,
			&long.CPULimitedMs, &long.BandwidthLimitedMs,
		} {
			v.V *= k
		}
		a, b := rules.Read(&s), rules.Read(&long)
		for l := range NumLevels {
			require.InDelta(t, a.Values[l], b.Values[l], 1e-6*(1+a.Values[l]), l.Metric())
		}
	})
}

func TestWordKeepsClassesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var classes [NumLevels]Class
		var word Word
		for l := range NumLevels {
			classes[l] = Class(rapid.IntRange(0, 3).Draw(t, "class"))
			word = word.with(l, classes[l])
		}
		state := rapid.IntRange(-1, NumStates-1).Draw(t, "state")
		if state >= 0 {
			word = word.WithState(state)
		}
		for l := range NumLevels {
			require.Equal(t, classes[l], word.Class(l))
		}
		have, ok := word.State()
		require.Equal(t, state, have)
		require.Equal(t, state >= 0, ok)
		require.Equal(t, word, word.blend(word))
	})
}

func TestFacts(t *testing.T) {
	s := func(outbound, video bool, change func(*Sample)) Sample {
		s := good(outbound, video)
		change(&s)
		return s
	}
	none := func(s *Sample) { s.Packets = known(0) }
	alone := func(s *Sample) {
		s.RTTMs, s.RemoteLost, s.RemoteLossFraction, s.RemoteJitterMs = Value{}, Value{}, Value{}, Value{}
	}
	facts := func(samples ...Sample) (all Facts) {
		for i := range samples {
			all |= FactsOf(&samples[i])
		}
		return all
	}
	well := facts(good(false, false), good(true, false), good(false, true), good(true, true))
	deaf := facts(s(false, false, none), good(true, false), good(true, true))
	dumb := facts(good(false, false), s(true, false, alone), s(true, true, alone))
	idle := facts(good(false, false), s(true, false, none))
	dead := facts(s(false, false, none), s(true, false, none))
	f := func(class func(Facts) Class, bad ...Facts) {
		t.Helper()
		for _, have := range []Facts{well, deaf, dumb, idle, dead} {
			want := false
			for _, b := range bad {
				want = want || have == b
			}
			require.Equal(t, want, class(have) == Breach, "%b", have)
		}
		require.Equal(t, Unknown, class(0))
	}
	f(Nothing, dead)
	f(Unreceived(false), deaf)
	f(Unreceived(true))
	f(Unheard(false), dumb)
	f(Unheard(true), dumb)
	f(Unsent(false), idle)
	f(Unsent(true))
	require.Zero(t, facts(Sample{Pair: true, Packets: known(1)}, Sample{}))
}

// What is not sent is missed while there is a bit rate to send it with.
func TestUnsentVideo(t *testing.T) {
	facts := func(change func(*Sample)) Facts {
		s := good(true, true)
		s.Packets, s.TargetBps = known(0), known(600_000)
		change(&s)
		return FactsOf(&s)
	}
	sound := good(false, false)
	others := FactsOf(&sound)
	f := func(want Class, change func(*Sample)) {
		t.Helper()
		have := facts(change)
		require.Equal(t, want, Unsent(true)(have|others), "%b", have)
		require.Equal(t, want == Breach, have.Missing())
		require.NotEqual(t, Breach, Unsent(true)(have), "nothing goes through at all")
		require.NotEqual(t, Breach, Unsent(false)(have|others), "video is no audio")
	}
	f(Breach, func(*Sample) {})
	f(Unknown, func(s *Sample) { s.TargetBps = known(0) }) // the server wants none
	f(Unknown, func(s *Sample) { s.TargetBps = Value{} })  // Firefox
	f(Unknown, func(s *Sample) { s.Screen = true })        // nothing on it moves
	f(Clear, func(s *Sample) { s.Packets = known(3) })
	sent := good(true, true)
	require.Equal(t, Clear, Unsent(true)(facts(func(s *Sample) { s.Layer = true })|FactsOf(&sent)), "another layer is")
}

func TestWiFi(t *testing.T) {
	rules := NewRules(DefaultConfig())
	f := func(dBm float64, want Class) {
		t.Helper()
		require.Equal(t, want, WiFi(rules.WiFiFacts(dBm)|GotAudio))
	}
	f(-80, Breach)
	f(-75, Between)
	f(-70, Clear)
	f(-50, Clear)
	require.Equal(t, Unknown, WiFi(GotAudio))
	require.Equal(t, Breach, WiFi(rules.WiFiFacts(-80)|rules.WiFiFacts(-50)), "the worse of one cell")
}

func TestConfigValidate(t *testing.T) {
	c := DefaultConfig()
	require.NoError(t, c.Validate())
	f := func(change func(*Config), want ...string) {
		t.Helper()
		c := DefaultConfig()
		change(&c)
		err := c.Validate()
		for _, text := range want {
			require.ErrorContains(t, err, text)
		}
	}
	f(func(c *Config) { c.HighPacketLoss.Raise = 3 }, "high_packet_loss::raise is 3, must be from 0 to 1")
	f(func(c *Config) { c.HighPacketLoss.Resolve = 0.05 }, "high_packet_loss::resolve (0.05) must not be above raise (0.03)")
	f(func(c *Config) { c.LowFrameRate.Resolve = 5 }, "low_frame_rate::resolve (5) must not be below raise (10): lower is worse")
	f(func(c *Config) { c.WeakWiFi.Raise = 75 }, "weak_wifi::raise is 75, must be from -200 to 0")
	f(func(c *Config) { c.NoMedia.After = -time.Second }, "no_media::after must be from 0s to 10m0s (got -1s)")
	f(func(c *Config) { c.HighJitter.ResolveAfter = time.Hour; c.LateJoin.After = 48 * time.Hour },
		"high_jitter::resolve_after must be from 0s to 10m0s (got 1h0m0s)", "late_join::after must be from 0s to 24h0m0s (got 48h0m0s)")
}

// TestKinds: the list is whole, and each level detector has its own kind and metric.
func TestKinds(t *testing.T) {
	seen := map[Kind]bool{}
	for _, kind := range Kinds {
		require.Regexp(t, "^[a-z][a-zA-Z]+$", string(kind))
		require.False(t, seen[kind], kind)
		seen[kind] = true
	}
	metrics := map[string]bool{}
	for l := range NumLevels {
		require.True(t, seen[l.Kind()], l.Kind())
		require.False(t, metrics[l.Metric()])
		metrics[l.Metric()] = true
		require.NotEmpty(t, l.Confidence())
	}
}
