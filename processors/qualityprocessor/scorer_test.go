package qualityprocessor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/qualityprocessor/internal/metadata"
	"github.com/qosrtc/qos/processors/qualityprocessor/internal/metadatatest"
)

// frameOf returns a frame of a call: both directions of audio and video with all that
// Chromium tells, and the candidate pair.
func frameOf(logs plog.Logs) {
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr(semconv.AppID, "demo")
	scope := resource.ScopeLogs().AppendEmpty()
	scope.Scope().Attributes().PutStr(semconv.FabricUsage, "multiplex")
	common := func(statsType, mediaType, codec string) map[string]any {
		return map[string]any{
			semconv.FrameSeq: 17, semconv.IntervalMs: 10003.0, semconv.StatsType: statsType, semconv.MediaType: mediaType,
			eventtest.Stats("ssrc"): 3735928559, eventtest.Stats("codec"): codec, eventtest.Stats("packetsDiscarded"): 0,
			eventtest.Stats("jitterMs"): 3.1, eventtest.Stats("nacks"): 0,
		}
	}
	add := func(base map[string]any, more map[string]any) {
		record := scope.LogRecords().AppendEmpty()
		record.SetEventName(semconv.EventStats)
		for k, v := range more {
			base[eventtest.Stats(k)] = v
		}
		if err := record.Attributes().FromRaw(base); err != nil {
			panic(err)
		}
	}
	add(common("inbound-rtp", "audio", "opus"), map[string]any{
		"bytes": 40211, "packets": 501, "packetsLost": 2, "jitterBufferDelayMs": 51.2, "samples": 480144,
		"concealedSamples": 1920, "silentConcealedSamples": 0, "concealmentEvents": 2, "audioLevel": 0.08, "fecPackets": 0,
	})
	add(common("outbound-rtp", "audio", "opus"), map[string]any{
		"bytes": 40100, "packets": 500, "targetBitrateBps": 32000.0, "remoteLossFraction": 0.004, "remotePacketsLost": 2,
		"remoteJitterMs": 2.0, "rttMs": 41.5, "retransmittedPackets": 0, "retransmittedBytes": 0,
	})
	add(common("inbound-rtp", "video", "VP8"), map[string]any{
		"bytes": 1500000, "packets": 1400, "packetsLost": 3, "frames": 300, "framesDecoded": 299, "framesDropped": 1,
		"keyFrames": 0, "width": 1280, "height": 720, "fps": 29.9, "harmonicFps": 29.1, "freezes": 0, "freezeMs": 0.0,
		"freezes60s": 1, "pauses": 0, "pauseMs": 0.0, "decodeMs": 812.5, "qp": 21.4, "plis": 0, "firs": 0, "displayedPixels": 518400,
		"jitterBufferDelayMs": 60.0, "retransmittedPackets": 3, "retransmittedBytes": 3300,
	})
	add(common("outbound-rtp", "video", "VP8"), map[string]any{
		"bytes": 1510000, "packets": 1410, "frames": 300, "framesEncoded": 300, "keyFrames": 0, "width": 1280, "height": 720,
		"fps": 30.0, "encodeMs": 1912.5, "qp": 21.4, "plis": 0, "firs": 0, "targetBitrateBps": 1.7e6, "remoteLossFraction": 0.004,
		"remotePacketsLost": 5, "remoteJitterMs": 2.0, "rttMs": 41.5, "limitation": "none", "cpuLimitedMs": 0.0, "bandwidthLimitedMs": 0.0,
		"retransmittedPackets": 3, "retransmittedBytes": 3300,
	})
	pair := common("candidate-pair", "", "")
	delete(pair, semconv.MediaType)
	add(pair, map[string]any{"rttMs": 41.0, "bytesSent": 1600000, "bytesReceived": 1600000, "availableOutgoingBps": 2.5e6})
}

func TestOtherRecordsPassUntouched(t *testing.T) {
	logs := plog.NewLogs()
	records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, event := range []string{semconv.EventEvent, semconv.EventSummary, "", "other"} {
		record := records.AppendEmpty()
		record.SetEventName(event)
		record.Attributes().PutStr(semconv.StatsType, "inbound-rtp")
		record.Attributes().PutStr(semconv.MediaType, "audio")
		record.Attributes().PutInt(eventtest.Stats("packets"), 3)
		record.Attributes().PutDouble(semconv.QualityMOS, 3)
	}
	before := plog.NewLogs()
	logs.CopyTo(before)
	require.Equal(t, before, process(t, logs))
	empty := plog.NewLogs()
	require.Equal(t, empty, process(t, empty))
}

// A second pass gives the same, and a score that a record brought along does not stay.
func TestScoringTwiceIsScoringOnce(t *testing.T) {
	logs := plog.NewLogs()
	frameOf(logs)
	first := recordsOf(logs).At(0).Attributes()
	first.PutDouble(semconv.QualityMOS, 4.9)
	first.PutStr(semconv.QualityReason, "invented")
	once := plog.NewLogs()
	process(t, logs).CopyTo(once)
	mos, _ := recordsOf(once).At(0).Attributes().Get(semconv.QualityMOS)
	require.Less(t, mos.Double(), 4.5)
	_, invented := recordsOf(once).At(0).Attributes().Get(semconv.QualityReason)
	require.False(t, invented)
	require.Equal(t, once, process(t, logs))
}

// spec: QUAL-01
func TestLabelsFollowTheRules(t *testing.T) {
	label := func(bounds quality.Bounds) string {
		logs := plog.NewLogs()
		frameOf(logs)
		v, ok := recordsOf(processBy(t, bounds, logs)).At(0).Attributes().Get(semconv.QualityLabel)
		require.True(t, ok)
		return v.Str()
	}
	require.Equal(t, "excellent", label(quality.DefaultBounds()))
	itu, ok := quality.PresetBounds(quality.PresetITUG107)
	require.True(t, ok)
	require.Equal(t, "good", label(itu))
}

// What the next component says goes back as it is: the receiver's ack depends on it.
func TestErrorsOfTheNextComponentComeBack(t *testing.T) {
	p, err := NewFactory().CreateLogs(context.Background(), processortest.NewNopSettings(metadata.Type),
		createDefaultConfig(), consumertest.NewErr(consumererror.NewPermanent(context.Canceled)))
	require.NoError(t, err)
	logs := plog.NewLogs()
	frameOf(logs)
	err = p.ConsumeLogs(context.Background(), logs)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, consumererror.IsPermanent(err))
	require.NoError(t, p.Shutdown(context.Background()))
}

func TestOutcomesAreCounted(t *testing.T) {
	tel := componenttest.NewTelemetry()
	s, err := newScorer(createDefaultConfig().(*Config), tel.NewTelemetrySettings())
	require.NoError(t, err)
	logs := plog.NewLogs()
	frameOf(logs)
	frameOf(logs)
	recordsOf(logs).At(0).Attributes().PutInt(eventtest.Stats("packets"), 0)
	recordsOf(logs).At(0).Attributes().PutInt(eventtest.Stats("packetsLost"), 0)
	_, err = s.processLogs(context.Background(), logs)
	require.NoError(t, err)
	point := func(media, outcome string, n int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(
			attribute.String("media_type", media), attribute.String("outcome", outcome))}
	}
	metadatatest.AssertEqualProcessorQualityRecords(t, tel, []metricdata.DataPoint[int64]{
		point("audio", "scored", 3), point("audio", "no_packets", 1), point("video", "scored", 4),
	}, metricdatatest.IgnoreTimestamp())
	require.NoError(t, s.shutdown(context.Background()))
	require.NoError(t, tel.Shutdown(context.Background()))
}

func TestMoreRowsThanUsual(t *testing.T) {
	logs := plog.NewLogs()
	scope := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	for range 512 {
		newRecord(scope, map[string]string{
			"statsType": "inbound-rtp", "mediaType": "audio", "seq": "1", "codec": "PCMU", "packets": "100", "packetsLost": "0",
		})
	}
	newRecord(scope, map[string]string{"statsType": "candidate-pair", "seq": "1", "rttMs": "400"})
	records := recordsOf(process(t, logs))
	for i := range 512 {
		v, ok := records.At(i).Attributes().Get(semconv.QualityInputPrefix + "delay_ms")
		require.True(t, ok)
		require.Equal(t, 225.0, v.Double())
	}
}

// Anything may stand in a record that came in by another receiver.
func FuzzScore(f *testing.F) {
	f.Add("inbound-rtp", "audio", "opus", int64(501), 2.0, 0.1)
	f.Add("outbound-rtp", "video", "VP8", int64(-1), -2.0, 1e300)
	f.Fuzz(func(t *testing.T, statsType, mediaType, codec string, n int64, a, b float64) {
		logs := plog.NewLogs()
		scope := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
		scope.Scope().Attributes().PutInt(semconv.FabricUsage, n)
		record := scope.LogRecords().AppendEmpty()
		record.SetEventName(semconv.EventStats)
		for i, name := range measureNames() {
			switch i % 3 {
			case 0:
				record.Attributes().PutInt(name, n)
			case 1:
				record.Attributes().PutDouble(name, a)
			default:
				record.Attributes().PutDouble(name, b)
			}
		}
		record.Attributes().PutStr(semconv.StatsType, statsType)
		record.Attributes().PutStr(semconv.MediaType, mediaType)
		record.Attributes().PutStr(eventtest.Stats("codec"), codec)
		for k, v := range recordsOf(process(t, logs)).At(0).Attributes().All() {
			if k == semconv.QualityMOS {
				require.True(t, v.Type() == pcommon.ValueTypeDouble && v.Double() >= 1 && v.Double() <= 5, "%v", v.Double())
			}
		}
	})
}

// BenchmarkFrame scores a frame of five records with 8 to 31 attributes; copying the frame
// is the baseline, for each frame can be scored only once.
func BenchmarkFrame(b *testing.B) {
	source := plog.NewLogs()
	frameOf(source)
	s, err := newScorer(createDefaultConfig().(*Config), componenttest.NewNopTelemetrySettings())
	require.NoError(b, err)
	for _, c := range []struct {
		name string
		run  func(plog.Logs)
	}{
		{"copy", func(plog.Logs) {}},
		{"copy+score", func(logs plog.Logs) { _, _ = s.processLogs(context.Background(), logs) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				logs := plog.NewLogs()
				source.CopyTo(logs)
				c.run(logs)
			}
		})
	}
}

// TestAllocationsPerFrame: one list of attributes grows for each scored record, each value
// that is added is boxed by pdata, each of the two outcomes is counted with an option;
// nothing else may allocate.
func TestAllocationsPerFrame(t *testing.T) {
	source := plog.NewLogs()
	frameOf(source)
	s, err := newScorer(createDefaultConfig().(*Config), componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	copied := testing.AllocsPerRun(200, func() {
		logs := plog.NewLogs()
		source.CopyTo(logs)
	})
	scored := testing.AllocsPerRun(200, func() {
		logs := plog.NewLogs()
		source.CopyTo(logs)
		_, _ = s.processLogs(context.Background(), logs)
	})
	added := 0
	logs := plog.NewLogs()
	source.CopyTo(logs)
	_, _ = s.processLogs(context.Background(), logs)
	for i := range recordsOf(logs).Len() {
		added += recordsOf(logs).At(i).Attributes().Len() - recordsOf(source).At(i).Attributes().Len()
	}
	require.LessOrEqual(t, scored-copied, float64(4+added+2), "four scored records, %d attributes", added)
}
