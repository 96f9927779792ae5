package quality

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

// opusCall is five seconds of Opus at 32 kbit/s, nothing wrong, on a good link.
func opusCall() event.Measurement {
	return eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio, Codec: "opus", IntervalMs: 5000}, eventtest.Values{
		protocol.Bytes: 20000, protocol.Packets: 250, protocol.PacketsLost: 0, protocol.RTTMs: 40, protocol.JitterBufferDelayMs: 40, protocol.AudioLevel: 0.1,
	})
}

func audioMOS(t *testing.T, in event.Measurement) float64 {
	t.Helper()
	res := scoreAudio(in)
	require.True(t, res.OK(), "reason %s", res.Reason)
	return res.MOS
}

// spec: QUAL-01
func TestScoreAudioCleanCall(t *testing.T) {
	res := scoreAudio(opusCall())
	require.Equal(t, "qos-audio/8 (G.107.2)", res.Model)
	require.Equal(t, Scored, res.Reason)
	require.Empty(t, res.Assumed.String())
	// Ie between 16.829 (31k) and 14.759 (34k) a third of the way: 16.139; R 131.861/1.48.
	require.InDelta(t, 89.095, res.R, 0.001)
	require.InDelta(t, 4.317, res.MOS, 0.001)
	require.Equal(t, res.MOS, res.MOSListening, "the delay is under 100 ms")
	require.Equal(t, Excellent, Label(res.MOS, DefaultBounds()))
	require.Equal(t, []Input{
		{InLossFraction, 0},
		{InDelayMs, 40.0/2 + 40 + 20 + 6.5},
		{InBitrateBps, 32000},
	}, res.Inputs())
}

func TestScoreAudioLossIsTheLarger(t *testing.T) {
	f := func(loss float64, change func(*event.Measurement)) {
		t.Helper()
		in := opusCall()
		change(&in)
		res := scoreAudio(in)
		got, ok := res.Input(InLossFraction)
		require.True(t, ok)
		require.InDelta(t, loss, got, 1e-12)
	}
	f(0.02, func(in *event.Measurement) {
		in.Set(protocol.Packets, 245)
		in.Set(protocol.PacketsLost, 5)
	})
	f(0.04, func(in *event.Measurement) {
		in.Set(protocol.Packets, 245)
		in.Set(protocol.PacketsLost, 5)
		in.Set(protocol.PacketsDiscarded, 5)
	})
	// With RED (RFC 2198) copies of packets that arrived are discarded, as many as packets or twice as many; others repair.
	for _, copies := range []float64{250, 500} {
		red := func(lost, audible float64) func(in *event.Measurement) {
			return func(in *event.Measurement) {
				in.Set(protocol.Packets, 250-lost)
				in.Set(protocol.PacketsLost, lost)
				in.Set(protocol.PacketsDiscarded, copies-lost)
				in.Set(protocol.Samples, 240000)
				in.Set(protocol.ConcealedSamples, 240000*audible)
			}
		}
		f(0, red(0, 0))
		f(0, red(25, 0))
		f(0.03, red(25, 0.03))
		f(0.03, red(0, 0.03)) // what is discarded because it is late is concealed
	}
	// Of 10 % concealed, 4 % was silent: nobody hears that.
	f(0.06, func(in *event.Measurement) {
		in.Set(protocol.Samples, 240000)
		in.Set(protocol.ConcealedSamples, 24000)
		in.Set(protocol.SilentConcealedSamples, 9600)
	})
	f(0.08, func(in *event.Measurement) {
		in.Set(protocol.Packets, 230)
		in.Set(protocol.PacketsLost, 20)
		in.Set(protocol.Samples, 240000)
		in.Set(protocol.ConcealedSamples, 24000)
		in.Set(protocol.SilentConcealedSamples, 9600)
	})
	f(0, func(in *event.Measurement) { in.Set(protocol.PacketsLost, -3) })
	f(0, func(in *event.Measurement) {
		in.Set(protocol.Samples, 1000)
		in.Set(protocol.ConcealedSamples, 5)
		in.Set(protocol.SilentConcealedSamples, 9)
	})
	f(1, func(in *event.Measurement) {
		in.Set(protocol.Packets, 0)
		in.Set(protocol.PacketsLost, 40)
	})
	f(1, func(in *event.Measurement) {
		in.Set(protocol.Packets, 400)
		in.Set(protocol.PacketsDiscarded, 400)
	})
}

// TestAudioThatNobodyPlays: without an element the browser discards all packets and takes no sample of them.
//
// spec: QUAL-01
func TestAudioThatNobodyPlays(t *testing.T) {
	in := opusCall()
	for _, discarded := range []float64{0, 200, 250} {
		in.Set(protocol.PacketsDiscarded, discarded)
		in.Set(protocol.Samples, 0)
		in.Set(protocol.ConcealedSamples, 0)
		require.Equal(t, NotPlayed, scoreAudio(in).Reason)
		in.Set(protocol.Samples, 480)
		require.Equal(t, Scored, scoreAudio(in).Reason)
	}
}

// TestFewPacketsAreNoEvidence: of 13 packets of comfort noise one was lost.
//
// spec: QUAL-01
func TestFewPacketsAreNoEvidence(t *testing.T) {
	in := opusCall()
	in.Set(protocol.Packets, 12)
	in.Set(protocol.PacketsLost, 1)
	require.Equal(t, TooFewPackets, scoreAudio(in).Reason)
	in.Set(protocol.PacketsLost, 8)
	require.Equal(t, Scored, scoreAudio(in).Reason)
	in.StatsType = protocol.OutboundRTP
	in.Set(protocol.RemoteLossFraction, 0.5)
	require.Equal(t, TooFewPackets, scoreAudio(in).Reason)
	in.Set(protocol.Packets, 20)
	require.Equal(t, Scored, scoreAudio(in).Reason)
}

// What redundancy brought back is not lost, as far as concealment is reported: what it did not
// bring back was concealed. The last three are intervals of calls between two Chromiums with
// 10 % and 15 % loss, of which in-band FEC repaired a part.
//
// spec: QUAL-01
func TestScoreAudioLossIsWhatIsLeftAfterRepair(t *testing.T) {
	f := func(want, packets, lost, fec, audible float64) {
		t.Helper()
		in := opusCall()
		in.Set(protocol.Packets, packets)
		in.Set(protocol.PacketsLost, lost)
		in.Set(protocol.FECPackets, fec)
		in.Set(protocol.Samples, 240_000)
		in.Set(protocol.ConcealedSamples, 240_000*audible)
		res := scoreAudio(in)
		got, _ := res.Input(InLossFraction)
		require.InDelta(t, want, got, 1e-9)
	}
	f(0.1, 90, 10, 0, 0)
	f(0, 90, 10, 10, 0)
	f(0, 90, 10, 90, 0)
	f(4.0/94, 90, 10, 6, 0)
	f(0.02, 90, 10, 90, 0.02)
	f(13.0/227, 214, 25, 12, 0.05)
	f(0.072, 90, 10, 8, 0.072)
	f(0.131, 81, 19, 11, 0.131)

	in := opusCall()
	in.Set(protocol.Packets, 90)
	in.Set(protocol.PacketsLost, 10)
	in.Set(protocol.FECPackets, 90)
	res := scoreAudio(in)
	loss, _ := res.Input(InLossFraction)
	require.InDelta(t, 0.1, loss, 1e-9, "without concealment nothing shows that it was repaired")
}

func TestScoreAudioDelay(t *testing.T) {
	in := opusCall()
	in.Set(protocol.RTTMs, 400)
	res := scoreAudio(in)
	delay, _ := res.Input(InDelayMs)
	require.InDelta(t, 266.5, delay, 1e-9)
	require.InDelta(t, MOS(89.095-Idd(266.5)), res.MOS, 1e-3)
	require.InDelta(t, 4.317, res.MOSListening, 1e-3, "delay is not heard by who only listens")

	in.Clear(protocol.RTTMs)
	in.Clear(protocol.JitterBufferDelayMs)
	in.Set(protocol.JitterMs, 30)
	res = scoreAudio(in)
	delay, _ = res.Input(InDelayMs)
	require.InDelta(t, 2*30+20+6.5, delay, 1e-9)
	require.Equal(t, "rtt,jitter_buffer", res.Assumed.String())
}

func TestScoreAudioOutbound(t *testing.T) {
	in := eventtest.With(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Audio, Codec: "audio/opus", IntervalMs: 5000}, eventtest.Values{
		protocol.Bytes: 20000, protocol.Packets: 250, protocol.RTTMs: 100, protocol.RemoteJitterMs: 10, protocol.JitterMs: 99, protocol.RemoteLossFraction: 0.05, protocol.RemotePacketsLost: 1, protocol.PacketsLost: 200,
	})
	res := scoreAudio(in)
	loss, _ := res.Input(InLossFraction)
	require.Equal(t, 0.05, loss)
	delay, _ := res.Input(InDelayMs)
	require.InDelta(t, 50+20+20+6.5, delay, 1e-9)

	in.Clear(protocol.RemoteLossFraction)
	res = scoreAudio(in)
	loss, _ = res.Input(InLossFraction)
	require.Equal(t, 0.004, loss, "the count serves where there is no fraction")

	in.Unheard = true
	require.Equal(t, NoRemoteReport, scoreAudio(in).Reason, "a report from before says nothing of now")

	in.Unheard = false
	in.Clear(protocol.RemotePacketsLost)
	require.Equal(t, NoRemoteReport, scoreAudio(in).Reason)
}

func TestScoreAudioWithoutEvidence(t *testing.T) {
	f := func(why Reason, in event.Measurement) {
		t.Helper()
		in.DropOutOfRange() // as wherever it is read
		res := scoreAudio(in)
		require.Equal(t, why, res.Reason)
		require.False(t, res.OK())
		require.Zero(t, res.MOS)
		require.Empty(t, res.Inputs())
	}
	f(NoPackets, event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio})
	f(NoPackets, eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio}, eventtest.Values{protocol.Packets: 0, protocol.PacketsLost: 0}))
	f(NoPackets, eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio}, eventtest.Values{protocol.Packets: -1, protocol.PacketsLost: 3}))
	f(NoPackets, eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio}, eventtest.Values{protocol.Packets: math.NaN()}))
	f(NoPackets, eventtest.With(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: protocol.Audio}, eventtest.Values{protocol.Packets: 0, protocol.RemoteLossFraction: 0}))
	f(NoLossEvidence, eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio}, eventtest.Values{protocol.Packets: 100}))
	f(NoLossEvidence, eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: protocol.Audio}, eventtest.Values{protocol.Packets: 100, protocol.PacketsLost: math.Inf(1)}))
}

func TestScoreAudioBitrateIsThatOfSpeech(t *testing.T) {
	clean := audioMOS(t, opusCall())
	f := func(name string, want float64, assumed string, change func(*event.Measurement)) {
		t.Helper()
		in := opusCall()
		change(&in)
		res := scoreAudio(in)
		bps, _ := res.Input(InBitrateBps)
		require.InDelta(t, want, bps, 1e-6, name)
		require.Equal(t, assumed, res.Assumed.String(), name)
	}
	f("silence by level", 32000, "bitrate", func(in *event.Measurement) {
		in.Set(protocol.Bytes, 8000)
		in.Set(protocol.AudioLevel, 0)
	})
	f("silence by rate", 32000, "bitrate", func(in *event.Measurement) {
		in.Set(protocol.Bytes, 3000)
		in.Clear(protocol.AudioLevel)
	})
	f("nothing measured", 32000, "bitrate", func(in *event.Measurement) { in.Clear(protocol.Bytes) })
	f("quiet but richly coded", 40000, "", func(in *event.Measurement) {
		in.Set(protocol.Bytes, 25000)
		in.Set(protocol.AudioLevel, 0)
	})
	f("target above", 32000, "", func(in *event.Measurement) {
		in.Set(protocol.Bytes, 10000)
		in.Set(protocol.TargetBitrateBps, 32000)
	})
	f("target below", 32000, "", func(in *event.Measurement) { in.Set(protocol.TargetBitrateBps, 16000) })
	f("low bit rate", 16000, "", func(in *event.Measurement) { in.Set(protocol.Bytes, 10000) })
	f("10 ms packets", 32000, "", func(in *event.Measurement) { in.Set(protocol.Packets, 500) })
	f("no interval", 32000, "", func(in *event.Measurement) { in.IntervalMs = 0 })
	// Two seconds of speech, three of nothing sent: the codec ran at 32k all the same.
	f("pauses", 32000, "", func(in *event.Measurement) {
		in.Set(protocol.Bytes, 8000)
		in.Set(protocol.Packets, 100)
	})

	lossy := opusCall()
	lossy.Set(protocol.Packets, 200)
	lossy.Set(protocol.PacketsLost, 50)
	lossy.Set(protocol.Bytes, 16000)
	require.InDelta(t, MOS(opus().rating(32000, losses{ppl: 20})), audioMOS(t, lossy), 1e-12, "loss is charged once")
	require.Less(t, audioMOS(t, lossy), clean)
}

func opus() *audioCodec {
	c, _ := findAudioCodec("opus")
	return c
}

func TestAudioCodecs(t *testing.T) {
	f := func(codec, model string, r float64) {
		t.Helper()
		in := opusCall()
		in.Codec = codec
		in.Clear(protocol.Bytes)
		res := scoreAudio(in)
		require.Equal(t, model, res.Model, codec)
		require.InDelta(t, r, res.R, 1e-3, codec)
	}
	f("OPUS", modelFullband, 89.095)
	f("PCMU", modelNarrowband, 93.2)
	f("audio/PCMA", modelNarrowband, 93.2)
	f("G722", modelWideband, (129-13)/1.29)
	f("AMR-WB", modelWideband, (129-20)/1.29)
	f("EVS", modelFullband, (148-17.1)/1.48)
	f("G729", modelNarrowband, 82.2)
	f("G723", modelNarrowband, 78.2)
	f("GSM", modelNarrowband, 73.2)
	f("GSM-EFR", modelNarrowband, 88.2)
	f("AMR", modelNarrowband, 88.2)

	for _, codec := range []string{"", "red", "lyra"} {
		in := opusCall()
		in.Codec = codec
		res := scoreAudio(in)
		require.InDelta(t, (148-16.829)/1.48, res.R, 1e-3)
		require.Equal(t, "codec", res.Assumed.String(), "%q", codec)
	}
}

// The published points of Opus must come out where the model was made to pass through
// them, and the tables must be sound for interpolation.
func TestCodecTables(t *testing.T) {
	for _, c := range append(audioCodecs, unknownCodec) {
		for i, p := range c.points {
			if i > 0 {
				require.Greater(t, p.bps, c.points[i-1].bps, c.names)
				require.Greater(t, c.pointRating(i, losses{}), c.pointRating(i-1, losses{}), "%v at %g bit/s", c.names, p.bps)
			}
			require.InDelta(t, c.pointRating(i, losses{}), c.rating(p.bps, losses{}), 1e-9, c.names)
		}
		if c.rated() {
			require.GreaterOrEqual(t, c.defaultBps, minSpeechBps)
		}
	}
	// R 131.1713 of the vectors, 31 kbit/s.
	require.InDelta(t, 131.1713/1.48, opus().rating(31e3, losses{}), 1e-4)
	require.InDelta(t, (148-10.66596559)/1.48, opus().rating(64e3, losses{}), 1e-9, "above the table: the last point")
	require.Equal(t, opus().rating(6e3, losses{ppl: 2}), opus().rating(1e3, losses{ppl: 2}), "below it: the first")
}

// At the points of super-wideband the capping may cost no more than this.
func TestOpusStaysNearPublishedPoints(t *testing.T) {
	worst := 0.0
	for i, p := range opusPoints {
		for ppl := 0.0; ppl <= 20 && p.band == Fullband; ppl++ {
			lost := losses{ppl: ppl}
			published := MOS(opus().pointRating(i, lost))
			worst = math.Max(worst, math.Abs(published-MOS(opus().rating(p.bps, lost))))
		}
	}
	require.Less(t, worst, 0.16)
}

// Losses in runs are worse than the same number apart, and between the two it is gradual.
func TestScoreAudioLossBursts(t *testing.T) {
	f := func(events, bpl float64) {
		t.Helper()
		in := opusCall()
		in.Set(protocol.TargetBitrateBps, 31e3)
		in.Clear(protocol.Bytes)
		in.Set(protocol.Samples, 240_000)
		in.Set(protocol.ConcealedSamples, 12_000)
		in.Set(protocol.ConcealmentEvents, events) // 12.5 packets, 5 %
		res := scoreAudio(in)
		run, ok := res.Input(InLossRun)
		require.True(t, ok)
		require.InDelta(t, 12.5/events, run, 1e-12)
		require.InDelta(t, MOS(Fullband.Rating(0, 16.82867498, bpl, 5, 1)/1.48), res.MOS, 1e-9)
	}
	f(12, 10.44)
	f(6.25, 10.44)
	f(5, (10.44+8.82)/2) // 2.5 packets a run
	f(4, 8.82)
	f(1, 8.82)

	in := opusCall()
	in.Set(protocol.Samples, 240_000)
	in.Set(protocol.ConcealedSamples, 12_000)
	in.Clear(protocol.ConcealmentEvents)
	res := scoreAudio(in)
	_, ok := res.Input(InLossRun)
	require.False(t, ok, "without the number of runs losses count as random")
	in.Codec = "PCMU"
	in.Set(protocol.ConcealmentEvents, 1)
	res = scoreAudio(in)
	_, ok = res.Input(InLossRun)
	require.False(t, ok, "G.113 has one factor")
}

// The factors for bursts are those of the vectors.
func TestBurstyFactors(t *testing.T) {
	seen := 0
	for _, v := range readVectors(t, "testdata/emodel_vectors.csv") {
		kbps, ok := strings.CutPrefix(v["codec"], "Opus SWB VBR ")
		if !ok || v["BurstR"] != "" {
			continue
		}
		for _, p := range opusPoints {
			if fmt.Sprintf("%gk", p.bps/1000) == kbps {
				require.InDelta(t, v.num(t, "Bpl"), p.bursty, 1e-9, kbps)
				seen++
			}
		}
	}
	require.GreaterOrEqual(t, seen, 40)
}

func TestConfidence(t *testing.T) {
	f := func(want Confidence, change func(*event.Measurement)) {
		t.Helper()
		in := opusCall()
		change(&in)
		res := scoreAudio(in)
		require.Equal(t, want, res.Confidence())
	}
	f(HighConfidence, func(*event.Measurement) {})
	f(MediumConfidence, func(in *event.Measurement) { in.Clear(protocol.RTTMs) })
	f(MediumConfidence, func(in *event.Measurement) { in.Set(protocol.RTTMs, 2000) })
	f(MediumConfidence, func(in *event.Measurement) { in.Set(protocol.PacketsLost, 100) })
	f(LowConfidence, func(in *event.Measurement) { in.Codec = "" })
	f(MediumConfidence, func(in *event.Measurement) {
		in.Set(protocol.AudioLevel, 0)
		in.Set(protocol.Bytes, 100)
	})
	f("", func(in *event.Measurement) { in.Set(protocol.Packets, 0) })
	video := camera("VP8", 640, 360, 500, 30)
	res := scoreVideo(video)
	require.Equal(t, LowConfidence, res.Confidence())
	video.Set(protocol.QP, 20)
	res = scoreVideo(video)
	require.Equal(t, HighConfidence, res.Confidence())
	video = sent("VP8", 640, 360, 500, 30)
	video.Set(protocol.RemoteLossFraction, 0)
	res = scoreVideo(video)
	require.Equal(t, MediumConfidence, res.Confidence(), "the freezes are the receiver's to tell")
}
