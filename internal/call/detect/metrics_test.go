package detect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

// good returns a measurement of a stream that is well by every detector that looks at it.
func good(outbound, video bool) event.Measurement {
	m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, IntervalMs: 10_000}, eventtest.Values{
		protocol.Packets: 500, protocol.Bytes: 500_000, protocol.RTTMs: 40, protocol.PacketsLost: 0, protocol.JitterMs: 4, protocol.JitterBufferDelayMs: 50,
		protocol.Samples: 480_000, protocol.ConcealedSamples: 0, protocol.ConcealmentEvents: 0,
		protocol.Frames: 300, protocol.FramesDecoded: 300, protocol.FramesDropped: 0, protocol.FPS: 30, protocol.FreezeMs: 0,
		protocol.PauseMs: 0, protocol.PLIs: 1, protocol.FIRs: 0, protocol.DecodeMs: 900,
	})
	if video {
		m.MediaType = protocol.Video
	}
	if outbound {
		m.StatsType, m.Limitation = protocol.OutboundRTP, "none"
		return eventtest.With(m, eventtest.Values{
			protocol.RemoteLossFraction: 0, protocol.RemoteJitterMs: 5, protocol.AudioLevel: 0.1,
			protocol.CPULimitedMs: 0, protocol.BandwidthLimitedMs: 0, protocol.EncodeMs: 2000,
		})
	}
	return m
}

// read returns the classes that are known, and the values.
func read(s *event.Measurement) (classes map[Kind]Class, values map[Kind]float64) {
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
	f := func(s event.Measurement, kinds ...Kind) {
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
	f(eventtest.With(event.Measurement{StatsType: protocol.CandidatePair, IntervalMs: 10_000}, eventtest.Values{protocol.RTTMs: 30}), HighRoundTripTime)
	f(event.Measurement{IntervalMs: 10_000})
	f(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Video, IntervalMs: 10_000})
	screen := good(false, true)
	screen.Screen = true
	f(screen, HighPacketLoss, HighJitter, HighRoundTripTime, DroppedFrames, KeyFrameStorm, BusyCodec)
}

// Nothing is decoded of a server's probes, which have no payload, nor of media that arrive and for which the page has no key. After a
// loss it is a fault.
//
// spec: QUAL-01, CONF-03
func TestWhatCannotBeDecodedIsNoFrozenVideo(t *testing.T) {
	f := func(want Class, bytes, lost float64) {
		t.Helper()
		s := good(false, true)
		s.Set(protocol.FramesDecoded, 0)
		s.Set(protocol.Bytes, bytes)
		s.Set(protocol.PacketsLost, lost)
		classes, _ := read(&s)
		require.Equal(t, want, classes[FrozenVideo])
	}
	f(Clear, 0, 25)
	f(Breach, 1, 25)
	f(Unknown, 1, 0)
}

// An encoder that may spend 1.5 Mbit/s is not limited in any way that is seen, whatever it reports.
//
// spec: QUAL-01
func TestEnoughBandwidth(t *testing.T) {
	s := good(true, true)
	s.Set(protocol.BandwidthLimitedMs, 8000)
	for bps, want := range map[float64]Class{1.4e6: Breach, 1.5e6: Clear} {
		s.Set(protocol.TargetBitrateBps, bps)
		classes, _ := read(&s)
		require.Equal(t, want, classes[BandwidthLimited], bps)
	}
}

// A browser reports a limit, and goes on counting its time, for a layer that sends no frame any more.
//
// spec: QUAL-01, CONF-03
func TestLayerThatIsOff(t *testing.T) {
	s := good(true, true)
	s.RID = "h"
	s.Set(protocol.BandwidthLimitedMs, 10_000)
	for frames, want := range map[float64]Class{0: Unknown, 150: Breach} {
		s.Set(protocol.Frames, frames)
		classes, _ := read(&s)
		require.Equal(t, want, classes[BandwidthLimited], frames)
	}
}

// spec: QUAL-01
func TestMetricsThatBreak(t *testing.T) {
	f := func(kind Kind, value float64, s event.Measurement, broken func(*event.Measurement)) {
		t.Helper()
		broken(&s)
		classes, values := read(&s)
		require.Equal(t, Breach, classes[kind], "%s of %v", kind, values)
		require.InDelta(t, value, values[kind], 1e-9)
	}
	audioIn, audioOut, videoIn, videoOut := good(false, false), good(true, false), good(false, true), good(true, true)
	f(HighPacketLoss, 0.1, audioIn, func(s *event.Measurement) {
		s.Set(protocol.Packets, 450)
		s.Set(protocol.PacketsLost, 50)
	})
	f(HighPacketLoss, 1, audioIn, func(s *event.Measurement) {
		s.Set(protocol.Packets, 0)
		s.Set(protocol.PacketsLost, 500)
	})
	f(HighPacketLoss, 0.05, audioOut, func(s *event.Measurement) { s.Set(protocol.RemoteLossFraction, 0.05) })
	f(HighPacketLoss, 0.1, videoOut, func(s *event.Measurement) {
		s.Clear(protocol.RemoteLossFraction)
		s.Set(protocol.RemotePacketsLost, 50)
	})
	// 3 % in 96 runs of 3 ms are clicks, in 2 runs of 150 ms they are gaps.
	f(LossBurst, 150, audioIn, func(s *event.Measurement) {
		s.Set(protocol.ConcealedSamples, 14_400)
		s.Set(protocol.ConcealmentEvents, 2)
	})
	f(ConcealedAudio, 0.05, audioIn, func(s *event.Measurement) { s.Set(protocol.ConcealedSamples, 24_000) })
	f(HighJitter, 31, videoIn, func(s *event.Measurement) { s.Set(protocol.JitterMs, 31) })
	f(HighJitter, 31, audioOut, func(s *event.Measurement) { s.Set(protocol.RemoteJitterMs, 31) })
	f(HighRoundTripTime, 400, audioOut, func(s *event.Measurement) { s.Set(protocol.RTTMs, 400) })
	f(HighJitterBuffer, 250, audioIn, func(s *event.Measurement) { s.Set(protocol.JitterBufferDelayMs, 250) })
	f(FrozenVideo, 0.2, videoIn, func(s *event.Measurement) { s.Set(protocol.FreezeMs, 2000) })
	f(FrozenVideo, 0.6, videoIn, func(s *event.Measurement) {
		s.Set(protocol.FreezeMs, 2000)
		s.Set(protocol.PauseMs, 6000)
	})
	f(FrozenVideo, 1, videoIn, func(s *event.Measurement) {
		s.Set(protocol.FramesDecoded, 0)
		s.Set(protocol.PacketsLost, 25)
	})
	f(LowFrameRate, 6, videoOut, func(s *event.Measurement) { s.Set(protocol.FPS, 6) })
	f(BandwidthLimited, 0.8, videoOut, func(s *event.Measurement) { s.Set(protocol.BandwidthLimitedMs, 8000) })
	f(BandwidthLimited, 1, videoOut, func(s *event.Measurement) {
		s.Clear(protocol.BandwidthLimitedMs)
		s.Limitation = "bandwidth"
	})
	f(CPULimited, 0.5, videoOut, func(s *event.Measurement) { s.Set(protocol.CPULimitedMs, 5000) })
	f(BusyCodec, 0.9, videoOut, func(s *event.Measurement) { s.Set(protocol.EncodeMs, 9000) })
	f(BusyCodec, 0.9, videoIn, func(s *event.Measurement) { s.Set(protocol.DecodeMs, 9000) })
	f(DroppedFrames, 0.2, videoIn, func(s *event.Measurement) { s.Set(protocol.FramesDropped, 60) })
	f(KeyFrameStorm, 1.1, videoIn, func(s *event.Measurement) {
		s.Set(protocol.PLIs, 10)
		s.Set(protocol.FIRs, 1)
	})
	f(SilentMicrophone, 0, audioOut, func(s *event.Measurement) { s.Set(protocol.AudioLevel, 0) })
}

// What looks bad and is not.
func TestMetricsThatTellNothing(t *testing.T) {
	f := func(kind Kind, s event.Measurement, change func(*event.Measurement)) {
		t.Helper()
		change(&s)
		classes, values := read(&s)
		require.NotEqual(t, Breach, classes[kind], "%v", values)
	}
	f(HighPacketLoss, good(false, false), func(s *event.Measurement) {
		s.Set(protocol.Packets, 9)
		s.Set(protocol.PacketsLost, 1)
	}) // one of ten
	f(HighPacketLoss, good(false, false), func(s *event.Measurement) { s.Set(protocol.PacketsLost, -40) })
	f(DroppedFrames, good(false, true), func(s *event.Measurement) {
		s.Set(protocol.FramesDropped, 60)
		s.Set(protocol.PacketsLost, 50)
	}) // the network's
	f(LowFrameRate, good(false, true), func(s *event.Measurement) {
		s.Set(protocol.FPS, 1)
		s.Set(protocol.Bytes, 9000)
	}) // nothing moves
	f(LowFrameRate, good(true, true), func(s *event.Measurement) {
		s.Set(protocol.FPS, 5)
		s.RID = "q"
	})
	f(LossBurst, good(false, false), func(s *event.Measurement) {
		s.Set(protocol.ConcealedSamples, 960)
		s.Set(protocol.ConcealmentEvents, 1)
	})
	f(SilentMicrophone, good(true, false), func(s *event.Measurement) { s.Set(protocol.AudioLevel, 0.0004) }) // a quiet room
	f(SilentMicrophone, good(true, false), func(s *event.Measurement) { s.Set(protocol.AudioLevel, 0.0001) }) // the least that is not nothing
	f(SilentMicrophone, good(true, false), func(s *event.Measurement) {
		s.Set(protocol.AudioLevel, 0)
		s.Set(protocol.Packets, 0)
	})
	f(FrozenVideo, good(false, true), func(s *event.Measurement) {
		s.Set(protocol.FramesDecoded, 0)
		s.Set(protocol.Packets, 3)
	})
}

// TestReadIsSound: no input panics, and each known value is a number.
func TestReadIsSound(t *testing.T) {
	rules := NewRules(DefaultConfig())
	rapid.Check(t, func(t *rapid.T) {
		m := oddMeasurement(t)
		reading := rules.Read(&m)
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
		m := good(rapid.Bool().Draw(t, "out"), rapid.Bool().Draw(t, "video"))
		m.Clear(protocol.RemoteLossFraction)
		for _, c := range []struct {
			k    protocol.Measure
			most float64
		}{
			{protocol.PacketsLost, 300},
			{protocol.RemotePacketsLost, 300},
			{protocol.ConcealedSamples, 48_000},
			{protocol.ConcealmentEvents, 30},
			{protocol.FramesDropped, 100},
			{protocol.FreezeMs, 5000},
			{protocol.PauseMs, 5000},
			{protocol.PLIs, 30},
			{protocol.FIRs, 3},
			{protocol.EncodeMs, 9000},
			{protocol.DecodeMs, 9000},
			{protocol.CPULimitedMs, 9000},
			{protocol.BandwidthLimitedMs, 9000},
		} {
			m.Set(c.k, rapid.Float64Range(0, c.most).Draw(t, c.k.String()))
		}
		long := m
		k := rapid.Float64Range(1, 10).Draw(t, "k")
		long.IntervalMs *= k
		for _, counter := range []protocol.Measure{
			protocol.Packets, protocol.PacketsLost, protocol.RemotePacketsLost, protocol.Samples, protocol.ConcealedSamples, protocol.ConcealmentEvents,
			protocol.Bytes, protocol.Frames, protocol.FramesDecoded, protocol.FramesDropped, protocol.FreezeMs, protocol.PauseMs, protocol.PLIs,
			protocol.FIRs, protocol.EncodeMs, protocol.DecodeMs, protocol.CPULimitedMs, protocol.BandwidthLimitedMs,
		} {
			if long.Known(counter) {
				long.Set(counter, k*long.Get(counter))
			}
		}
		a, b := rules.Read(&m), rules.Read(&long)
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
	s := func(outbound, video bool, change func(*event.Measurement)) event.Measurement {
		s := good(outbound, video)
		change(&s)
		return s
	}
	none := func(s *event.Measurement) { s.Set(protocol.Packets, 0) }
	alone := func(s *event.Measurement) {
		s.Clear(protocol.RTTMs)
		s.Clear(protocol.RemotePacketsLost)
		s.Clear(protocol.RemoteLossFraction)
		s.Clear(protocol.RemoteJitterMs)
	}
	facts := func(samples ...event.Measurement) (all Facts) {
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
	require.Zero(t, facts(eventtest.With(event.Measurement{StatsType: protocol.CandidatePair}, eventtest.Values{protocol.Packets: 1}), event.Measurement{}))
}

// What is not sent is missed while there is a bit rate to send it with.
func TestUnsentVideo(t *testing.T) {
	facts := func(change func(*event.Measurement)) Facts {
		s := good(true, true)
		s.Set(protocol.Packets, 0)
		s.Set(protocol.TargetBitrateBps, 600_000)
		change(&s)
		return FactsOf(&s)
	}
	sound := good(false, false)
	others := FactsOf(&sound)
	f := func(want Class, change func(*event.Measurement)) {
		t.Helper()
		have := facts(change)
		require.Equal(t, want, Unsent(true)(have|others), "%b", have)
		require.Equal(t, want == Breach, have.Missing())
		require.NotEqual(t, Breach, Unsent(true)(have), "nothing goes through at all")
		require.NotEqual(t, Breach, Unsent(false)(have|others), "video is no audio")
	}
	f(Breach, func(*event.Measurement) {})
	f(Unknown, func(s *event.Measurement) { s.Set(protocol.TargetBitrateBps, 0) }) // the server wants none
	f(Unknown, func(s *event.Measurement) { s.Clear(protocol.TargetBitrateBps) })  // Firefox
	f(Unknown, func(s *event.Measurement) { s.Screen = true })                     // nothing on it moves
	f(Clear, func(s *event.Measurement) { s.Set(protocol.Packets, 3) })
	sent := good(true, true)
	require.Equal(t, Clear, Unsent(true)(facts(func(s *event.Measurement) { s.RID = "q" })|FactsOf(&sent)), "another layer is")
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
